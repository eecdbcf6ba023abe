// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <QTimer>

#include "sandboxtab.h"

class QCheckBox;
class QLineEdit;
class QPushButton;
class QVBoxLayout;

namespace gb::ui {

class Banner;

// What is served in the sandbox, and a file to serve.
class InterfaceTab final : public SandboxTab
{
    Q_OBJECT

public:
    explicit InterfaceTab(api::Client& client, QWidget* parent = nullptr);
    void setFolder(const QString& folder); // where interface.py is expected
    QLineEdit* path() const { return m_path; }
    void serve();

protected:
    void changed(bool other) override;

private:
    void showInterfaces();
    QWidget* makeRow(const Json& item);
    void act(const std::string& method, const std::string& interface, const QString& what);

    QString m_folder;
    Banner* m_banner = nullptr;
    QLineEdit* m_path = nullptr;
    QCheckBox* m_watch = nullptr;
    QPushButton* m_serve = nullptr;
    bool m_serving = false;
    QVBoxLayout* m_rows = nullptr;
    QTimer m_soon;
};

} // namespace gb::ui
