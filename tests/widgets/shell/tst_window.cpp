// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

#include <csignal>

#include <QApplication>
#include <QDir>
#include <QDragEnterEvent>
#include <QFile>
#include <QLineEdit>
#include <QListView>
#include <QMimeData>
#include <QPlainTextEdit>
#include <QProcess>
#include <QTemporaryDir>
#include <QTest>
#include <QTimer>
#include <QTreeWidget>

#include <tests/support/livedaemon.h>
#include <tests/support/picture.h>
#include <widgets/controls/banner.h>
#include <widgets/controls/splitter.h>
#include <widgets/controls/theme.h>
#include <widgets/forms/argumentform.h>
#include <widgets/itemmodels/livestate.h>
#include <widgets/pages/inspector/callpanel.h>
#include <widgets/pages/inspector/functionlist.h>
#include <widgets/pages/inspector/historypanel.h>
#include <widgets/shell/mainwindow.h>
#include <widgets/viewers/resultview.h>

using namespace gb;
using namespace gb::ui;

// The thin thread with a hand on the mouse: a real daemon and host, a served file, a call made in the window.
class WindowTest : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void initTestCase();
    void cleanupTestCase();
    void callsByHand();
    void errorsAreShown();
    void historyShowsAndResends();
    void survivesTheDaemon();
    void droppedFolderOpens();
    void closingAsksOnce();

