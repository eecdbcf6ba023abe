// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

#include "desktopnotice.h"

#include <QCoreApplication>
#include <QDBusConnection>
#include <QDBusMessage>
#include <QDBusPendingCallWatcher>
#include <QDBusPendingReply>
#include <QFileInfo>
#include <QSystemTrayIcon>
#include <QVariantMap>

#include <widgets/controls/icons.h>
#include <widgets/controls/theme.h>

#include "text.h"

namespace gb::ui {
namespace {

QString serviceName()
{
    return QStringLiteral("org.freedesktop.Notifications");
}

QString servicePath()
{
    return QStringLiteral("/org/freedesktop/Notifications");
}

// Asked before the bus is: without an address Qt would start one of its own.
bool hasSessionBus()
{
    if (!qEnvironmentVariableIsEmpty("DBUS_SESSION_BUS_ADDRESS"))
        return true;
    const auto folder = qEnvironmentVariable("XDG_RUNTIME_DIR");
    return !folder.isEmpty() && QFileInfo::exists(folder + QStringLiteral("/bus"));
}

} // namespace

void DesktopNotice::tell(const QString& title, const QString& text)
{
    if (hasSessionBus() && QDBusConnection::sessionBus().isConnected())
        askService(title, text);
    else
        showInTray(title, text);
}

void DesktopNotice::askService(const QString& title, const QString& text)
{
    auto bus = QDBusConnection::sessionBus();
    if (!m_listening)
        m_listening = bus.connect(serviceName(), servicePath(), serviceName(),
            QStringLiteral("ActionInvoked"), this, SLOT(onActionInvoked(uint, QString)));
    auto notify =
        QDBusMessage::createMethodCall(serviceName(), servicePath(), serviceName(), QStringLiteral("Notify"));
    // A body may hold markup, and what happened is never that.
    notify << QCoreApplication::applicationName() << m_last << QStringLiteral("dialog-information") << title
           << text.toHtmlEscaped() << QStringList{QStringLiteral("default"), ShellText::tr("Show the window")}
           << QVariantMap{{QStringLiteral("desktop-entry"), QStringLiteral("glovebox")}} << -1;
    auto* watcher = new QDBusPendingCallWatcher(bus.asyncCall(notify), this);
    connect(watcher, &QDBusPendingCallWatcher::finished, this, [this, watcher, title, text] {
        watcher->deleteLater();
        const QDBusPendingReply<uint> reply = *watcher;
        if (reply.isError())
            showInTray(title, text);
        else
            m_last = reply.value();
    });
}

void DesktopNotice::showInTray(const QString& title, const QString& text)
{
    if (!QSystemTrayIcon::isSystemTrayAvailable())
        return;
    if (!m_tray) {
        m_tray = new QSystemTrayIcon(icon(QStringLiteral("sandbox"), tokens().accent), this);
        connect(m_tray, &QSystemTrayIcon::messageClicked, this, &DesktopNotice::activated);
    }
    m_tray->show();
    m_tray->showMessage(title, text);
}

void DesktopNotice::onActionInvoked(uint id, const QString& action)
{
    if (id == m_last && action == QLatin1String("default"))
        Q_EMIT activated();
}

} // namespace gb::ui
