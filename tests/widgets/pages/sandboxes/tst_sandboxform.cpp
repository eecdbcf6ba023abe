// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

#include <QAction>
#include <QApplication>
#include <QCheckBox>
#include <QClipboard>
#include <QDir>
#include <QFile>
#include <QLabel>
#include <QLineEdit>
#include <QMenu>
#include <QPlainTextEdit>
#include <QPushButton>
#include <QSettings>
#include <QTemporaryDir>
#include <QTest>

#include <backend/domain/experimentfile.h>
#include <tests/support/experimentfolders.h>
#include <tests/support/picture.h>
#include <widgets/controls/banner.h>
#include <widgets/controls/filterfield.h>
#include <widgets/controls/splitter.h>
#include <widgets/controls/theme.h>
#include <widgets/forms/recordsfield.h>
#include <widgets/forms/tokensfield.h>
#include <widgets/forms/valuefields.h>
#include <widgets/pages/sandboxes/filepane.h>
#include <widgets/pages/sandboxes/planpanel.h>
#include <widgets/pages/sandboxes/sandboxespage.h>
#include <widgets/pages/sandboxes/sandboxform.h>

using namespace gb;
using namespace gb::ui;

namespace {

constexpr std::int64_t oneGib = 1LL << 30;

Json someCapabilities()
{
    return Json::parse(R"({"providers": [
        {"id": "local", "title": "This machine", "available": true, "gpus": [], "network": ["off", "on"],
         "fields": {"spend_cap": {"state": "hidden"},
                    "docker_in_docker": {"state": "disabled", "reason": "Needs a user with rights of its own."}},
         "interpreters": [{"path": "/usr/bin/python3", "version": "3.11.2"}],
         "models": [{"name": "org/tiny", "path": "/m"}]},
        {"id": "modal", "title": "Modal", "available": false, "reason": "No token was found.", "gpus": ["A100"],
         "fields": {}, "interpreters": [], "models": []}]})");
}

Json somePlan()
{
    return Json::parse(R"({"steps": [
        {"id": "isolation", "title": "Make the isolation", "kind": "isolation", "reused": false, "seconds": 0.02},
        {"id": "base", "title": "Base system", "kind": "layer", "reused": true, "bytes": 310000000},
        {"id": "python", "title": "Python packages: numpy", "kind": "layer", "reused": false, "bytes": 62000000,
         "seconds": 4.2},
        {"id": "start", "title": "Start", "kind": "start", "reused": false, "seconds": 0.1}],
        "problems": [], "reaches": [], "needs_trust": false})");
}

} // namespace

// The draft, the fields, the form and the file beside it; the daemon's answers are the test's.
class SandboxFormTest : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void initTestCase();
    void init();
    void cleanup();
    void draftUndoesAndResets();
    void draftFollowsTheFile();
    void quantitiesAreReadAsMeant_data();
    void quantitiesAreReadAsMeant();
    void everyFieldHasARow();
    void everyFieldKeepsItsValue();
    void typingShowsWhatIsWrong();
    void capabilitiesShapeTheForm();
    void searchFinds();
    void tokensWithTheKeyboard();
    void fileAndFormStayInStep();
    void whatCannotBeReadIsNotStarted();
    void changeOnDiskIsNoticed();
    void secretsSayWhereTheyAre();
    void aMissingGpuIsAskedAbout();
    void anAdapterNamesItsBase();
    void presetsAndMyDefault();
    void pictures();

