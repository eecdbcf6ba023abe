// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

#include <QAction>
#include <QApplication>
#include <QClipboard>
#include <QFile>
#include <QLineEdit>
#include <QListWidget>
#include <QPlainTextEdit>
#include <QProcess>
#include <QPushButton>
#include <QTemporaryDir>
#include <QTest>
#include <QTreeWidget>
#include <QUrl>

#include <tests/support/livedaemon.h>
#include <tests/support/picture.h>
#include <widgets/controls/banner.h>
#include <widgets/controls/logview.h>
#include <widgets/controls/splitter.h>
#include <widgets/controls/terminalview.h>
#include <widgets/controls/theme.h>
#include <widgets/pages/sandboxes/consoletab.h>
#include <widgets/pages/sandboxes/filestab.h>
#include <widgets/pages/sandboxes/interfacetab.h>
#include <widgets/pages/sandboxes/planpanel.h>
#include <widgets/pages/sandboxes/runningview.h>
#include <widgets/pages/sandboxes/sandboxespage.h>
#include <widgets/pages/sandboxes/sandboxform.h>
#include <widgets/shell/mainwindow.h>

using namespace gb;
using namespace gb::ui;

// The real window, a real daemon and a real sandbox on this machine: an experiment is set up with a mistake
// on the way, started, used and stopped. The Python of this machine is used, so that nothing has to be
// downloaded.
class SandboxWindowTest : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void initTestCase();
    void cleanupTestCase();
    void setsUpWithAMistake();
    void starts();
    void consoleWorks();
    void filesWork();
    void interfaceIsServed();
    void stops();
    void copiedScriptRuns();

