// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

#include <QAction>
#include <QApplication>
#include <QFile>
#include <QLabel>
#include <QLineEdit>
#include <QListWidget>
#include <QPlainTextEdit>
#include <QPushButton>
#include <QTabBar>
#include <QTabWidget>
#include <QTemporaryDir>
#include <QTest>
#include <QTreeWidget>

#include <backend/base/clock.h>
#include <tests/support/fakedaemon.h>
#include <tests/support/picture.h>
#include <widgets/controls/banner.h>
#include <widgets/controls/labels.h>
#include <widgets/controls/logview.h>
#include <widgets/controls/splitter.h>
#include <widgets/controls/terminalview.h>
#include <widgets/controls/theme.h>
#include <widgets/pages/sandboxes/consoletab.h>
#include <widgets/pages/sandboxes/filestab.h>
#include <widgets/pages/sandboxes/interfacetab.h>
#include <widgets/pages/sandboxes/logtab.h>
#include <widgets/pages/sandboxes/planpanel.h>
#include <widgets/pages/sandboxes/portstab.h>
#include <widgets/pages/sandboxes/runningview.h>
#include <widgets/pages/sandboxes/sandboxespage.h>
#include <widgets/pages/sandboxes/sandboxlist.h>
#include <widgets/pages/sandboxes/steprow.h>

using namespace gb;
using namespace gb::ui;

namespace {

const std::string sandboxId = "11111111-1111-4111-8111-111111111111";
const std::string jobId = "22222222-2222-4222-8222-222222222222";

Json threeSteps()
{
    return Json::parse(
        R"([{"id": "base", "title": "Base system", "kind": "layer", "reused": true, "bytes": 310000000},
        {"id": "python", "title": "Python packages: numpy", "kind": "layer", "reused": false, "seconds": 4.2},
        {"id": "start", "title": "Start", "kind": "start", "reused": false, "seconds": 0.1}])");
}

} // namespace

// From Start to Stop with a daemon that does what the test says, which brings the page into every state there
// is.
class SandboxStartTest : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void initTestCase();
    void init();
    void cleanup();
    void startBecomesProgress();
    void failureStaysWhereItHappened();
    void cancelLeavesNothing();
    void asksBeforeForeignThingsAreReached();
    void runningShowsAndStops();
    void endedSaysWhy();
    void consoleTypesAndShows();
    void consoleComesBack();
    void filesAreCarriedAndEdited();
    void interfacesAreServed();
    void portsAndMeters();

