// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

#include <csignal>

#include <QApplication>
#include <QDialog>
#include <QFile>
#include <QInputDialog>
#include <QLineEdit>
#include <QListView>
#include <QMenu>
#include <QProcess>
#include <QTemporaryDir>
#include <QTest>
#include <QTimer>

#include <tests/support/livedaemon.h>
#include <tests/support/picture.h>
#include <widgets/controls/splitter.h>
#include <widgets/controls/theme.h>
#include <widgets/forms/argumentform.h>
#include <widgets/pages/inspector/functionlist.h>
#include <widgets/pages/inspector/historypanel.h>
#include <widgets/shell/mainwindow.h>
#include <widgets/viewers/compareview.h>
#include <widgets/viewers/resultview.h>

using namespace gb;
using namespace gb::ui;

// No hand on the mouse: a function is found, filled in, called; a slow one cancelled; results compared; a
// script's call sent again; arguments kept and taken back. A real daemon, a real host, key events only: the
// test looks at widgets, it touches none.
class KeysOnlyTest : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void initTestCase();
    void cleanupTestCase();
    void findsFillsAndCalls();
    void cancelsASlowCall();
    void comparesTwoResults();
    void resendsAScriptsCall();
    void keepsArguments();

private:
    bool waitFor(const std::function<bool()>& condition) { return QTest::qWaitFor(condition, 15'000); }
    // To what has the focus, as a keyboard does.
    static void press(Qt::Key key, Qt::KeyboardModifiers modifiers = {})
    {
        auto* target = QApplication::focusWidget();
        QTest::keyClick(target ? target : QApplication::activeWindow(), key, modifiers);
    }
    static void type(const QString& text) { QTest::keyClicks(QApplication::focusWidget(), text); }
    void openFunction(const QString& name);
    Json newestCall();
    template <typename Widget>
    Widget* part() const
    {
        return m_window->currentPage()->findChild<Widget*>();
    }

    QTemporaryDir m_folder;
    QProcess m_serve;
    std::unique_ptr<api::Client> m_client;
    std::unique_ptr<MainWindow> m_window;
};

void KeysOnlyTest::initTestCase()
{
    m_client = test::liveClient(m_folder.path());
    setRememberedFile(m_folder.filePath(QStringLiteral("window.ini")));
    Theme::instance().apply({Scheme::Light});
    // Presets are written beside the file.
    const auto source = m_folder.filePath(QStringLiteral("interface.py"));
    QVERIFY(QFile::copy(QStringLiteral(GB_SOURCE_DIR "/resources/examples/hello/interface.py"), source));
    m_serve.setProcessChannelMode(QProcess::ForwardedErrorChannel);
    m_serve.start(QStringLiteral(GB_BIN_DIR "/glovebox"), {QStringLiteral("serve"), source});
    QVERIFY(m_serve.waitForStarted());
    m_window = std::make_unique<MainWindow>(*m_client);
    m_client->open();
    m_window->resize(1280, 800);
    m_window->show();
    QVERIFY(QTest::qWaitForWindowActive(m_window.get()));
    press(Qt::Key_4, Qt::ControlModifier);
    QCOMPARE(m_window->currentPage()->id(), QStringLiteral("inspector"));
    QVERIFY(waitFor([this] { return part<FunctionList>()->find(QStringLiteral("greet")); }));
}

void KeysOnlyTest::cleanupTestCase()
{
    m_window.reset();
    test::endLive(m_client);
    ::kill(static_cast<pid_t>(m_serve.processId()), SIGINT);
    QVERIFY(m_serve.waitForFinished());
}

void KeysOnlyTest::openFunction(const QString& name)
{
    press(Qt::Key_L, Qt::ControlModifier);
    type(name);
    press(Qt::Key_Return);
    const auto* function = part<FunctionList>()->current();
    QVERIFY(function);
    QCOMPARE(QString::fromStdString(stringOr(function->schema, "name")), name);
    QVERIFY2(waitFor([this] { return part<ArgumentForm>()->isAncestorOf(QApplication::focusWidget()); }),
        qPrintable(QStringLiteral("the focus is in %1 “%2”")
                       .arg(QLatin1String(QApplication::focusWidget()->metaObject()->className()),
                           QApplication::focusWidget()->accessibleName())));
}

Json KeysOnlyTest::newestCall()
{
    Json found;
    bool answered = false;
    m_client->call(this, "calls.list", {{"limit", 1}}, [&](const Result<api::Answer>& answer) {
        answered = true;
        if (answer && !answer->body["calls"].empty())
            found = answer->body["calls"].front();
    });
    waitFor([&answered] { return answered; });
    return found;
}

void KeysOnlyTest::findsFillsAndCalls()
{
    openFunction(QStringLiteral("greet"));
    type(QStringLiteral("Ada"));
    press(Qt::Key_Return, Qt::ControlModifier);
    QVERIFY(waitFor([this] { return part<ResultView>()->forms().contains(ResultView::Form::Text); }));
    QVERIFY(waitFor([this] { return stringOr(newestCall(), "state") == "ok"; }));
}

void KeysOnlyTest::cancelsASlowCall()
{
    openFunction(QStringLiteral("count_slowly"));
    press(Qt::Key_A, Qt::ControlModifier);
    type(QStringLiteral("500"));
    press(Qt::Key_Return, Qt::ControlModifier);
    QVERIFY(waitFor([this] {
        const auto& calls = m_client->items("calls");
        return calls.is_object() && !calls.empty() && stringOr(calls.front(), "state") == "running";
    }));
    press(Qt::Key_Period, Qt::ControlModifier);
    // It notices by itself and says how far it came, or it is stopped.
    QVERIFY(waitFor([this] {
        const auto call = newestCall();
        return stringOr(call, "fn") == "count_slowly"
            && (stringOr(call, "state") == "cancelled"
                || stringOr(call, "preview").find("\"cancelled\":true") != std::string::npos);
    }));
}

void KeysOnlyTest::comparesTwoResults()
{
    auto* list = part<HistoryPanel>()->list();
    constexpr int before = 2; // what the tests above called
    QVERIFY(waitFor([list] { return list->model()->rowCount() == before; }));
    openFunction(QStringLiteral("greet"));
    press(Qt::Key_A, Qt::ControlModifier);
    type(QStringLiteral("Grace"));
    press(Qt::Key_Return, Qt::ControlModifier);
    QVERIFY(waitFor([&] {
        return list->model()->rowCount() == before + 1
            && stringOr(newestCall(), "preview").find("Grace") != std::string::npos;
    }));
    press(Qt::Key_H, Qt::ControlModifier);
    press(Qt::Key_Home);
    press(Qt::Key_D, Qt::ControlModifier);
    CompareView* view = nullptr;
    QVERIFY(waitFor([&] {
        view = m_window->findChild<CompareView*>();
        return view && view->isVisible() && !view->summary().isEmpty();
    }));
    QVERIFY2(view->summary().contains(QStringLiteral("1")), qPrintable(view->summary()));
    test::picture(*view->window(), QStringLiteral("keys-compare"));
    QVERIFY(waitFor([] { return qobject_cast<QDialog*>(QApplication::activeWindow()) != nullptr; }));
    press(Qt::Key_Escape);
    QVERIFY(waitFor([this] { return m_window->findChild<CompareView*>() == nullptr; }));
    m_window->activateWindow(); // a window manager does so
    QVERIFY(QTest::qWaitForWindowActive(m_window.get()));
}

void KeysOnlyTest::resendsAScriptsCall()
{
    auto* list = part<HistoryPanel>()->list();
    constexpr int before = 3;
    QVERIFY(waitFor([list] { return list->model()->rowCount() == before; }));
    QProcess script;
    script.start(QStringLiteral(GB_BIN_DIR "/glovebox"),
        {QStringLiteral("calls"), QStringLiteral("run"), QStringLiteral("remember"),
            QStringLiteral("note=from a script")});
    QVERIFY(script.waitForFinished());
    QVERIFY(waitFor([&] { return list->model()->rowCount() == before + 1; }));
    press(Qt::Key_H, Qt::ControlModifier);
    press(Qt::Key_Home);
    press(Qt::Key_Return);
    QVERIFY(waitFor([this] {
        const auto arguments = part<ArgumentForm>()->arguments();
        return arguments && stringOr(*arguments, "note") == "from a script";
    }));
    QVERIFY(waitFor([this] { return part<ArgumentForm>()->isAncestorOf(QApplication::focusWidget()); }));
    press(Qt::Key_Return, Qt::ControlModifier);
    QVERIFY(waitFor([&] { return list->model()->rowCount() == before + 2; }));
    QVERIFY(waitFor(
        [this] { return stringOr(newestCall(), "preview").find("\"count\":2") != std::string::npos; }));
}

void KeysOnlyTest::keepsArguments()
{
    openFunction(QStringLiteral("greet"));
    press(Qt::Key_A, Qt::ControlModifier);
    type(QStringLiteral("Kept"));
    // The dialog asks for a name.
    auto* name = new QTimer(this);
    connect(name, &QTimer::timeout, this, [name] {
        auto* dialog = qobject_cast<QInputDialog*>(QApplication::activeModalWidget());
        auto* line = dialog ? dialog->findChild<QLineEdit*>() : nullptr;
        if (!line || !line->isVisible())
            return;
        name->stop();
        QTest::keyClicks(line, QStringLiteral("my preset"));
        QTest::keyClick(line, Qt::Key_Return);
    });
    name->start(20);
    press(Qt::Key_S, Qt::ControlModifier | Qt::ShiftModifier);
    const auto file = m_folder.filePath(QStringLiteral("presets/greet/my preset.json"));
    QVERIFY(waitFor([&file] { return QFile::exists(file); }));
    m_window->activateWindow();
    QVERIFY(waitFor([this] { return part<ArgumentForm>()->isAncestorOf(QApplication::focusWidget()); }));
    press(Qt::Key_A, Qt::ControlModifier);
    type(QStringLiteral("Other"));
    // The menu lists it; down to it and return.
    bool chosen = false;
    auto* keys = new QTimer(this);
    connect(keys, &QTimer::timeout, this, [&chosen, keys] {
        auto* menu = qobject_cast<QMenu*>(QApplication::activePopupWidget());
        if (!menu || menu->actions().isEmpty()
            || menu->actions().first()->text() != QStringLiteral("my preset"))
            return;
        keys->stop();
        chosen = true;
        QTest::keyClick(menu, Qt::Key_Down);
        QTest::keyClick(menu, Qt::Key_Return);
    });
    keys->start(20);
    QTimer::singleShot(20'000, keys, [] {
        if (auto* menu = QApplication::activePopupWidget())
            menu->close();
    });
    press(Qt::Key_P, Qt::ControlModifier | Qt::ShiftModifier);
    QVERIFY(chosen);
    QVERIFY(waitFor([this] {
        const auto arguments = part<ArgumentForm>()->arguments();
        return arguments && stringOr(*arguments, "name") == "Kept";
    }));
}

QTEST_MAIN(KeysOnlyTest)
#include "tst_keysonly.moc"
