// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <memory>

#include <QWidget>

#include <backend/base/json.h>

class QPlainTextEdit;
class QTabWidget;
class QVBoxLayout;

namespace gb::ui {

class Banner;
class ObjectField;
struct SchemaRoot;

// The arguments of one function: a form from its schema, and the same as JSON. Whichever was edited last
// counts; going from one to the other carries everything over.
class ArgumentForm final : public QWidget
{
    Q_OBJECT

public:
    explicit ArgumentForm(QWidget* parent = nullptr);

    void setSchema(const Json& inputSchema);
    // Keyword arguments; an error says why they cannot be sent.
    Result<Json> arguments();
    void setArguments(const Json& kwargs);
    void showJson(bool json);

Q_SIGNALS:
    void edited();

private:
    void toJson();
    bool toForm();

    std::shared_ptr<const SchemaRoot> m_root;
    ObjectField* m_fields = nullptr;
    QTabWidget* m_tabs = nullptr;
    QVBoxLayout* m_column = nullptr;
    QPlainTextEdit* m_json = nullptr;
    QWidget* m_none = nullptr;
    bool m_jsonIsNewer = false;
};

} // namespace gb::ui