private:
    bool waitFor(const std::function<bool()>& condition) { return QTest::qWaitFor(condition, 60'000); }
    SandboxesPage* page() const { return qobject_cast<SandboxesPage*>(m_window->currentPage()); }
    QLineEdit* line(const char* field) const
    {
        return page()->form()->form()->row(field)->field()->findChild<QLineEdit*>();
    }
    std::string state() const
    {
        const auto& items = m_client->items("sandboxes");
        return items.is_object() && !items.empty() ? stringOr(items.begin().value(), "state") : std::string();
    }
    QPushButton* button(QWidget* in, const QString& text) const;
    QByteArray troubles() const;

    QTemporaryDir m_folder;
    std::unique_ptr<api::Client> m_client;
    std::unique_ptr<MainWindow> m_window;
};

void SandboxWindowTest::initTestCase()
{
    m_client = test::liveClient(m_folder.path());
    setRememberedFile(m_folder.filePath(QStringLiteral("window.ini")));
    Theme::instance().apply({Scheme::Light});
    m_window = std::make_unique<MainWindow>(*m_client);
    m_client->open();
    m_window->resize(1280, 800);
    m_window->show();
    QVERIFY(QTest::qWaitForWindowActive(m_window.get()));
    QTest::keyClick(m_window.get(), Qt::Key_2, Qt::ControlModifier);
    QVERIFY(page());
    QVERIFY(waitFor([this] { return page()->settled(); }));
}

void SandboxWindowTest::cleanupTestCase()
{
    m_window.reset();
    test::endLive(m_client);
}

QPushButton* SandboxWindowTest::button(QWidget* in, const QString& text) const
{
    for (auto* each : in->findChildren<QPushButton*>())
        if (each->text() == text && each->isVisible())
            return each;
    return nullptr;
}

QByteArray SandboxWindowTest::troubles() const
{
    QStringList texts;
    for (const auto* banner : page()->findChildren<Banner*>())
        if (banner->isVisible())
            for (const auto* text : banner->findChildren<QPlainTextEdit*>())
                texts += banner->title() + QLatin1Char('\n') + text->toPlainText();
    return texts.join(QLatin1Char('\n')).toUtf8();
}

void SandboxWindowTest::setsUpWithAMistake()
{
    QTest::keyClicks(line("name"), QStringLiteral("by hand"));
    auto* python = line("interpreter");
    python->selectAll();
    QTest::keyClicks(python, QStringLiteral("/usr/bin/python3"));
    QTest::keyClicks(line("timeout"), QStringLiteral("soon"));
    QVERIFY(page()->form()->form()->row("timeout")->hasError());
    QVERIFY(!page()->primaryAction()->isEnabled());
    line("timeout")->selectAll();
    QTest::keyClicks(line("timeout"), QStringLiteral("20 min"));
    QVERIFY(waitFor([this] { return page()->planPanel()->phase() == PlanPanel::Phase::Planned; }));
    QVERIFY2(page()->primaryAction()->isEnabled(), troubles().constData());
    test::picture(*m_window, QStringLiteral("sandbox-window-plan"));
}

void SandboxWindowTest::starts()
{
    QTest::keyClick(m_window.get(), Qt::Key_Return, Qt::ControlModifier);
    QVERIFY(waitFor([this] {
        return page()->running()->isVisible() || page()->planPanel()->phase() == PlanPanel::Phase::Failed
            || page()->planPanel()->phase() == PlanPanel::Phase::NoPlan;
    }));
    QVERIFY2(page()->running()->isVisible(), troubles().constData());
    QCOMPARE(state(), std::string("ready"));
}

void SandboxWindowTest::consoleWorks()
{
    auto* console = page()->running()->tab<ConsoleTab>();
    page()->running()->showTab(console);
    QVERIFY2(waitFor([console] { return console->runs(); }), troubles().constData());
    auto* terminal = console->terminal();
    terminal->setFocus();
    const auto shows = [terminal](const std::string& text) {
        const auto& screen = terminal->screen();
        for (int i = 0; i < screen.lineCount(); ++i)
            if (screen.text(i).ends_with(text))
                return true;
        return false;
    };
    QTest::keyClicks(terminal, QStringLiteral("echo $((6*7)) | tee out.txt; tput cols || stty size\r"));
    QVERIFY(waitFor([&shows] { return shows("42"); }));
    // Ctrl+C ends what runs, not the shell.
    QTest::keyClicks(terminal, QStringLiteral("echo begun-$((1+1)); sleep 1000\r"));
    QVERIFY(waitFor([&shows] { return shows("begun-2"); }));
    QTest::keyClick(terminal, Qt::Key_C, Qt::ControlModifier);
    QTest::keyClicks(terminal, QStringLiteral("echo still-$((1+1))\r"));
    QVERIFY(waitFor([&shows] { return shows("still-2"); }));
    test::picture(*m_window, QStringLiteral("sandbox-window-console"));
}

void SandboxWindowTest::filesWork()
{
    auto* files = page()->running()->tab<FilesTab>();
    page()->running()->showTab(files);
    const auto item = [files](const QString& name) {
        return files->list()->findItems(name, Qt::MatchExactly).value(0);
    };
    QVERIFY2(waitFor([&item] { return item(QStringLiteral("out.txt")) != nullptr; }), troubles().constData());
    files->list()->setCurrentItem(item(QStringLiteral("out.txt")));
    QTest::keyClick(files->list(), Qt::Key_Return);
    QVERIFY(waitFor([files] { return files->editor()->isVisible(); }));
    QCOMPARE(files->editor()->toPlainText(), QStringLiteral("42\n"));
    QTest::keyClicks(files->editor(), QStringLiteral("seen "));
    files->save();
    QVERIFY(waitFor([files] { return !files->editor()->document()->isModified(); }));
    const auto local = m_folder.filePath(QStringLiteral("carried.bin"));
    QFile file(local);
    QVERIFY(file.open(QIODevice::WriteOnly));
    file.write(QByteArray(1'500'000, 'z'));
    file.close();
    files->upload({local});
    files->openFolder("/workspace");
    QVERIFY(waitFor([&item] { return item(QStringLiteral("carried.bin")) != nullptr; }));
    QVERIFY(item(QStringLiteral("carried.bin"))->text(1).startsWith(QStringLiteral("1.5")));
    // What is dragged out is brought here first.
    QByteArray dragged;
    files->carryOut(QStringLiteral("out.txt"), [&dragged](const QUrl& url) {
        QFile copy(url.toLocalFile());
        if (copy.open(QIODevice::ReadOnly))
            dragged = copy.readAll();
    });
    QVERIFY(waitFor([&dragged] { return dragged == "seen 42\n"; }));
    test::picture(*m_window, QStringLiteral("sandbox-window-files"));
}

void SandboxWindowTest::interfaceIsServed()
{
    auto* tab = page()->running()->tab<InterfaceTab>();
    page()->running()->showTab(tab);
    tab->path()->setText(QStringLiteral(GB_SOURCE_DIR "/resources/examples/hello/interface.py"));
    tab->serve();
    QVERIFY2(waitFor([this, tab] { return button(tab, QStringLiteral("Reload")) || !troubles().isEmpty(); }),
        troubles().constData());
    QVERIFY2(button(tab, QStringLiteral("Reload")), troubles().constData());
    test::picture(*m_window, QStringLiteral("sandbox-window-interface"));
}

void SandboxWindowTest::stops()
{
    button(page()->running(), QStringLiteral("Stop"))->click();
    QVERIFY(waitFor([this] { return state() == "stopped"; }));
    QVERIFY(
        waitFor([this] { return button(page()->running(), QStringLiteral("Delete its files")) != nullptr; }));
    button(page()->running(), QStringLiteral("Delete its files"))->click();
    QVERIFY(waitFor([this] { return !page()->running()->isVisible(); }));
}

void SandboxWindowTest::copiedScriptRuns()
{
    for (auto* action : page()->pageActions())
        if (action->text() == QStringLiteral("Copy as Python"))
            action->trigger();
    QFile script(m_folder.filePath(QStringLiteral("copied.py")));
    QVERIFY(script.open(QIODevice::WriteOnly));
    script.write(QApplication::clipboard()->text().toUtf8());
    script.close();
    QProcess python;
    auto environment = QProcessEnvironment::systemEnvironment();
    environment.insert(QStringLiteral("PYTHONPATH"), QStringLiteral(GB_SOURCE_DIR "/rpc/python"));
    python.setProcessEnvironment(environment);
    python.start(QStringLiteral("/usr/bin/python3"), {script.fileName()});
    QVERIFY(python.waitForFinished(60'000));
    QVERIFY2(python.exitCode() == 0, python.readAllStandardError().constData());
    QVERIFY2(python.readAllStandardOutput().startsWith("Python 3"), "the script shows the sandbox's Python");
}

QTEST_MAIN(SandboxWindowTest)
#include "tst_sandboxwindow.moc"
