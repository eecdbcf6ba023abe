// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

#include <ctime>

#include <mutex>

#include <QApplication>
#include <QLineEdit>
#include <QTemporaryDir>
#include <QTest>
#include <QTimer>

#include <widgets/controls/splitter.h>
#include <widgets/controls/theme.h>
#include <widgets/shell/commandpalette.h>
#include <widgets/shell/mainwindow.h>
#include <widgets/shell/stallwatch.h>

using namespace gb;
using namespace gb::ui;

namespace {

constexpr double mostMsPerEvent = 100;

double threadMs()
{
    timespec now{};
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return static_cast<double>(now.tv_sec) * 1e3 + static_cast<double>(now.tv_nsec) / 1e6;
}

// Counts the processor time of every event that the loop or a test delivers; what an event sends in turn
// counts as part of it.
class CountingApplication final : public QApplication
{
public:
    using QApplication::QApplication;

    bool notify(QObject* receiver, QEvent* event) override
    {
        if (m_inside)
            return QApplication::notify(receiver, event);
        m_inside = true;
        const auto name = QStringLiteral("%1, event %2")
                              .arg(QLatin1String(receiver->metaObject()->className()))
                              .arg(event->type());
        const auto before = threadMs();
        const bool done = QApplication::notify(receiver, event);
        if (const auto ms = threadMs() - before; ms > m_worst) {
            m_worst = ms;
            m_where = name;
        }
        m_inside = false;
        return done;
    }
    void forget() { m_worst = 0; }
    double worst() const { return m_worst; }
    QString where() const { return m_where; }

private:
    bool m_inside = false;
    double m_worst = 0;
    QString m_where;
};

CountingApplication& counter()
{
    return static_cast<CountingApplication&>(*qApp);
}

void burn(double ms)
{
    const auto until = threadMs() + ms;
    while (threadMs() < until) { }
}

} // namespace

// The thread of the window is for the window: no event may take long, and whoever stands in the way is named.
class StallsTest : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void theCounterCounts();
    void noEventTakesLong();
    void stallsAreToldWithAStack();
};

void StallsTest::theCounterCounts()
{
    QTimer timer;
    bool fired = false;
    connect(&timer, &QTimer::timeout, this, [&fired] {
        burn(mostMsPerEvent + 20);
        fired = true;
    });
    timer.setSingleShot(true);
    timer.start(0);
    counter().forget();
    // Not through QTest, whose own waiting delivers events inside an event.
    while (!fired)
        QCoreApplication::processEvents();
    QVERIFY(counter().worst() > mostMsPerEvent);
}

void StallsTest::noEventTakesLong()
{
    QTemporaryDir folder;
    setRememberedFile(folder.filePath(QStringLiteral("window.ini")));
    Theme::instance().apply({Scheme::Light});
    api::Client client({fs::path(folder.path().toStdString()), "window", false, false, {}});
    MainWindow window(client);
    window.resize(1280, 800);
    counter().forget();
    window.show();
    QVERIFY(QTest::qWaitForWindowActive(&window));
    for (int round = 0; round < 2; ++round)
        for (const auto key : {Qt::Key_1, Qt::Key_4, Qt::Key_8}) {
            QTest::keyClick(&window, key, Qt::ControlModifier);
            QCoreApplication::processEvents();
        }
    auto* palette = window.findChild<CommandPalette*>();
    palette->open(window.commands());
    auto* field = palette->findChild<QLineEdit*>();
    QTest::keyClicks(field, QStringLiteral("home"));
    QTest::keyClick(field, Qt::Key_Return);
    window.resize(1000, 700);
    QCoreApplication::processEvents();
    qInfo("longest: %.1f ms in %s", counter().worst(), qPrintable(counter().where()));
    QVERIFY2(counter().worst() < mostMsPerEvent, qPrintable(counter().where()));
}

void StallsTest::stallsAreToldWithAStack()
{
    std::mutex lock;
    std::string stack;
    StallWatch watch([&](std::int64_t, const std::string& where) {
        const std::scoped_lock hold(lock);
        if (stack.empty())
            stack = where;
    });
    QTimer::singleShot(10, this, [] { burn(400); });
    QVERIFY(QTest::qWaitFor([&] {
        const std::scoped_lock hold(lock);
        return !stack.empty();
    }));
    QVERIFY2(stack.find("libQt6Core") != std::string::npos, stack.c_str());
}

int main(int argc, char** argv)
{
    CountingApplication application(argc, argv);
    StallsTest test;
    return QTest::qExec(&test, argc, argv);
}
#include "tst_stalls.moc"
