// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <QObject>

class QSystemTrayIcon;

namespace gb::ui {

// Tells the desktop what happened while the window was not in front: through the session's notification
// service, which every desktop has, else through a tray icon, which some have.
class DesktopNotice final : public QObject
{
    Q_OBJECT

public:
    using QObject::QObject;

    void tell(const QString& title, const QString& text);

Q_SIGNALS:
    void activated(); // a person clicked it

private Q_SLOTS:
    void onActionInvoked(uint id, const QString& action);

private:
    void askService(const QString& title, const QString& text);
    void showInTray(const QString& title, const QString& text);

    QSystemTrayIcon* m_tray = nullptr;
    uint m_last = 0; // replaced by the next one: an hour's work leaves no pile
    bool m_listening = false;
};

} // namespace gb::ui
