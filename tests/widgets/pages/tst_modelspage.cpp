// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

#include <csignal>

#include <QAbstractItemModelTester>
#include <QAction>
#include <QClipboard>
#include <QComboBox>
#include <QGuiApplication>
#include <QLineEdit>
#include <QPushButton>
#include <QTemporaryDir>
#include <QTest>
#include <QTreeView>

#include <tests/support/hubserver/hubserver.h>
#include <tests/support/picture.h>
#include <widgets/controls/banner.h>
#include <widgets/controls/emptystate.h>
#include <widgets/controls/splitter.h>
#include <widgets/controls/theme.h>
#include <widgets/pages/models/modeldetails.h>
#include <widgets/pages/models/modelsitemmodel.h>
#include <widgets/pages/models/modelspage.h>

using namespace gb;
using namespace gb::ui;

namespace {

constexpr std::uint64_t mebi = 1U << 20U;

Json manyDownloads(int count, int step)
{
    Json items = Json::object();
    for (int i = 0; i < count; ++i) {
        const auto id = "d" + std::to_string(1000 + i);
        items[id] = Json{{"id", id}, {"repo", "org/model-" + std::to_string(i)}, {"revision", "main"},
            {"state", "downloading"}, {"since", 1}, {"added_at", 1000 - i}, {"done", step * 1000 + i},
            {"total", 1'000'000}, {"rate", 1e6 + step}, {"remaining_s", 10.0},
            {"parts",
                {{{"role", "model"}, {"repo", "org/model"},
                    {"files",
                        {{{"path", "config.json"}, {"size", 100}, {"done", 100}, {"state", "ready"}},
                            {{"path", "model.safetensors"}, {"size", 999'900}, {"done", step * 1000},
                                {"state", "downloading"}}}}}}}};
    }
    return items;
}

} // namespace

// The page on a real daemon and a scripted hub.
class ModelsPageTest : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void initTestCase();
    void cleanupTestCase();
    void emptyAtFirst();
    void addsAndBecomesReady();
    void looksBeforeDownloading();
    void pausesAndResumes();
    void changesTheLimit();
    void survivesAKilledDaemon();
    void showsWhatFailed();
    void needsAccess();
    void verifiesAndDeletes();
    void refusesNonsense();
    void showsManyRows();

private:
    bool waitFor(const std::function<bool()>& condition) { return QTest::qWaitFor(condition, 20'000); }
    QAction* action(const QString& text) const;
    Banner* banner() const { return m_page->findChild<Banner*>(QStringLiteral("page")); }
    bool pressInBanner(const QString& text) const;
    void add(const QString& name);
    QString state(const QString& repo) const;
    void pictures(const QString& name);

    QTemporaryDir m_folder;
    test::HubServer m_files;
    test::HubServer m_hub;
    std::unique_ptr<api::Client> m_client;
    std::unique_ptr<ModelsPage> m_page;
};

void ModelsPageTest::initTestCase()
{
    m_hub.setToken("secret");
    auto& small = m_hub.addRepo("org/small");
    small.files["config.json"] = {.content = R"({"model_type": "llama", "hidden_size": 64})"};
    small.files["tokenizer.json"] = {.content = "{}"};
    small.files["model.safetensors"] = {.content = {}, .generated = mebi, .lfs = true};
    auto& large = m_hub.addRepo("org/a-model-with-quite-a-long-name-as-they-tend-to-have-instruct-v0.3");
    large.files["config.json"] = {.content = "{}"};
    large.files["model.safetensors"] = {.content = {}, .generated = 24 * mebi, .lfs = true};
    auto& limited = m_hub.addRepo("org/limited");
    limited.files["config.json"] = {.content = "{}"};
    limited.files["model.safetensors"] = {.content = {}, .generated = 60 * mebi, .lfs = true};
    auto& killed = m_hub.addRepo("org/killed");
    killed.files["config.json"] = {.content = "{}"};
    killed.files["model.safetensors"] = {.content = {}, .generated = 16 * mebi, .lfs = true};
    auto& gated = m_hub.addRepo("org/gated");
    gated.files["config.json"] = {.content = "{}"};
    gated.gated = "manual";
    m_hub.setLfsHost(&m_files);

    qunsetenv("HF_HUB_OFFLINE"); // the hub of this test is here
    qputenv("GLOVEBOX_HOME", m_folder.path().toLocal8Bit());
    qputenv("GLOVEBOX_BIN", GB_BIN_DIR);
    qputenv("HF_ENDPOINT", QByteArray::fromStdString(m_hub.url()));
    qputenv("HF_HOME", m_folder.filePath(QStringLiteral("hf")).toLocal8Bit());
    qunsetenv("HF_TOKEN");
    qunsetenv("HF_HUB_CACHE");
    QFile::setPermissions(m_folder.path(), QFile::ReadOwner | QFile::WriteOwner | QFile::ExeOwner);
    setRememberedFile(m_folder.filePath(QStringLiteral("window.ini")));
    Theme::instance().apply({Scheme::Light});
    m_client = std::make_unique<api::Client>(
        api::Client::Options{fs::path(m_folder.path().toStdString()), "window", true, true, {}});
    m_client->watch({"jobs"});
    m_page = std::make_unique<ModelsPage>(*m_client);
    new QAbstractItemModelTester(
        m_page->model(), QAbstractItemModelTester::FailureReportingMode::QtTest, m_page.get());
    m_client->open();
    m_page->resize(1220, 740);
    m_page->show();
    QVERIFY(waitFor([this] { return m_page->settled(); }));
}

void ModelsPageTest::cleanupTestCase()
{
    m_page.reset();
    bool stopped = false;
    m_client->call(this, "daemon.stop", {{"force", true}}, [&stopped](const auto&) { stopped = true; });
    QVERIFY(waitFor([&stopped] { return stopped; }));
    m_client.reset();
}

QAction* ModelsPageTest::action(const QString& text) const
{
    for (auto* action : m_page->pageActions())
        if (action->text() == text)
            return action;
    return nullptr;
}

bool ModelsPageTest::pressInBanner(const QString& text) const
{
    for (auto* button : banner()->findChildren<QPushButton*>())
        if (button->text() == text && button->isVisible()) {
            button->click();
            return true;
        }
    return false;
}

void ModelsPageTest::add(const QString& name)
{
    auto* field = m_page->findChild<QLineEdit*>(QStringLiteral("model"));
    m_page->find();
    field->setText(name);
    QTest::keyClick(field, Qt::Key_Return);
}

QString ModelsPageTest::state(const QString& repo) const
{
    for (int i = 0; i < m_page->model()->rowCount(); ++i)
        if (const auto* row = m_page->model()->rowAt(m_page->model()->index(i, 0)); row->repo == repo)
            return row->state;
    return {};
}

void ModelsPageTest::pictures(const QString& name)
{
    for (const auto scheme : {Scheme::Dark, Scheme::Light}) {
        Theme::instance().apply({scheme});
        const auto kind = scheme == Scheme::Dark ? QStringLiteral("-dark") : QStringLiteral("-light");
        QVERIFY(gb::test::colorsIn(gb::test::picture(*m_page, QStringLiteral("models-") + name + kind)) > 8);
    }
}

void ModelsPageTest::emptyAtFirst()
{
    QCOMPARE(m_page->model()->rowCount(), 0);
    QVERIFY(!m_page->view()->isVisible());
    QVERIFY(m_page->findChild<EmptyState*>()->isVisible());
    pictures(QStringLiteral("empty"));
}

void ModelsPageTest::addsAndBecomesReady()
{
    add(QString::fromStdString(m_hub.url()) + QStringLiteral("/org/small"));
    QVERIFY(waitFor([this] { return state(QStringLiteral("org/small")) == QLatin1String("ready"); }));
    const auto top = m_page->model()->index(0, 0);
    QCOMPARE(m_page->model()->rowCount(top), 3);
    m_page->view()->expand(top);
    QCOMPARE(m_page->view()->currentIndex().row(), 0);
    // What is on the disk is known without asking again.
    QVERIFY(waitFor([this] { return m_page->model()->rowAt(m_page->model()->index(0, 0))->isOnDisk(); }));
    auto* details = m_page->findChild<ModelDetails*>();
    QVERIFY(waitFor([&] { return details->settled(); }));
    QCOMPARE(stringOr(objectOr(details->shown(), "config"), "model_type"), std::string("llama"));
    pictures(QStringLiteral("ready"));
}

void ModelsPageTest::looksBeforeDownloading()
{
    m_page->findChild<QLineEdit*>(QStringLiteral("model"))
        ->setText(QStringLiteral("org/a-model-with-quite-a-long-name-as-they-tend-to-have-instruct-v0.3"));
    action(QStringLiteral("Look first"))->trigger();
    auto* details = m_page->findChild<ModelDetails*>();
    QVERIFY(waitFor([&] { return details->settled(); }));
    QCOMPARE(integerOr(details->shown(), "bytes"), static_cast<std::int64_t>(24 * mebi + 2));
    QCOMPARE(m_page->model()->rowCount(), 1);
}

void ModelsPageTest::pausesAndResumes()
{
    const auto name = QStringLiteral("org/a-model-with-quite-a-long-name-as-they-tend-to-have-instruct-v0.3");
    m_files.setBytesPerSecond(256 * 1024);
    add(name);
    QVERIFY(waitFor([&] {
        const auto* row = m_page->model()->rowAt(m_page->view()->currentIndex());
        return row && row->repo == name && row->state == QLatin1String("downloading") && row->done > 0;
    }));
    m_page->view()->expand(m_page->view()->currentIndex());
    pictures(QStringLiteral("downloading"));
    action(QStringLiteral("Pause"))->trigger();
    QVERIFY(waitFor([&] { return state(name) == QLatin1String("paused"); }));
    m_files.setBytesPerSecond(0);
    QVERIFY(waitFor([this] { return action(QStringLiteral("Resume"))->isVisible(); }));
    action(QStringLiteral("Resume"))->trigger();
    QVERIFY(waitFor([&] { return state(name) == QLatin1String("ready"); }));
}

void ModelsPageTest::changesTheLimit()
{
    auto* limit = m_page->findChild<QComboBox*>(QStringLiteral("rate"));
    const auto choose = [limit](qint64 rate) {
        limit->setCurrentIndex(limit->findData(rate));
        Q_EMIT limit->activated(limit->currentIndex());
    };
    choose(1'000'000);
    add(QStringLiteral("org/limited"));
    QVERIFY(waitFor([this] {
        const auto* row = m_page->model()->rowAt(m_page->view()->currentIndex());
        return row && row->repo == QLatin1String("org/limited") && row->done > 0;
    }));
    QCOMPARE(state(QStringLiteral("org/limited")), QStringLiteral("downloading"));
    // At this limit it would take a minute.
    choose(0);
    QVERIFY(waitFor([this] { return state(QStringLiteral("org/limited")) == QLatin1String("ready"); }));
}

void ModelsPageTest::survivesAKilledDaemon()
{
    const auto name = QStringLiteral("org/killed");
    m_files.setBytesPerSecond(256 * 1024);
    add(name);
    QVERIFY(waitFor([&] {
        const auto* row = m_page->model()->rowAt(m_page->view()->currentIndex());
        return row && row->repo == name && row->state == QLatin1String("downloading") && row->done > 0;
    }));
    const auto pid = integerOr(m_client->daemonInfo(), "pid");
    QCOMPARE(::kill(static_cast<pid_t>(pid), SIGKILL), 0);
    // Another one is started, and goes on with what was on its way.
    QVERIFY(waitFor([&] {
        return m_client->state() == api::Client::State::Connected
            && integerOr(m_client->daemonInfo(), "pid") != pid;
    }));
    m_files.setBytesPerSecond(0);
    QVERIFY(waitFor([&] { return state(name) == QLatin1String("ready"); }));
}

void ModelsPageTest::showsWhatFailed()
{
    add(QStringLiteral("org/nothing-of-this-name"));
    QVERIFY(waitFor(
        [this] { return state(QStringLiteral("org/nothing-of-this-name")) == QLatin1String("failed"); }));
    auto* details = m_page->findChild<ModelDetails*>();
    QVERIFY(waitFor([&] { return details->settled(); }));
    pictures(QStringLiteral("failed"));
    QVERIFY(action(QStringLiteral("Cancel"))->isVisible());
    action(QStringLiteral("Cancel"))->trigger();
    QVERIFY(waitFor([this] { return state(QStringLiteral("org/nothing-of-this-name")).isEmpty(); }));
}

void ModelsPageTest::needsAccess()
{
    add(QStringLiteral("org/gated"));
    QVERIFY(
        waitFor([this] { return state(QStringLiteral("org/gated")) == QLatin1String("waiting_access"); }));
    QVERIFY(waitFor([this] { return action(QStringLiteral("Check again")) != nullptr; }));
    auto* details = m_page->findChild<ModelDetails*>();
    QVERIFY(waitFor([&] { return details->settled(); }));
    pictures(QStringLiteral("gated"));
    for (auto* button : details->findChildren<QPushButton*>())
        if (button->text() == QLatin1String("Copy the page's address"))
            button->click();
    QCOMPARE(QGuiApplication::clipboard()->text(),
        QString::fromStdString(m_hub.url()) + QStringLiteral("/org/gated"));
    m_hub.addRepo("org/gated").gated.clear();
    action(QStringLiteral("Check again"))->trigger();
    QVERIFY(waitFor([this] { return state(QStringLiteral("org/gated")) == QLatin1String("ready"); }));
}

void ModelsPageTest::verifiesAndDeletes()
{
    m_page->showPlace(QStringLiteral("org/small"));
    QVERIFY(waitFor([this] { return action(QStringLiteral("Verify"))->isVisible(); }));
    action(QStringLiteral("Verify"))->trigger();
    QVERIFY(waitFor([this] { return banner()->isVisible(); }));
    QCOMPARE(banner()->title(), QStringLiteral("org/small is whole"));
    action(QStringLiteral("Delete…"))->trigger();
    QCOMPARE(banner()->tone(), Tone::Warning);
    QCOMPARE(state(QStringLiteral("org/small")), QStringLiteral("ready")); // asked, not done
    pictures(QStringLiteral("delete"));
    QVERIFY(pressInBanner(QStringLiteral("Delete")));
    QVERIFY(waitFor([this] { return state(QStringLiteral("org/small")).isEmpty(); }));
    QVERIFY(waitFor([this] { return banner()->isVisible() && banner()->tone() == Tone::Success; }));
    QCOMPARE(banner()->title(), QStringLiteral("Deleted org/small"));
    QVERIFY(!QDir(m_folder.filePath(QStringLiteral("hf/hub/models--org--small"))).exists());
}

void ModelsPageTest::refusesNonsense()
{
    add(QStringLiteral("not a model/../name"));
    QVERIFY(waitFor([this] { return banner()->isVisible() && banner()->tone() == Tone::Error; }));
    pictures(QStringLiteral("error"));
}

void ModelsPageTest::showsManyRows()
{
    // It looks at every row after every change.
    delete m_page->findChild<QAbstractItemModelTester*>();
    m_page->resize(1900, 1150);
    for (int step = 0; step < 3; ++step) {
        m_page->model()->setDownloads(manyDownloads(200, step));
        m_page->view()->expand(m_page->model()->index(step, 0));
        m_page->repaint();
    }
    QVERIFY(m_page->model()->rowCount() >= 200);
    m_page->model()->setDownloads(manyDownloads(1000, 3));
    m_page->view()->setCurrentIndex(m_page->model()->index(500, 0));
    QCoreApplication::processEvents();
    pictures(QStringLiteral("many"));
}

QTEST_MAIN(ModelsPageTest)
#include "tst_modelspage.moc"