private:
    bool waitFor(const std::function<bool()>& condition) { return QTest::qWaitFor(condition, 20'000); }
    DraftForm* form() const { return m_page->form()->form(); }
    QString experiment(const QByteArray& toml);
    void openExperiment(const QString& folder);
    QPushButton* button(const QString& text) const;
    QAction* action(const QString& text) const;
    template <typename Widget>
    Widget* editor(const char* field) const
    {
        return form()->row(field)->field()->findChild<Widget*>();
    }

    QTemporaryDir m_folder;
    std::unique_ptr<test::FakeDaemon> m_daemon;
    std::unique_ptr<api::Client> m_client;
    std::unique_ptr<SandboxesPage> m_page;
};

void SandboxFormTest::initTestCase()
{
    setRememberedFile(m_folder.filePath(QStringLiteral("window.ini")));
    Theme::instance().apply({Scheme::Light});
    QFile::setPermissions(m_folder.path(), QFile::ReadOwner | QFile::WriteOwner | QFile::ExeOwner);
    const fs::path data(m_folder.path().toStdString());
    m_daemon = std::make_unique<test::FakeDaemon>(data);
    m_client = std::make_unique<api::Client>(api::Client::Options{data, "window", false, true, {}});
    m_client->open();
    QVERIFY(waitFor([this] { return m_client->state() == api::Client::State::Connected; }));
}

void SandboxFormTest::init()
{
    static const QSet<QByteArray> withoutPage{
        "draftUndoesAndResets", "draftFollowsTheFile", "quantitiesAreReadAsMeant", "pastedPackages"};
    if (withoutPage.contains(QTest::currentTestFunction()))
        return;
    m_daemon->on("sandboxes.capabilities", someCapabilities());
    test::serveExperiments(*m_daemon);
    m_daemon->on("sandboxes.plan", somePlan());
    m_daemon->on("secrets.list", Json{{"secrets", {{{"name", "STORED"}}}}});
    m_page = std::make_unique<SandboxesPage>(*m_client);
    m_page->resize(1224, 740);
    m_page->show();
    QVERIFY(QTest::qWaitForWindowExposed(m_page.get()));
    QVERIFY(waitFor([this] { return m_page->settled(); }));
}

void SandboxFormTest::cleanup()
{
    m_page.reset();
}

QString SandboxFormTest::experiment(const QByteArray& toml)
{
    static int number = 0;
    const auto folder = m_folder.filePath(QStringLiteral("experiment-%1").arg(++number));
    QDir().mkpath(folder);
    QFile file(folder + QStringLiteral("/experiment.toml"));
    if (!file.open(QIODevice::WriteOnly) || file.write(toml) != toml.size())
        qFatal("no file");
    return folder;
}

void SandboxFormTest::openExperiment(const QString& folder)
{
    m_page->setExperiment(folder);
    QVERIFY(waitFor([this] { return m_page->settled(); }));
}

QPushButton* SandboxFormTest::button(const QString& text) const
{
    for (auto* each : m_page->findChildren<QPushButton*>())
        if (each->text() == text && each->isVisible())
            return each;
    return nullptr;
}

QAction* SandboxFormTest::action(const QString& text) const
{
    for (auto* each : m_page->pageActions())
        if (each->text() == text)
            return each;
    return nullptr;
}

void SandboxFormTest::draftUndoesAndResets()
{
    Draft draft(SandboxSpec().toJson(), sandboxProblems);
    QCOMPARE(draft.source("cpu"), Draft::Source::Default);
    draft.set("cpu", 2);
    draft.set("cpu", 24); // typing goes on
    draft.set("memory", "8 Gib or so");
    QVERIFY(!draft.isValid());
    QCOMPARE(draft.source("cpu"), Draft::Source::You);
    QVERIFY(draft.isDirty());
    draft.undo();
    QVERIFY(draft.isValid());
    QVERIFY(draft.value("cpu") == Json(24));
    draft.undo();
    QVERIFY(draft.value("cpu") == Json());
    QVERIFY(!draft.canUndo());
    draft.redo();
    QVERIFY(draft.value("cpu") == Json(24));
    draft.applyPreset({{"cpu", 4}, {"scoped", true}});
    QCOMPARE(draft.source("scoped"), Draft::Source::Preset);
    draft.undo();
    QVERIFY(draft.value("cpu") == Json(24));
    draft.reset("cpu");
    QCOMPARE(draft.source("cpu"), Draft::Source::Default);
    QVERIFY(!draft.isDirty());
}

void SandboxFormTest::draftFollowsTheFile()
{
    Draft draft(SandboxSpec().toJson(), sandboxProblems);
    QVERIFY(draft.loadSaved({{"cpu", 2}, {"name", "a"}}).empty());
    QCOMPARE(draft.source("cpu"), Draft::Source::File);
    QVERIFY(!draft.isDirty());
    draft.set("cpu", 8);
    // The other field follows, the one changed on both sides is named and kept.
    QVERIFY(draft.loadSaved({{"cpu", 4}, {"name", "b"}}) == Draft::Fields({"cpu"}));
    QVERIFY(draft.value("name") == Json("b"));
    QVERIFY(draft.value("cpu") == Json(8));
    draft.reset("cpu");
    QVERIFY(draft.value("cpu") == Json(4));
    draft.reset("cpu"); // once more: the default
    QVERIFY(draft.value("cpu") == Json());
    draft.cancel();
    QVERIFY(draft.value("cpu") == Json(4));
}

void SandboxFormTest::quantitiesAreReadAsMeant_data()
{
    QTest::addColumn<bool>("bytes");
    QTest::addColumn<QString>("text");
    QTest::addColumn<QByteArray>("value");
    QTest::addColumn<QString>("shown");
    QTest::newRow("gib") << true << QStringLiteral("8GiB") << QByteArray("8589934592")
                         << QStringLiteral("8 GiB");
    QTest::newRow("part") << true << QStringLiteral("1.5 GiB") << QByteArray("1610612736")
                          << QStringLiteral("1536 MiB");
    QTest::newRow("no size") << true << QStringLiteral("a lot") << QByteArray("\"a lot\"") << QString();
    QTest::newRow("hours") << false << QStringLiteral("1 h 30 min") << QByteArray("5400")
                           << QStringLiteral("1 h 30 min");
    QTest::newRow("seconds") << false << QStringLiteral("90") << QByteArray("90")
                             << QStringLiteral("1 min 30 s");
    QTest::newRow("days") << false << QStringLiteral("2d") << QByteArray("172800") << QStringLiteral("2 d");
    QTest::newRow("no time") << false << QStringLiteral("soon") << QByteArray("\"soon\"") << QString();
    QTest::newRow("nothing") << false << QString() << QByteArray("null") << QString();
}

void SandboxFormTest::quantitiesAreReadAsMeant()
{
    QFETCH(bool, bytes);
    QFETCH(QString, text);
    QFETCH(QByteArray, value);
    QFETCH(QString, shown);
    const auto kind = bytes ? QuantityField::Kind::Bytes : QuantityField::Kind::Seconds;
    const auto read = QuantityField::parse(kind, text);
    QCOMPARE(QByteArray::fromStdString(read.dump()), value);
    if (read.is_number())
        QCOMPARE(QuantityField::text(kind, read.get<std::int64_t>()), shown);
}

void SandboxFormTest::everyFieldHasARow()
{
    for (const auto& field : sandboxSpecFields())
        QVERIFY2(form()->row(field.name), field.name);
}

void SandboxFormTest::everyFieldKeepsItsValue()
{
    // What the form shows is what it gives back, for a spec that uses all of it.
    const auto spec = SandboxSpec::fromJson(Json::parse(R"({"name": "full", "scoped": false,
        "python_version": "3.12", "python_packages": ["numpy>=1.26,<3"], "system_packages": ["git"],
        "gpu": "A100", "gpu_count": 2, "cpu": 1.5, "memory": 8589934592, "disk": "20 GiB", "timeout": 7200,
        "idle_timeout": 600, "spend_cap": 2.5, "debug": true, "execution_mode": "notebook",
        "secrets": ["HF_TOKEN"], "env": {"A": "1", "B": "two words"}, "tags": {"who": "me"},
        "network": ["data.example.org"], "encrypted_ports": [8000], "rpc_port": 7000, "rpc_timeout": 60,
        "models": [{"name": "org/a", "var_name": "m", "hidden": true},
                   {"name": "org/b", "is_peft": true, "base_model": "org/a"}],
        "repos": ["org/repo", {"url": "https://example.org/x.git", "install": "pip install -e ."},
                  {"url": "org/built", "dockerfile": "docker/Dockerfile"}],
        "local_files": [["a.txt", "/workspace/a.txt"]],
        "local_dirs": [{"local": "data", "inside": "/workspace/data", "mode": "read-only"}]})"));
    QVERIFY2(spec, spec ? "" : spec.error().message.c_str());
    const auto before = spec->toJson();
    m_page->draft().set(before);
    for (const auto& field : sandboxSpecFields()) {
        const auto* row = form()->row(field.name);
        QCOMPARE(QString::fromStdString(row->field()->value().dump()),
            QString::fromStdString(m_page->draft().value(field.name).dump()));
    }
    const auto after = SandboxSpec::fromJson(m_page->draft().values());
    QVERIFY(after);
    QVERIFY(*after == *spec);
}

void SandboxFormTest::typingShowsWhatIsWrong()
{
    auto* memory = editor<QLineEdit>("memory");
    QTest::keyClicks(memory, QStringLiteral("8 Gbi"));
    QVERIFY(form()->row("memory")->hasError());
    QVERIFY(form()->row("memory")->problemText().contains(QStringLiteral("8 GiB")));
    QVERIFY(memory->property("gbInvalid").toBool());
    QCOMPARE(m_page->planPanel()->phase(), PlanPanel::Phase::Wrong);
    QVERIFY(!m_page->primaryAction()->isEnabled());
    memory->clear();
    QTest::keyClicks(memory, QStringLiteral("8 GiB"));
    QVERIFY(!form()->row("memory")->hasError());
    QVERIFY(m_page->draft().value("memory") == Json(8 * oneGib));
    QVERIFY(waitFor([this] { return m_page->planPanel()->phase() == PlanPanel::Phase::Planned; }));
    QVERIFY(m_page->primaryAction()->isEnabled());
    // A rule across fields is said at the field that breaks it, in the record that breaks it.
    auto* models = qobject_cast<RecordsField*>(form()->row("models")->field());
    models->append({{"name", "org/one"}});
    models->append({{"name", "org/adapter"}, {"is_peft", true}});
    QVERIFY(form()->row("models")->hasError());
    QVERIFY(form()->row("models")->problemText().contains(QString::fromUtf8("“Base model” is missing")));
}

void SandboxFormTest::capabilitiesShapeTheForm()
{
    QVERIFY(!form()->row("spend_cap")->isVisibleTo(form()));
    QVERIFY(!form()->row("docker_in_docker")->field()->isEnabled());
    QStringList texts;
    for (const auto* label : form()->row("docker_in_docker")->findChildren<QLabel*>())
        texts += label->text();
    QVERIFY(texts.contains(QStringLiteral("Needs a user with rights of its own.")));
    m_page->draft().set("provider", "modal");
    QVERIFY(form()->row("spend_cap")->isVisibleTo(form()));
}

void SandboxFormTest::searchFinds()
{
    QVERIFY(form()->search(QStringLiteral("lora")) >= 1);
    QVERIFY(form()->row("models")->isVisibleTo(form()));
    QVERIFY(!form()->row("memory")->isVisibleTo(form()));
    QCOMPARE(form()->search(QStringLiteral("no such thing")), 0);
    form()->search({});
    QVERIFY(form()->row("memory")->isVisibleTo(form()));
}

void SandboxFormTest::tokensWithTheKeyboard()
{
    auto* field = qobject_cast<TokensField*>(form()->row("python_packages")->field());
    auto* line = field->findChild<QLineEdit*>();
    QTest::keyClicks(line, QStringLiteral("numpy>=1,<2"));
    QTest::keyClick(line, Qt::Key_Return);
    QTest::keyClicks(line, QStringLiteral("einops,"));
    QCOMPARE(field->tokens(), QStringList({QStringLiteral("numpy>=1,<2"), QStringLiteral("einops")}));
    QApplication::clipboard()->setText(QStringLiteral("pip install torch 'scipy>1'"));
    QTest::keySequence(line, QKeySequence::Paste);
    QCOMPARE(field->tokens().size(), 4);
    QTest::keyClick(line, Qt::Key_Backspace); // the last one comes back to be edited
    QCOMPARE(line->text(), QStringLiteral("scipy>1"));
    QTest::keyClick(line, Qt::Key_Return);
    QCOMPARE(field->tokens().size(), 4);
    // The arrows lead to the tokens and back.
    line->setFocus();
    QTest::keyClick(line, Qt::Key_Left);
    QVERIFY(QApplication::focusWidget()->accessibleName().startsWith(QStringLiteral("Edit scipy>1")));
    QTest::keyClick(QApplication::focusWidget(), Qt::Key_Right);
    QCOMPARE(QApplication::focusWidget(), line);
    QTest::keyClicks(line, QStringLiteral("not a package!"));
    QTest::keyClick(line, Qt::Key_Return);
    QVERIFY(form()->row("python_packages")->hasError());
    m_page->draft().undo();
    QVERIFY(!form()->row("python_packages")->hasError());
}

void SandboxFormTest::fileAndFormStayInStep()
{
    const auto folder = experiment(
        "# mine\n[sandbox]\nmemory = \"8 GiB\"  # enough\nname = \"one\"\nfuture = 3\n\n[other]\nx = 1\n");
    openExperiment(folder);
    QCOMPARE(m_page->draft().source("memory"), Draft::Source::File);
    QCOMPARE(editor<QLineEdit>("memory")->text(), QStringLiteral("8 GiB"));
    auto* text = m_page->filePane()->editor();
    // From the form to the file …
    editor<QLineEdit>("name")->selectAll();
    QTest::keyClicks(editor<QLineEdit>("name"), QStringLiteral("two"));
    QVERIFY(text->toPlainText().contains(QStringLiteral("name = \"two\"")));
    QVERIFY(text->toPlainText().contains(QStringLiteral("memory = \"8 GiB\"  # enough")));
    QVERIFY(text->toPlainText().contains(QStringLiteral("future = 3")));
    // … and back.
    auto typed = text->toPlainText();
    text->setPlainText(typed.replace(QStringLiteral("two"), QStringLiteral("three")));
    QVERIFY(waitFor([this] { return m_page->draft().value("name") == "three"; }));
    QCOMPARE(editor<QLineEdit>("name")->text(), QStringLiteral("three"));
    for (auto* action : m_page->pageActions())
        if (action->shortcut() == QKeySequence(QStringLiteral("Ctrl+S")))
            action->trigger();
    QVERIFY(waitFor([this] { return !m_page->draft().isDirty(); }));
    QFile file(folder + QStringLiteral("/experiment.toml"));
    QVERIFY(file.open(QIODevice::ReadOnly));
    QCOMPARE(file.readAll(),
        QByteArray("# mine\n[sandbox]\nmemory = \"8 GiB\"  # enough\nname = \"three\"\nfuture = "
                   "3\n\n[other]\nx = 1\n"));
    // What cannot be read leaves the form alone.
    text->setPlainText(QStringLiteral("[sandbox\nname ="));
    auto* banner = m_page->filePane()->findChild<Banner*>();
    QVERIFY(waitFor([banner] { return banner->isVisibleTo(banner->parentWidget()); }));
    QVERIFY(m_page->draft().value("name") == Json("three"));
}

void SandboxFormTest::whatCannotBeReadIsNotStarted()
{
    const auto folder = experiment("[sandbox]\nname = \"one");
    openExperiment(folder);
    const auto* start = m_page->primaryAction();
    QVERIFY(waitFor([start] { return start->toolTip().contains(QStringLiteral("experiment.toml")); }));
    QVERIFY(waitFor([this] { return m_page->settled(); }) && !start->isEnabled());
    QFile file(folder + QStringLiteral("/experiment.toml"));
    QVERIFY(file.open(QIODevice::WriteOnly | QIODevice::Truncate));
    file.write("[sandbox]\nname = \"other\"\n");
    file.close();
    test::tellExperiment(*m_daemon, folder.toStdString());
    QVERIFY(waitFor([start] { return start->isEnabled(); }));
    QVERIFY(m_page->draft().value("name") == Json("other"));
}

void SandboxFormTest::changeOnDiskIsNoticed()
{
    const auto folder = experiment("[sandbox]\nname = \"one\"\ncpu = 2\n");
    openExperiment(folder);
    m_page->draft().set("cpu", 8);
    QFile file(folder + QStringLiteral("/experiment.toml"));
    QVERIFY(file.open(QIODevice::WriteOnly | QIODevice::Truncate));
    file.write("[sandbox]\nname = \"other\"\ncpu = 4\n");
    file.close();
    test::tellExperiment(*m_daemon, folder.toStdString());
    QVERIFY(waitFor([this] { return m_page->draft().value("name") == "other"; }));
    QVERIFY(m_page->draft().value("cpu") == Json(8));
    const auto banners = m_page->findChildren<Banner*>(QString(), Qt::FindDirectChildrenOnly);
    QCOMPARE(banners.size(), 1);
    QVERIFY(banners.first()->isVisible());
    for (auto* button : banners.first()->findChildren<QPushButton*>())
        if (button->text() == QStringLiteral("Take theirs"))
            button->click();
    QVERIFY(m_page->draft().value("cpu") == Json(4));
    QVERIFY(!banners.first()->isVisible());
}

void SandboxFormTest::secretsSayWhereTheyAre()
{
    const auto folder = experiment("[sandbox]\n");
    openExperiment(folder);
    test::tellExperiment(*m_daemon, folder.toStdString(), {"IN_FILE"});
    qputenv("IN_ENVIRONMENT", "secret-value");
    m_page->draft().set("secrets", {"IN_ENVIRONMENT", "IN_FILE", "STORED", "NOWHERE"});
    const auto chips = [this] {
        QStringList texts;
        for (const auto* chip : form()->row("secrets")->findChildren<QPushButton*>())
            texts += chip->text();
        return texts;
    };
    QTRY_COMPARE_WITH_TIMEOUT(chips(),
        QStringList({QString::fromUtf8("IN_ENVIRONMENT · in your environment"),
            QString::fromUtf8("IN_FILE · in .env"), QString::fromUtf8("STORED · in the key store"),
            QString::fromUtf8("NOWHERE · not found")}),
        20'000);
    // A name is written into the file, a value never is.
    QVERIFY(!m_page->filePane()->editor()->toPlainText().contains(QStringLiteral("secret-value")));
    QVERIFY(m_page->filePane()->editor()->toPlainText().contains(QStringLiteral("IN_ENVIRONMENT")));
    qunsetenv("IN_ENVIRONMENT");
}

void SandboxFormTest::aMissingGpuIsAskedAbout()
{
    m_daemon->on("sandboxes.plan", [](const Json& params, const std::string&) -> Result<api::Answer> {
        if (params["spec"].contains("gpu") && params["spec"]["gpu"].is_string())
            return fail("spec.invalid", "gpu: this provider has no GPU to give", Json{{"field", "gpu"}});
        return api::Answer{somePlan(), {}};
    });
    const auto asks = [this] { return button(QStringLiteral("Run without a GPU")) != nullptr; };
    m_page->draft().set(Json{{"gpu", "A100"}, {"gpu_count", 2}});
    QVERIFY(waitFor(asks));
    QVERIFY(!m_page->primaryAction()->isEnabled());
    gb::test::picture(*m_page, QStringLiteral("form-gpu"));
    // Another provider: its field is gone to, and choosing one asks for a plan again.
    button(QStringLiteral("Another provider"))->click();
    QVERIFY(form()->row("provider")->isAncestorOf(QApplication::focusWidget()));
    // Not at all: nothing starts.
    button(QStringLiteral("Do not start"))->click();
    QVERIFY(!asks());
    QVERIFY(!m_page->primaryAction()->isEnabled());
    // Without.
    m_page->draft().set("memory", 8 * oneGib);
    QVERIFY(waitFor(asks));
    button(QStringLiteral("Run without a GPU"))->click();
    QVERIFY(waitFor([this] { return m_page->planPanel()->phase() == PlanPanel::Phase::Planned; }));
    QVERIFY(m_page->draft().value("gpu").is_null());
    QVERIFY(m_page->primaryAction()->isEnabled());
}

void SandboxFormTest::anAdapterNamesItsBase()
{
    m_daemon->on("models.show", Json{{"base", {{"repo", "org/base"}}}});
    auto* models = qobject_cast<RecordsField*>(form()->row("models")->field());
    models->append({{"name", "org/adapter"}});
    for (auto* box : models->findChildren<QCheckBox*>())
        if (box->text() == QStringLiteral("Adapter"))
            box->click();
    QVERIFY(waitFor([models] { return stringOr(models->record(0), "base_model") == "org/base"; }));
    QVERIFY(stringOr(m_daemon->last("models.show"), "model") == "org/adapter");
    QVERIFY(!form()->row("models")->hasError());
    // What a person wrote is not replaced.
    models->setRecord(0, {{"name", "org/adapter"}, {"base_model", "mine/base"}, {"is_peft", true}});
    QCOMPARE(m_daemon->asked("models.show"), 1);
}

void SandboxFormTest::presetsAndMyDefault()
{
    auto* menu = m_page->findChild<QMenu*>();
    const auto choose = [menu](const QString& title) {
        for (auto* each : menu->actions())
            if (each->text() == title)
                each->trigger();
    };
    choose(QStringLiteral("Small and short"));
    QCOMPARE(m_page->draft().source("memory"), Draft::Source::Preset);
    QVERIFY(m_page->draft().value("memory") == Json(4 * oneGib));
    m_page->draft().undo();
    QVERIFY(m_page->draft().value("memory").is_null());
    // What is saved as the default is where the next form begins; its name is not.
    m_page->draft().set(Json{{"name", "only this one"}, {"timeout", 1200}});
    action(QStringLiteral("Save as my default"))->trigger();
    SandboxesPage next(*m_client);
    const auto& draft = next.draft();
    QVERIFY(draft.value("timeout") == Json(1200));
    QCOMPARE(draft.source("timeout"), Draft::Source::Preset);
    QVERIFY(draft.value("name") != Json("only this one"));
    remembered().remove(QStringLiteral("sandbox/default"));
}

void SandboxFormTest::pictures()
{
    m_page->draft().set(Json::parse(R"({"name": "a name that is long enough to be in the way of others",
        "memory": "8 Gib or so", "gpu_count": 3, "python_packages": ["numpy>=1.26", "not a package!", "torch",
        "transformers", "a-package-with-quite-a-long-name[extra]==1.2.3"], "secrets": ["HF_TOKEN", "NO_SUCH"],
        "models": [{"name": "org/one"}, {"name": "org/adapter", "is_peft": true}],
        "repos": [{"url": "org/repo", "install": "pip install -e ."}, {"url": "what is this"}],
        "local_dirs": [["data", "/workspace/data"], {"local": "x", "inside": "relative", "mode": "writable"}],
        "env": {"A": "1", "HF_TOKEN": "x"}, "network": ["data.example.org", "https://x"], "idle_timeout": 9000,
        "timeout": 3600})"));
    for (const auto scheme : {Scheme::Light, Scheme::Dark}) {
        Theme::instance().apply({scheme});
        const auto theme = scheme == Scheme::Dark ? QStringLiteral("dark") : QStringLiteral("light");
        for (int i = 0; i < form()->sections().size(); i += 2) {
            form()->showSection(i);
            QTest::qWait(1);
            const auto image = test::picture(*m_page, QStringLiteral("form-%1-%2").arg(theme).arg(i));
            QVERIFY(test::colorsIn(image) > 8);
        }
    }
    Theme::instance().apply({Scheme::Light});
}

QTEST_MAIN(SandboxFormTest)
#include "tst_sandboxform.moc"
