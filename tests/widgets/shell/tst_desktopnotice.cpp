// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

#include <QDBusConnection>
#include <QDBusContext>
#include <QDBusMessage>
#include <QProcess>
#include <QSignalSpy>
#include <QStandardPaths>
#include <QTest>

#include <widgets/shell/desktopnotice.h>

using namespace gb::ui;

// What a desktop runs to show notifications.
class NotificationService : public QObject
{
    Q_OBJECT
    Q_CLASSINFO("D-Bus Interface", "org.freedesktop.Notifications")

public:
    QStringList told;
    QList<uint> replaced;

public Q_SLOTS:
    uint Notify(const QString& program, uint replaces, const QString& image, const QString& title,
        const QString& text, const QStringList& actions, const QVariantMap& hints, int patience)
    {
        Q_UNUSED(image)
        Q_UNUSED(hints)
        Q_UNUSED(patience)
        told += QStringList{program, title, text, actions.value(0)}.join(QLatin1Char('|'));
        replaced += replaces;
        return 7;
    }

Q_SIGNALS:
    void ActionInvoked(uint id, const QString& action);
};

class DesktopNoticeTest : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void initTestCase();
    void theSessionsServiceIsTold();
    void aClickIsHeard();
    void withoutAServiceNothingIsLost();
    void cleanupTestCase();

private:
    QProcess m_bus;
    NotificationService m_service;
    DesktopNotice m_notice;
};

void DesktopNoticeTest::initTestCase()
{
    const auto program = QStandardPaths::findExecutable(QStringLiteral("dbus-daemon"));
    if (program.isEmpty())
        QSKIP("no dbus-daemon is installed");
    m_bus.start(program,
        {QStringLiteral("--session"), QStringLiteral("--nofork"), QStringLiteral("--print-address")});
    QVERIFY(m_bus.waitForReadyRead(20'000));
    // Before anybody asks for the session's bus: Qt looks once.
    qputenv("DBUS_SESSION_BUS_ADDRESS", m_bus.readLine().trimmed());
    QCoreApplication::setApplicationName(QStringLiteral("Glovebox"));
    auto bus = QDBusConnection::connectToBus(
        QString::fromUtf8(qgetenv("DBUS_SESSION_BUS_ADDRESS")), QStringLiteral("service"));
    QVERIFY(bus.registerObject(QStringLiteral("/org/freedesktop/Notifications"), &m_service,
        QDBusConnection::ExportAllSlots | QDBusConnection::ExportAllSignals));
    QVERIFY(bus.registerService(QStringLiteral("org.freedesktop.Notifications")));
}

void DesktopNoticeTest::theSessionsServiceIsTold()
{
    m_notice.tell(QStringLiteral("probe is done"), QStringLiteral("took <b>2</b> h"));
    QTRY_COMPARE_WITH_TIMEOUT(m_service.told,
        QStringList{QStringLiteral("Glovebox|probe is done|took &lt;b&gt;2&lt;/b&gt; h|default")}, 20'000);
    QCOMPARE(m_service.replaced, QList<uint>{0});
}

void DesktopNoticeTest::aClickIsHeard()
{
    QSignalSpy activated(&m_notice, &DesktopNotice::activated);
    // Once the number of the first one has come back, the next one takes its place.
    QTRY_VERIFY_WITH_TIMEOUT(
        (m_notice.tell(QStringLiteral("again"), {}), QTest::qWait(50), m_service.replaced.contains(7)),
        20'000);
    Q_EMIT m_service.ActionInvoked(8, QStringLiteral("default")); // another program's
    Q_EMIT m_service.ActionInvoked(7, QStringLiteral("default"));
    QTRY_COMPARE_WITH_TIMEOUT(activated.size(), 1, 20'000);
}

void DesktopNoticeTest::withoutAServiceNothingIsLost()
{
    QDBusConnection(QStringLiteral("service"))
        .unregisterService(QStringLiteral("org.freedesktop.Notifications"));
    const auto before = m_service.told.size();
    m_notice.tell(QStringLiteral("nobody listens"), {});
    QTest::qWait(200); // an error comes back, and there is no tray here
    QCOMPARE(m_service.told.size(), before);
}

void DesktopNoticeTest::cleanupTestCase()
{
    QDBusConnection::disconnectFromBus(QStringLiteral("service"));
    m_bus.kill();
    m_bus.waitForFinished();
}

QTEST_MAIN(DesktopNoticeTest)
#include "tst_desktopnotice.moc"
