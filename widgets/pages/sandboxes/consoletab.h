// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <QTimer>

#include "sandboxtab.h"

class QLabel;
class QPushButton;

namespace gb::ui {

class Banner;
class TerminalView;

// A shell in the sandbox. It goes on without the window, and is found again by the next one.
class ConsoleTab final : public SandboxTab
{
    Q_OBJECT

public:
    explicit ConsoleTab(api::Client& client, QWidget* parent = nullptr);
    TerminalView* terminal() const { return m_view; }
    bool runs() const { return !m_command.empty(); }

protected:
    void changed(bool other) override;
    void activated() override;

private:
    void look();
    void open();
    void attach(const std::string& command);
    void readOn();
    void take(const std::string& bytes, std::int64_t offset);
    void notified(const QString& method, const Json& params, const QByteArray& bytes);
    void ended(const QString& how);
    void type(const QByteArray& bytes);
    void sendTyped();
    void sendSize();

    TerminalView* m_view = nullptr;
    Banner* m_banner = nullptr;
    QLabel* m_hint = nullptr;
    QPushButton* m_again = nullptr;
    std::string m_command;
    std::int64_t m_offset = 0; // of its output, as far as it is shown
    QByteArray m_typed;
    bool m_sending = false;
    bool m_opening = false;
    bool m_told = false; // output comes by itself; else it is asked for
    bool m_reading = false;
    QTimer m_next;
    QTimer m_resized;
};

} // namespace gb::ui
