// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <QList>
#include <QMap>

#include "schemafield.h"

class QComboBox;
class QHBoxLayout;
class QLabel;
class QVBoxLayout;

namespace gb::ui {

class ElidedLabel;

// A label over a field, its description, whether it is sent at all, and what is wrong with it.
class FieldRow final : public QWidget
{
    Q_OBJECT

public:
    FieldRow(const std::string& name, const Json& schema, const std::shared_ptr<const SchemaRoot>& root,
        bool required, int depth, QWidget* parent = nullptr);

    const std::string& name() const { return m_name; }
    bool isPresent() const { return m_present; }
    Json value() const;
    void setValue(const Json& value);
    void setAbsent(); // shows the default, sends nothing
    bool check(); // shows the problem; false when there is one
    SchemaField* field() const { return m_field; }

Q_SIGNALS:
    void edited();

private:
    void setPresent(bool present);
    void showReset(bool shown);
    void showProblem(const QString& problem);

    std::string m_name;
    Json m_initial;
    bool m_required;
    bool m_present;
    SchemaField* m_field = nullptr;
    ElidedLabel* m_title = nullptr;
    QHBoxLayout* m_top = nullptr;
    QLabel* m_problem = nullptr;
    QWidget* m_reset = nullptr;
};

// The named fields of an object. Keys it does not know are kept and given back.
class ObjectField final : public SchemaField
{
    Q_OBJECT

public:
    ObjectField(const Json& schema, const std::shared_ptr<const SchemaRoot>& root, int depth,
        QWidget* parent = nullptr);
    Json value() const override;
    void setValue(const Json& value) override;
    QString problem() const override;
    const QList<FieldRow*>& rows() const { return m_rows; }

private:
    QList<FieldRow*> m_rows;
    Json m_unknown = Json::object();
};

class ListField final : public SchemaField
{
    Q_OBJECT

public:
    ListField(const Json& schema, const std::shared_ptr<const SchemaRoot>& root, int depth,
        QWidget* parent = nullptr);
    Json value() const override;
    void setValue(const Json& value) override;
    QString problem() const override;

private:
    SchemaField* addItem(const Json& value);
    void paste();
    void move(QWidget* row, int step);

    Json m_items;
    std::shared_ptr<const SchemaRoot> m_root;
    int m_depth;
    QVBoxLayout* m_rows = nullptr;
    QList<QPair<QWidget*, SchemaField*>> m_fields;
    QLabel* m_count = nullptr;
    Json m_rest = Json::array(); // beyond what a form can show
};

class UnionField final : public SchemaField
{
    Q_OBJECT

public:
    UnionField(std::vector<Json> choices, const std::shared_ptr<const SchemaRoot>& root, int depth,
        QWidget* parent = nullptr);
    Json value() const override;
    void setValue(const Json& value) override;
    QString problem() const override;

private:
    void choose(int index, const Json& value);

    std::vector<Json> m_choices;
    std::shared_ptr<const SchemaRoot> m_root;
    int m_depth;
    QComboBox* m_switch = nullptr;
    QVBoxLayout* m_place = nullptr;
    SchemaField* m_field = nullptr;
};

} // namespace gb::ui
