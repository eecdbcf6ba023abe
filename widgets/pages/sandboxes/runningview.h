// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <QTimer>
#include <QWidget>

#include <backend/api/client.h>

class QLabel;
class QPushButton;
class QTabWidget;

namespace gb::ui {

class Banner;
class ElidedLabel;
class SandboxTab;
class StatePill;

// A sandbox that was started: its state, the time it has left, a way to stop it, and what can be done inside.
class RunningView final : public QWidget
{
    Q_OBJECT

public:
    explicit RunningView(api::Client& client, QWidget* parent = nullptr);

    void show(const QString& sandbox); // empty: none
    QString sandbox() const { return QString::fromStdString(m_sandbox); }
    void refresh();
    void find();
    template <typename Tab>
    Tab* tab() const
    {
        return findChild<Tab*>();
    }
    void showTab(SandboxTab* tab);
    void enter(); // by keyboard: the names of what can be done

Q_SIGNALS:
    void pageRequested(const QString& page, const QString& place);
    void copyRequested(const gb::Json& spec);

private:
    void createHeader(QWidget* header);
    void addTab(SandboxTab* tab, const QString& title);
    void showItem();
    void showTime();
    void showEnd(const Json& item);
    void extend(int seconds);
    void stop();
    void remove();
    void change(const std::string& method, Json params, const QString& what, QPushButton* button);

    api::Client& m_client;
    std::string m_sandbox;
    std::string m_state;
    std::int64_t m_endsAt = 0;
    QTimer m_clock;
    ElidedLabel* m_name = nullptr;
    StatePill* m_pill = nullptr;
    QLabel* m_left = nullptr;
    QPushButton* m_extend = nullptr;
    QPushButton* m_stop = nullptr;
    QPushButton* m_remove = nullptr;
    QPushButton* m_again = nullptr;
    Banner* m_banner = nullptr;
    QTabWidget* m_tabs = nullptr;
};

} // namespace gb::ui