private:
    bool waitFor(const std::function<bool()>& condition) { return QTest::qWaitFor(condition, 20'000); }
    PlanPanel* plan() const { return m_page->planPanel(); }
    bool start();
    void setJob(const char* state, int done, const Json& more = Json::object());
    void setSandbox(const char* state, const Json& more = Json::object());
    bool showRunning();
    QPushButton* button(const QString& text, QWidget* in = nullptr) const;
    StepRow::State step(int index) const { return m_page->findChildren<StepRow*>()[index]->state(); }
    void pictures(const QString& name);

    QTemporaryDir m_folder;
    std::unique_ptr<test::FakeDaemon> m_daemon;
    std::unique_ptr<api::Client> m_client;
    std::unique_ptr<SandboxesPage> m_page;
    Json m_job;
};

void SandboxStartTest::initTestCase()
{
    setRememberedFile(m_folder.filePath(QStringLiteral("window.ini")));
    Theme::instance().apply({Scheme::Light});
    QFile::setPermissions(m_folder.path(), QFile::ReadOwner | QFile::WriteOwner | QFile::ExeOwner);
}

void SandboxStartTest::init()
{
    const fs::path data(m_folder.path().toStdString());
    m_daemon = std::make_unique<test::FakeDaemon>(data);
    m_daemon->on("sandboxes.capabilities", Json{{"providers", Json::array()}});
    m_daemon->on("sandboxes.plan",
        Json{{"steps", threeSteps()}, {"problems", Json::array()}, {"reaches", Json::array()},
            {"needs_trust", false}});
    m_daemon->on("sandboxes.start", Json{{"job", jobId}, {"sandbox", sandboxId}});
    m_daemon->on(
        "sandboxes.get", Json{{"id", sandboxId}, {"steps", threeSteps()}, {"spec", {{"name", "copied"}}}});
    m_daemon->on("jobs.get", [this](const Json&, const std::string&) { return api::Answer{m_job, {}}; });
    m_daemon->on("jobs.cancel", Json::object());
    const std::string log = "Resolving numpy\nDownloading numpy\n\x1b[31merror\x1b[0m: no such package\n";
    m_daemon->on("sandboxes.log", [log](const Json& params, const std::string&) {
        const auto from = static_cast<std::size_t>(integerOr(params, "offset"));
        return api::Answer{
            {{"text", log.substr(std::min(from, log.size()))}, {"next", log.size()}, {"size", log.size()}},
            {}};
    });
    m_client = std::make_unique<api::Client>(api::Client::Options{data, "window", false, true, {}});
    m_client->open();
    m_page = std::make_unique<SandboxesPage>(*m_client);
    m_page->resize(1224, 740);
    m_page->show();
    QVERIFY(QTest::qWaitForWindowActive(m_page.get()));
    QVERIFY(waitFor([this] { return plan()->phase() == PlanPanel::Phase::Planned; }));
}

void SandboxStartTest::cleanup()
{
    m_page.reset();
    m_client.reset();
    m_daemon.reset();
}

QPushButton* SandboxStartTest::button(const QString& text, QWidget* in) const
{
    for (auto* each : (in ? in : m_page.get())->findChildren<QPushButton*>())
        if (each->text() == text && each->isVisible())
            return each;
    return nullptr;
}

void SandboxStartTest::setJob(const char* state, int done, const Json& more)
{
    m_job = Json{{"id", jobId}, {"kind", "sandbox.start"}, {"title", "Start"}, {"state", state},
        {"progress", {{"done", done}, {"total", 3}, {"unit", "steps"}}}, {"message", "Downloading numpy"},
        {"subject", sandboxId}};
    m_job.update(more);
    m_daemon->setItem("jobs", jobId, m_job);
}

void SandboxStartTest::setSandbox(const char* state, const Json& more)
{
    Json item{{"id", sandboxId}, {"name", "first one"}, {"provider", "local"}, {"scoped", false},
        {"state", state}, {"since", wallMs() - 5000}, {"created_at", wallMs() - 9000}, {"job", jobId},
        {"interfaces", Json::array()}};
    item.update(more);
    m_daemon->setItem("sandboxes", sandboxId, item);
}

bool SandboxStartTest::start()
{
    setJob("running", 0);
    m_page->primaryAction()->trigger();
    return waitFor([this] { return plan()->sandbox() == sandboxId; });
}

bool SandboxStartTest::showRunning()
{
    setSandbox("ready", {{"ends_at", wallMs() + 3'600'000}});
    if (!waitFor([this] { return m_client->items("sandboxes").contains(sandboxId); }))
        return false;
    m_page->showPlace(QString::fromStdString(sandboxId));
    return waitFor([this] { return button(QStringLiteral("Stop")) != nullptr; });
}

void SandboxStartTest::pictures(const QString& name)
{
    // Another theme restyles every widget, which takes a while: only for who wants to look at it.
    const bool looked = qEnvironmentVariableIsSet("GB_PICTURES");
    for (const auto scheme : {Scheme::Dark, Scheme::Light}) {
        if (!looked && scheme == Scheme::Dark)
            continue;
        Theme::instance().apply({scheme});
        QTest::qWait(1);
        const auto theme = scheme == Scheme::Dark ? QStringLiteral("dark") : QStringLiteral("light");
        QVERIFY(test::colorsIn(test::picture(*m_page, name + QLatin1Char('-') + theme)) > 8);
    }
}

void SandboxStartTest::startBecomesProgress()
{
    pictures(QStringLiteral("planned"));
    QVERIFY(start());
    QVERIFY(waitFor([this] { return step(0) == StepRow::State::Running; }));
    setJob("running", 1);
    QVERIFY(waitFor([this] { return step(1) == StepRow::State::Running; }));
    QCOMPARE(step(0), StepRow::State::Done);
    QCOMPARE(step(2), StepRow::State::Planned);
    QVERIFY(!m_page->primaryAction()->isEnabled());
    button(QStringLiteral("Log"))->click();
    QVERIFY(waitFor([this] { return plan()->findChild<LogView*>()->canvas()->document().lineCount() == 3; }));
    pictures(QStringLiteral("building"));
    button(QStringLiteral("Start"))->setFocus(); // as whoever clicked it
    setSandbox("ready");
    setJob("done", 3);
    QVERIFY(waitFor([this] { return m_page->running()->isVisible(); }));
    QVERIFY(qobject_cast<QTabBar*>(QApplication::focusWidget()));
    QCOMPARE(m_page->list()->chosen().toStdString(), sandboxId);
    QCOMPARE(m_daemon->asked("sandboxes.start"), 1);
}

void SandboxStartTest::failureStaysWhereItHappened()
{
    QVERIFY(start());
    setJob("running", 1);
    QVERIFY(waitFor([this] { return step(1) == StepRow::State::Running; }));
    setJob("failed", 1,
        {{"error",
            {{"code", "sandbox.packages"}, {"message", "numpi was not found"},
                {"data", {{"field", "python_packages"}}}}}});
    QVERIFY(waitFor([this] { return plan()->phase() == PlanPanel::Phase::Failed; }));
    QCOMPARE(step(0), StepRow::State::Done);
    QCOMPARE(step(1), StepRow::State::Failed);
    QCOMPARE(step(2), StepRow::State::Skipped);
    auto* banner = plan()->findChild<Banner*>();
    QStringList texts;
    for (const auto* label : banner->findChildren<QLabel*>())
        texts += label->text();
    QVERIFY(texts.contains(QStringLiteral("Packages: numpi was not found.")));
    QVERIFY(banner->findChild<QPlainTextEdit*>()->toPlainText().contains(QStringLiteral("no such package")));
    pictures(QStringLiteral("failed"));
    button(QStringLiteral("Edit the field"))->click();
    QVERIFY(m_page->isAncestorOf(QApplication::focusWidget()));
    QCOMPARE(QApplication::focusWidget()->accessibleName(), QStringLiteral("Packages"));
    setJob("running", 0);
    button(QStringLiteral("Try again"))->click();
    QVERIFY(waitFor([this] { return m_daemon->asked("sandboxes.start") == 2 && plan()->isStarting(); }));
}

void SandboxStartTest::cancelLeavesNothing()
{
    QVERIFY(start());
    button(QStringLiteral("Cancel"))->click();
    QVERIFY(waitFor([this] { return m_daemon->asked("jobs.cancel") == 1; }));
    setJob("cancelled", 1);
    QVERIFY(waitFor([this] { return plan()->phase() == PlanPanel::Phase::Cancelled; }));
    button(QStringLiteral("Back to the plan"))->click();
    QVERIFY(waitFor([this] { return plan()->phase() == PlanPanel::Phase::Planned; }));
    QVERIFY(m_page->primaryAction()->isEnabled());
}

void SandboxStartTest::asksBeforeForeignThingsAreReached()
{
    m_daemon->on("sandboxes.plan",
        Json{{"steps", threeSteps()}, {"problems", Json::array()}, {"needs_trust", true},
            {"price_per_hour", 0.5},
            {"reaches",
                {{{"what", "path"}, {"value", "/home/me/data"}}, {{"what", "secret"}, {"value", "HF_TOKEN"}},
                    {{"what", "network"}, {"value", "data.example.org"}}}}});
    plan()->plan();
    const auto texts = [this] {
        QStringList all;
        for (const auto* label : plan()->findChildren<QLabel*>())
            all += label->text();
        return all;
    };
    QVERIFY(waitFor([&texts] { return !texts().filter(QStringLiteral("$0.50 per hour")).isEmpty(); }));
    m_page->primaryAction()->trigger();
    QCOMPARE(plan()->phase(), PlanPanel::Phase::Asking);
    QCOMPARE(m_daemon->asked("sandboxes.start"), 0);
    QVERIFY(texts().contains(QString::fromUtf8("•  the file or folder /home/me/data")));
    QVERIFY(texts().contains(QString::fromUtf8("•  the secret HF_TOKEN")));
    pictures(QStringLiteral("trust"));
    button(QStringLiteral("Do not start"))->click();
    QCOMPARE(plan()->phase(), PlanPanel::Phase::Planned);
    m_page->primaryAction()->trigger();
    setJob("running", 0);
    button(QStringLiteral("Allow this and start"))->click();
    QVERIFY(waitFor([this] { return m_daemon->asked("sandboxes.start") == 1; }));
    QVERIFY(boolOr(m_daemon->last("sandboxes.start"), "trust"));
}

void SandboxStartTest::runningShowsAndStops()
{
    QVERIFY(showRunning());
    QVERIFY(waitFor(
        [this] { return m_page->running()->tab<LogTab>()->view()->canvas()->document().lineCount() == 3; }));
    pictures(QStringLiteral("running-log"));
    m_daemon->on("sandboxes.extend", Json{{"ends_at", 0}});
    button(QStringLiteral("Extend by 30 min"))->click();
    QVERIFY(waitFor([this] { return integerOr(m_daemon->last("sandboxes.extend"), "seconds") == 1800; }));
    m_daemon->on("sandboxes.stop", Json{{"job", jobId}});
    button(QStringLiteral("Stop"))->click();
    QVERIFY(waitFor([this] { return stringOr(m_daemon->last("sandboxes.stop"), "sandbox") == sandboxId; }));
    // Somebody else may remove it while it is looked at.
    m_daemon->setItem("sandboxes", sandboxId, nullptr);
    QVERIFY(waitFor([this] { return !m_page->running()->isVisible(); }));
}

void SandboxStartTest::endedSaysWhy()
{
    QVERIFY(showRunning());
    setSandbox("stopped", {{"reason", "memory"}});
    auto* banner = m_page->running()->findChild<Banner*>(QString(), Qt::FindDirectChildrenOnly);
    QVERIFY(waitFor([banner] { return banner->isVisible(); }));
    QStringList texts;
    for (const auto* label : banner->findChildren<QLabel*>())
        texts += label->text();
    QVERIFY(texts.contains(QStringLiteral("It took more memory than it may have.")));
    pictures(QStringLiteral("ended"));
    button(QStringLiteral("Set up another like it"))->click();
    QVERIFY(waitFor([this] { return m_page->draft().value("name") == "copied"; }));
    QVERIFY(!m_page->running()->isVisible());
}

void SandboxStartTest::consoleTypesAndShows()
{
    m_daemon->on("sandboxes.commands", Json{{"commands", Json::array()}});
    m_daemon->on("sandboxes.exec", Json{{"command", "c1"}, {"pid", 7}});
    m_daemon->on("sandboxes.resize", Json::object());
    std::string typed;
    m_daemon->on("sandboxes.stdin", [&typed](const Json&, const std::string& bytes) {
        typed += bytes;
        return api::Answer{Json::object(), {}};
    });
    QVERIFY(showRunning());
    auto* console = m_page->running()->tab<ConsoleTab>();
    m_page->running()->showTab(console);
    QVERIFY(waitFor([console] { return console->runs(); }));
    QVERIFY(m_daemon->last("sandboxes.exec").contains("terminal"));
    const Json where{{"sandbox", sandboxId}, {"command", "c1"}, {"stream", "stdout"}, {"offset", 0}};
    const std::string output = "\x1b[1;32mroot@box\x1b[0m:\x1b[34m/workspace\x1b[0m# ";
    m_daemon->notify("sandboxes.output", where, output);
    auto* terminal = console->terminal();
    QVERIFY(waitFor([terminal] { return terminal->screen().text(0) == "root@box:/workspace#"; }));
    terminal->setFocus();
    QTest::keyClicks(terminal, QStringLiteral("sleep 9"));
    QTest::keyClick(terminal, Qt::Key_Return);
    QTest::keyClick(terminal, Qt::Key_C, Qt::ControlModifier);
    QVERIFY(waitFor([&typed] { return typed == "sleep 9\r\x03"; }));
    pictures(QStringLiteral("console"));
    m_page->resize(1500, 900);
    QVERIFY(waitFor([this, terminal] {
        return integerOr(m_daemon->last("sandboxes.resize"), "columns") == terminal->screen().columns();
    }));
    m_daemon->notify("sandboxes.exit", {{"sandbox", sandboxId}, {"command", "c1"}, {"code", 3}});
    QVERIFY(waitFor([this] { return button(QStringLiteral("New shell")) != nullptr; }));
    QVERIFY(!console->runs());
}

void SandboxStartTest::consoleComesBack()
{
    // Another window finds the shell that runs, with what it wrote.
    const std::string output = "before\r\nand after";
    m_daemon->on("sandboxes.commands",
        Json{{"commands",
            {{{"command", "c0"}, {"terminal", false}, {"exited", false}},
                {{"command", "c1"}, {"terminal", true}, {"exited", true}},
                {{"command", "c2"}, {"terminal", true}, {"exited", false}}}}});
    m_daemon->on("sandboxes.resize", Json::object());
    m_daemon->on("sandboxes.output", [output](const Json& params, const std::string&) {
        const auto from = std::min(static_cast<std::size_t>(integerOr(params, "offset")), output.size());
        return api::Answer{{{"offset", from}, {"size", output.size()}, {"dropped", 0}, {"exited", false}},
            output.substr(from, 5)};
    });
    QVERIFY(showRunning());
    auto* console = m_page->running()->tab<ConsoleTab>();
    m_page->running()->showTab(console);
    QVERIFY(waitFor([console] { return console->terminal()->screen().text(1) == "and after"; }));
    QCOMPARE(m_daemon->asked("sandboxes.exec"), 0);
    QCOMPARE(stringOr(m_daemon->last("sandboxes.output"), "command"), std::string("c2"));
}

void SandboxStartTest::filesAreCarriedAndEdited()
{
    std::map<std::string, std::string> files{
        {"/workspace/note.txt", "hello\n"}, {"/workspace/picture.png", std::string("\x89PNG\0", 5)}};
    m_daemon->on("sandboxes.list_files", [&files](const Json& params, const std::string&) {
        Json entries = Json::array();
        if (stringOr(params, "path") == "/workspace") {
            entries.push_back({{"name", "data"}, {"kind", "folder"}, {"size", 0}, {"modified", 1000}});
            for (const auto& [path, text] : files)
                entries.push_back(
                    {{"name", path.substr(11)}, {"kind", "file"}, {"size", text.size()}, {"modified", 1000}});
        }
        return api::Answer{{{"entries", entries}, {"more", false}}, {}};
    });
    m_daemon->on("sandboxes.read", [&files](const Json& params, const std::string&) {
        return api::Answer{
            {{"size", files[stringOr(params, "path")].size()}}, files[stringOr(params, "path")]};
    });
    m_daemon->on("sandboxes.put", [&files](const Json& params, const std::string& bytes) {
        auto& file = files[stringOr(params, "path")];
        file.resize(static_cast<std::size_t>(integerOr(params, "offset")));
        file += bytes;
        return api::Answer{Json::object(), {}};
    });
    QVERIFY(showRunning());
    auto* tab = m_page->running()->tab<FilesTab>();
    m_page->running()->showTab(tab);
    QVERIFY(waitFor([tab] { return tab->list()->topLevelItemCount() == 3; }));
    QCOMPARE(tab->list()->topLevelItem(0)->text(0), QStringLiteral("data"));
    pictures(QStringLiteral("files"));
    // Edit in place.
    tab->edit("/workspace/note.txt");
    QVERIFY(waitFor([tab] { return tab->editor()->isVisible(); }));
    tab->editor()->setPlainText(QStringLiteral("changed\n"));
    tab->editor()->document()->setModified(true);
    tab->save();
    QVERIFY(waitFor([&files] { return files["/workspace/note.txt"] == "changed\n"; }));
    tab->openFolder("/workspace");
    tab->edit("/workspace/picture.png");
    auto* banner = tab->findChild<Banner*>();
    QVERIFY(waitFor([banner] { return banner->title() == QStringLiteral("This is not a text"); }));
    // In: a file of several pieces.
    const auto local = m_folder.filePath(QStringLiteral("big.bin"));
    QFile file(local);
    QVERIFY(file.open(QIODevice::WriteOnly));
    const QByteArray bytes(1'300'000, 'x');
    file.write(bytes);
    file.close();
    tab->upload({local});
    QVERIFY(waitFor([&files, &bytes] { return files["/workspace/big.bin"] == bytes.toStdString(); }));
    QVERIFY(m_daemon->asked("sandboxes.put") >= 4);
    tab->upload({m_folder.filePath(QStringLiteral("no such file"))});
    QVERIFY(waitFor([banner] { return banner->title().contains(QStringLiteral("was not carried in")); }));
}

void SandboxStartTest::interfacesAreServed()
{
    m_daemon->on("sandboxes.serve", [](const Json&, const std::string&) -> Result<api::Answer> {
        return fail("worker.load", "No module named torch");
    });
    QVERIFY(showRunning());
    auto* tab = m_page->running()->tab<InterfaceTab>();
    m_page->running()->showTab(tab);
    tab->path()->setText(QStringLiteral("/tmp/x/interface.py"));
    tab->serve();
    auto* banner = tab->findChild<Banner*>();
    QVERIFY(waitFor([banner] { return banner->isVisible(); }));
    QCOMPARE(stringOr(m_daemon->last("sandboxes.serve"), "interface"), std::string("/tmp/x/interface.py"));
    m_daemon->on("sandboxes.serve", Json::object());
    m_daemon->on("interfaces.reload", Json::object());
    tab->serve();
    m_daemon->setItem("interfaces", "i1",
        {{"id", "i1"}, {"name", "model_tools"}, {"source", "/tmp/x/interface.py"}, {"state", "ready"},
            {"functions", 3}, {"started_at", wallMs()}, {"sandbox", sandboxId}});
    m_daemon->setItem("interfaces", "i2", {{"id", "i2"}, {"name", "of another"}, {"state", "ready"}});
    QVERIFY(waitFor([this, tab] { return button(QStringLiteral("Reload"), tab) != nullptr; }));
    QCOMPARE(tab->findChildren<QPushButton*>().size(), 4); // browse, serve, and one interface's two
    for (const auto* label : tab->findChildren<QLabel*>())
        QVERIFY(!label->isVisible() || label->text() != QStringLiteral("Nothing is served in this sandbox."));
    pictures(QStringLiteral("interface"));
    button(QStringLiteral("Reload"), tab)->click();
    QVERIFY(waitFor([this] { return stringOr(m_daemon->last("interfaces.reload"), "interface") == "i1"; }));
    // What the pill says stands nowhere else.
    m_daemon->setItem("interfaces", "i1",
        {{"id", "i1"}, {"name", "model_tools"}, {"source", "/tmp/x/interface.py"}, {"state", "loading"},
            {"started_at", wallMs()}, {"sandbox", sandboxId}});
    const auto lines = [tab] {
        QStringList all;
        for (const auto* label : tab->findChildren<ElidedLabel*>())
            all += label->fullText();
        return all;
    };
    QVERIFY2(waitFor([&lines] { return lines().contains(QStringLiteral("/tmp/x/interface.py")); }),
        qPrintable(lines().join(QLatin1Char('|'))));
    pictures(QStringLiteral("interface-loading"));
}

void SandboxStartTest::portsAndMeters()
{
    m_daemon->on("sandboxes.ports",
        Json{{"ports", {{{"id", "p"}, {"port_inside", 8000}, {"host", "127.0.0.1"}, {"port", 40123}}}}});
    m_daemon->on("sandboxes.meters",
        Json{{"processes", 4}, {"memory", 52'000'000}, {"cpu_ms", 10}, {"disk", 1'000'000}});
    QVERIFY(showRunning());
    auto* ports = m_page->running()->tab<PortsTab>();
    m_page->running()->showTab(ports);
    QVERIFY(waitFor([this] { return button(QStringLiteral("Open in the browser")) != nullptr; }));
    QStringList texts;
    for (const auto* label : ports->findChildren<QLabel*>())
        texts += label->text();
    QVERIFY(texts.contains(QStringLiteral("http://127.0.0.1:40123")));
    QVERIFY(texts.contains(QStringLiteral("8000")));
    m_page->running()->showTab(m_page->running()->tab<MetersTab>());
    QVERIFY(waitFor([this] { return m_daemon->asked("sandboxes.meters") >= 2; }));
    pictures(QStringLiteral("meters"));
}

QTEST_MAIN(SandboxStartTest)
#include "tst_sandboxstart.moc"