private:
    bool choose(const QString& function);
    void press(Qt::Key key, Qt::KeyboardModifiers modifiers)
    {
        QTest::keyClick(m_window.get(), key, modifiers);
    }
    template <typename Widget>
    Widget* part() const
    {
        return m_window->currentPage()->findChild<Widget*>();
    }
    bool waitFor(const std::function<bool()>& condition) { return QTest::qWaitFor(condition, 30'000); }

    QTemporaryDir m_folder;
    QProcess m_serve;
    std::unique_ptr<api::Client> m_client;
    std::unique_ptr<MainWindow> m_window;
};

void WindowTest::initTestCase()
{
    m_client = test::liveClient(m_folder.path());
    setRememberedFile(m_folder.filePath(QStringLiteral("window.ini")));
    Theme::instance().apply({Scheme::Light});
    m_serve.setProcessChannelMode(QProcess::ForwardedErrorChannel);
    m_serve.start(QStringLiteral(GB_BIN_DIR "/glovebox"),
        {QStringLiteral("serve"), QStringLiteral(GB_SOURCE_DIR "/resources/examples/hello/interface.py")});
    QVERIFY(m_serve.waitForStarted());
    m_window = std::make_unique<MainWindow>(*m_client);
    m_client->open();
    m_window->resize(1280, 800);
    m_window->show();
    QVERIFY(QTest::qWaitForWindowActive(m_window.get()));
    QVERIFY(m_window->showPage(QStringLiteral("inspector")));
    QVERIFY(waitFor([this] { return part<FunctionList>()->find(QStringLiteral("greet")); }));
}

void WindowTest::cleanupTestCase()
{
    m_window.reset();
    test::endLive(m_client);
    ::kill(static_cast<pid_t>(m_serve.processId()), SIGINT);
    QVERIFY(m_serve.waitForFinished());
}

bool WindowTest::choose(const QString& function)
{
    return part<FunctionList>()->select(function);
}

void WindowTest::callsByHand()
{
    QVERIFY(choose(QStringLiteral("greet")));
    auto* line = part<ArgumentForm>()->findChild<QLineEdit*>();
    QTest::keyClicks(line, QStringLiteral("Ada"));
    press(Qt::Key_Return, Qt::ControlModifier);
    auto* result = part<ResultView>();
    QVERIFY(waitFor([&] { return result->forms().contains(ResultView::Form::Text); }));
    QCOMPARE(result->findChild<QPlainTextEdit*>()->toPlainText(), QStringLiteral("Hello, Ada!"));
    auto* list = part<HistoryPanel>()->list();
    QVERIFY(waitFor([&] { return list->model()->rowCount() == 1; }));
    QCOMPARE(list->model()->index(0, 0).data().toString(), QStringLiteral("greet"));
    gb::test::picture(*m_window, QStringLiteral("window-called"));
}

void WindowTest::errorsAreShown()
{
    QVERIFY(choose(QStringLiteral("divide")));
    part<CallPanel>()->setArguments(Json::parse(R"({"a": 1, "b": 0})"));
    press(Qt::Key_Return, Qt::ControlModifier);
    auto* banner = part<CallPanel>()->findChild<Banner*>();
    QVERIFY(waitFor([&] { return banner->isVisible(); }));
    QCOMPARE(banner->title(), QStringLiteral("ZeroDivisionError"));
    gb::test::picture(*m_window, QStringLiteral("window-error"));
}

void WindowTest::historyShowsAndResends()
{
    // A script's call, found in the history, shown, and sent again.
    QProcess script;
    script.start(QStringLiteral(GB_BIN_DIR "/glovebox"),
        {QStringLiteral("calls"), QStringLiteral("run"), QStringLiteral("remember"),
            QStringLiteral("note=from a script")});
    QVERIFY(script.waitForFinished());
    auto* list = part<HistoryPanel>()->list();
    QVERIFY(waitFor([&] { return list->model()->rowCount() == 3; }));
    list->setCurrentIndex(list->model()->index(0, 0));
    auto* panel = part<CallPanel>();
    QVERIFY(waitFor([&] { return panel->settled() && !part<ResultView>()->forms().isEmpty(); }));
    QCOMPARE(part<ArgumentForm>()->arguments()->dump(), std::string(R"({"note":"from a script"})"));
    press(Qt::Key_Return, Qt::ControlModifier);
    QVERIFY(waitFor([&] { return list->model()->rowCount() == 4; }));
    part<HistoryPanel>()->setFilter(QStringLiteral("status:error"));
    QVERIFY(waitFor([&] { return list->model()->rowCount() == 1; }));
    QCOMPARE(list->model()->index(0, 0).data().toString(), QStringLiteral("divide"));
    part<HistoryPanel>()->setFilter({});
    QVERIFY(waitFor([&] { return list->model()->rowCount() == 4; }));
}

void WindowTest::survivesTheDaemon()
{
    const auto before = integerOr(m_client->daemonInfo(), "pid");
    QVERIFY(before > 1);
    QCOMPARE(::kill(static_cast<pid_t>(before), SIGKILL), 0);
    QVERIFY(waitFor([&] {
        return m_client->state() == api::Client::State::Connected
            && integerOr(m_client->daemonInfo(), "pid") != before;
    }));
    QVERIFY(waitFor([this] { return part<FunctionList>()->find(QStringLiteral("remember")); }));
    QVERIFY(choose(QStringLiteral("remember")));
    part<CallPanel>()->setArguments(Json::parse(R"({"note": "after"})"));
    press(Qt::Key_Return, Qt::ControlModifier);
    auto* list = part<HistoryPanel>()->list();
    QVERIFY(waitFor([&] { return list->model()->rowCount() == 5; }));
}

void WindowTest::droppedFolderOpens()
{
    const auto folder = m_folder.filePath(QStringLiteral("dropped"));
    QProcess make;
    make.start(QStringLiteral(GB_BIN_DIR "/glovebox"),
        {QStringLiteral("experiment"), QStringLiteral("new"), folder});
    QVERIFY(make.waitForFinished());
    QCOMPARE(make.exitCode(), 0);
    QMimeData data;
    data.setUrls({QUrl::fromLocalFile(folder)});
    QDragEnterEvent enter({50, 50}, Qt::CopyAction, &data, Qt::LeftButton, Qt::NoModifier);
    QApplication::sendEvent(m_window.get(), &enter);
    QVERIFY(enter.isAccepted());
    QDropEvent drop(QPointF(50, 50), Qt::CopyAction, &data, Qt::LeftButton, Qt::NoModifier);
    QApplication::sendEvent(m_window.get(), &drop);
    QVERIFY(waitFor([this] { return m_window->windowTitle().contains(QStringLiteral("dropped")); }));
}

void WindowTest::closingAsksOnce()
{
    QVERIFY(waitFor([this] { return !aliveItems(*m_client).isEmpty(); }));
    const auto closeWith = [this](Qt::Key key) {
        QTimer::singleShot(0, this, [key] { QTest::keyClick(QApplication::activeModalWidget(), key); });
        return m_window->close();
    };
    QVERIFY(!closeWith(Qt::Key_Escape));
    QVERIFY(m_window->isVisible());
    // The default keeps it.
    QVERIFY(closeWith(Qt::Key_Return));
    QVERIFY(!m_window->isVisible());
    QVERIFY(!aliveItems(*m_client).isEmpty());
}

QTEST_MAIN(WindowTest)
#include "tst_window.moc"
