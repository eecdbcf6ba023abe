// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <csignal>

#include <QAction>
#include <QApplication>
#include <QDesktopServices>
#include <QFile>
#include <QLabel>
#include <QLineEdit>
#include <QPushButton>
#include <QTemporaryDir>
#include <QTest>

#include <tests/support/hubserver/hubserver.h>
#include <tests/support/livedaemon.h>
#include <tests/support/picture.h>
#include <widgets/controls/banner.h>
#include <widgets/controls/numbers.h>
#include <widgets/controls/splitter.h>
#include <widgets/controls/theme.h>
#include <widgets/forms/draft.h>
#include <widgets/pages/models/modelsitemmodel.h>
#include <widgets/pages/models/modelspage.h>
#include <widgets/pages/sandboxes/planpanel.h>
#include <widgets/pages/sandboxes/runningview.h>
#include <widgets/pages/sandboxes/sandboxespage.h>
#include <widgets/pages/sandboxes/steprow.h>
#include <widgets/shell/mainwindow.h>

using namespace gb;
using namespace gb::ui;

namespace {

constexpr std::uint64_t mebi = 1U << 20U;
constexpr std::int64_t slowRate = 500'000; // of each connection: there is time to look

} // namespace

// The life of models at the real window, with the real daemon and provider and a scripted hub.
class ModelsByHandTest : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void initTestCase();
    void cleanupTestCase();
    void addedWatchedPausedKilledAndVerified();
    void usedByASandboxAndDeleted();
    void fetchedByAStart();
    void severalComeSideBySide();
    void whatCannotComeShowsTheWayOut();
    void openPage(const QUrl& page) { m_opened = page; }

private:
    bool waitFor(const std::function<bool()>& condition)
    {
        return QTest::qWaitFor(condition, test::daemonTimeoutMs);
    }
    ModelsPage* models() const { return qobject_cast<ModelsPage*>(m_window->currentPage()); }
    SandboxesPage* sandboxes() const { return qobject_cast<SandboxesPage*>(m_window->currentPage()); }
    PlanPanel* plan() const { return sandboxes()->planPanel(); }
    const ModelRow* row(const QString& repo) const;
    bool isIn(const QString& repo, const char* state) const;
    bool act(const QString& text) const;
    QPushButton* button(const QString& text) const;
    static QString textsOf(const QWidget* widget);
    QString shown() const { return textsOf(plan()); }
    StepRow* modelStep() const;
    bool planFor(const char* repo, const char* name);
    void pictures(const QString& name);

    QTemporaryDir m_folder;
    test::HubServer m_files;
    test::HubServer m_hub;
    std::unique_ptr<api::Client> m_client;
    std::unique_ptr<MainWindow> m_window;
    QUrl m_opened;
};

void ModelsByHandTest::initTestCase()
{
    for (const auto& [name, size] : {std::pair("org/first", 8 * mebi), {"org/fetched", 8 * mebi},
             {"org/second", 8 * mebi}, {"org/third", 8 * mebi}, {"org/gated", mebi}}) {
        auto& repo = m_hub.addRepo(name);
        repo.files["config.json"] = {.content = R"({"model_type": "llama"})"};
        repo.files["model.safetensors"] = {.content = {}, .generated = size, .lfs = true};
    }
    m_hub.addRepo("org/gated").gated = "manual";
    m_hub.setLfsHost(&m_files);
    qputenv("HF_HUB_OFFLINE", "0"); // the hub of this test is here
    qputenv("HF_ENDPOINT", QByteArray::fromStdString(m_hub.url()));
    qputenv("HF_HOME", m_folder.filePath(QStringLiteral("hf")).toLocal8Bit());
    qunsetenv("HF_TOKEN");
    qunsetenv("HF_HUB_CACHE");
    m_client = test::liveClient(m_folder.path());
    setRememberedFile(m_folder.filePath(QStringLiteral("window.ini")));
    Theme::instance().apply({Scheme::Light});
    QDesktopServices::setUrlHandler(QStringLiteral("http"), this, "openPage");
    m_client->open();
    QVERIFY(waitFor([this] { return m_client->state() == api::Client::State::Connected; }));
    m_window = std::make_unique<MainWindow>(*m_client);
    m_window->resize(1280, 800);
    m_window->show();
    QVERIFY(QTest::qWaitForWindowActive(m_window.get()));
}

void ModelsByHandTest::cleanupTestCase()
{
    QDesktopServices::unsetUrlHandler(QStringLiteral("http"));
    m_window.reset();
    // A daemon that leaves would leave them running.
    const auto known = m_client->items("sandboxes");
    for (const auto& [id, item] : known.items())
        m_client->call(this, "sandboxes.stop", {{"sandbox", id}}, [](const auto&) {});
    QVERIFY(waitFor([this] {
        return std::ranges::all_of(m_client->items("sandboxes"),
            [](const Json& item) { return stringOr(item, "state") == "stopped"; });
    }));
    for (const auto& [id, item] : known.items())
        m_client->call(this, "sandboxes.rm", {{"sandbox", id}}, [](const auto&) {});
    QVERIFY(waitFor([this] { return m_client->items("sandboxes").empty(); }));
    test::endLive(m_client);
}

const ModelRow* ModelsByHandTest::row(const QString& repo) const
{
    const auto* model = models()->model();
    for (int i = 0; i < model->rowCount(); ++i)
        if (const auto* found = model->rowAt(model->index(i, 0)); found->repo == repo)
            return found;
    return nullptr;
}

bool ModelsByHandTest::isIn(const QString& repo, const char* state) const
{
    const auto* found = row(repo);
    return found && found->state == QLatin1String(state);
}

bool ModelsByHandTest::act(const QString& text) const
{
    for (auto* action : models()->pageActions())
        if (action->text() == text && action->isEnabled()) {
            action->trigger();
            return true;
        }
    return false;
}

QPushButton* ModelsByHandTest::button(const QString& text) const
{
    for (auto* each : m_window->currentPage()->findChildren<QPushButton*>())
        if (each->text() == text && each->isVisible())
            return each;
    return nullptr;
}

QString ModelsByHandTest::textsOf(const QWidget* widget)
{
    QStringList texts;
    for (const auto* label : widget->findChildren<QLabel*>())
        if (label->isVisible())
            texts += label->text();
    return texts.join(QLatin1Char('\n'));
}

StepRow* ModelsByHandTest::modelStep() const
{
    for (auto* step : plan()->findChildren<StepRow*>())
        if (step->title().startsWith(QLatin1String("Model ")) && step->isVisible())
            return step;
    return nullptr;
}

bool ModelsByHandTest::planFor(const char* repo, const char* name)
{
    m_window->showPage(QStringLiteral("sandbox"));
    if (!waitFor([this] { return sandboxes() && sandboxes()->settled(); }))
        return false;
    sandboxes()->showPlace(QString());
    plan()->forget();
    sandboxes()->draft().set(Json{{"name", name}, {"interpreter", "/usr/bin/python3"},
        {"models", Json::array({Json{{"name", repo}}})}});
    const auto title = QStringLiteral("Model ") + QLatin1String(repo);
    return waitFor([&] {
        return plan()->phase() == PlanPanel::Phase::Planned && modelStep() && modelStep()->title() == title;
    });
}

void ModelsByHandTest::pictures(const QString& name)
{
    const bool looked = qEnvironmentVariableIsSet("GB_PICTURES");
    for (const auto scheme : {Scheme::Dark, Scheme::Light}) {
        if (!looked && scheme == Scheme::Dark)
            continue;
        Theme::instance().apply({scheme});
        QTest::qWait(1);
        const auto theme = scheme == Scheme::Dark ? QStringLiteral("-dark") : QStringLiteral("-light");
        QVERIFY(test::colorsIn(test::picture(*m_window, QStringLiteral("fetch-") + name + theme)) > 8);
    }
}

void ModelsByHandTest::addedWatchedPausedKilledAndVerified()
{
    const auto repo = QStringLiteral("org/first");
    m_files.setBytesPerSecond(slowRate);
    m_window->showPage(QStringLiteral("models"));
    QVERIFY(waitFor([this] { return models() && models()->settled(); }));
    auto* field = models()->findChild<QLineEdit*>(QStringLiteral("model"));
    models()->find();
    field->setText(repo);
    QTest::keyClick(field, Qt::Key_Return);
    QVERIFY(waitFor([&] { return isIn(repo, "downloading") && row(repo)->done > 0; }));
    models()->showPlace(repo);
    QVERIFY(waitFor([&] { return act(QStringLiteral("Pause")); }));
    QVERIFY(waitFor([&] { return isIn(repo, "paused"); }));
    QVERIFY(waitFor([&] { return act(QStringLiteral("Resume")); }));
    QVERIFY(waitFor([&] { return isIn(repo, "downloading"); }));
    const auto killed = integerOr(m_client->daemonInfo(), "pid");
    QVERIFY(killed > 1);
    QCOMPARE(::kill(static_cast<pid_t>(killed), SIGKILL), 0);
    // The window finds the next daemon, which goes on with what it finds in the queue.
    QVERIFY(waitFor([&] {
        return m_client->state() == api::Client::State::Connected
            && integerOr(m_client->daemonInfo(), "pid") != killed;
    }));
    m_files.setBytesPerSecond(0);
    QVERIFY(waitFor([&] { return isIn(repo, "ready") || isIn(repo, "cached"); }));
    models()->showPlace(repo);
    QVERIFY(waitFor([&] { return act(QStringLiteral("Verify")); }));
    auto* banner = models()->findChild<Banner*>(QStringLiteral("page"));
    QVERIFY(waitFor([&] { return banner->title().contains(QStringLiteral("is whole")); }));
}

void ModelsByHandTest::usedByASandboxAndDeleted()
{
    const auto repo = QStringLiteral("org/first");
    QVERIFY(planFor("org/first", "user of it"));
    QVERIFY(shown().contains(QStringLiteral("already there")));
    sandboxes()->primaryAction()->trigger();
    QVERIFY(waitFor([this] { return sandboxes()->running()->isVisible(); }));
    m_window->showPage(QStringLiteral("models"));
    QVERIFY(waitFor([&] { return models() && models()->settled() && row(repo); }));
    models()->showPlace(repo);
    auto* banner = models()->findChild<Banner*>(QStringLiteral("page"));
    // Who uses it is known once its sandbox has been asked for its spec.
    QVERIFY(waitFor([&] {
        return act(QStringLiteral("Delete…")) && textsOf(banner).contains(QStringLiteral("user of it"));
    }));
    pictures(QStringLiteral("used"));
    button(QStringLiteral("Delete"))->click();
    QVERIFY(waitFor([&] { return row(repo) == nullptr; }));
    QVERIFY(!QFile::exists(m_folder.filePath(QStringLiteral("hf/hub/models--org--first"))));
}

void ModelsByHandTest::fetchedByAStart()
{
    const auto size = bytesText(8 * mebi);
    m_files.setBytesPerSecond(slowRate / 10); // it must not end before it is cancelled
    QVERIFY(planFor("org/fetched", "fetches"));
    QVERIFY2(shown().contains(QStringLiteral("to download · ") + size), qPrintable(shown()));
    pictures(QStringLiteral("planned"));
    sandboxes()->primaryAction()->trigger();
    QVERIFY(waitFor([&] { return shown().contains(QStringLiteral("of ") + size); }));
    QCOMPARE(modelStep()->state(), StepRow::State::Running);
    pictures(QStringLiteral("downloading"));
    // It is one download: the one of the Models page, too.
    QCOMPARE(m_client->items("models").size(), std::size_t{1});
    button(QStringLiteral("Cancel"))->click();
    QVERIFY(waitFor([this] { return plan()->phase() == PlanPanel::Phase::Cancelled; }));
    pictures(QStringLiteral("cancelled"));
    QVERIFY(waitFor([this] { return m_client->items("models").empty(); }));
    m_files.setBytesPerSecond(0);
    QVERIFY(planFor("org/fetched", "fetches again"));
    sandboxes()->primaryAction()->trigger();
    QVERIFY(waitFor([this] { return sandboxes()->running()->isVisible(); }));
}

void ModelsByHandTest::severalComeSideBySide()
{
    m_files.setBytesPerSecond(slowRate);
    QVERIFY(planFor("org/second", "fetches two"));
    sandboxes()->draft().set(Json{{"models",
        Json::array({Json{{"name", "org/second"}}, Json{{"name", "org/third"}, {"var_name", "b"}}})}});
    QVERIFY(waitFor([this] { return shown().contains(QStringLiteral("Model org/third")); }));
    sandboxes()->primaryAction()->trigger();
    const auto coming = [this] {
        const auto& items = m_client->items("models");
        return std::ranges::count_if(items, [](const Json& item) {
            return stringOr(item, "state") == "downloading" && integerOr(item, "done") > 0;
        });
    };
    QVERIFY(waitFor([&coming] { return coming() == 2; }));
    pictures(QStringLiteral("two"));
    // Both go when nobody waits for them any more.
    button(QStringLiteral("Cancel"))->click();
    QVERIFY(waitFor([this] { return plan()->phase() == PlanPanel::Phase::Cancelled; }));
    QVERIFY(waitFor([this] {
        return std::ranges::none_of(m_client->items("models"),
            [](const Json& item) { return stringOr(item, "repo") != "org/fetched"; });
    }));
    m_files.setBytesPerSecond(0);
}

void ModelsByHandTest::whatCannotComeShowsTheWayOut()
{
    QVERIFY(planFor("org/gated", "refused"));
    QVERIFY2(shown().contains(QStringLiteral("needs access")), qPrintable(shown()));
    pictures(QStringLiteral("planned-gated"));
    QVERIFY(!sandboxes()->primaryAction()->isEnabled());
    button(QStringLiteral("Open the model's page"))->click();
    QCOMPARE(m_opened.toString(), QString::fromStdString(m_hub.url()) + QStringLiteral("/org/gated"));
    // What is in the way is one key away.
    QTest::keyClick(m_window.get(), Qt::Key_Return, Qt::ControlModifier);
    QCOMPARE(QApplication::focusWidget()->accessibleName(), QStringLiteral("Model"));
    QVERIFY(planFor("org/nothing-of-this-name", "refused"));
    QVERIFY(!sandboxes()->primaryAction()->isEnabled());
    QVERIFY(!button(QStringLiteral("Open the model's page")));
    pictures(QStringLiteral("unknown"));
    // Access was granted meanwhile: the same start goes through.
    m_hub.addRepo("org/gated").gated.clear();
    QVERIFY(planFor("org/gated", "granted"));
    QVERIFY(shown().contains(QStringLiteral("to download")));
    sandboxes()->primaryAction()->trigger();
    QVERIFY(waitFor([this] { return sandboxes()->running()->isVisible(); }));
}

QTEST_MAIN(ModelsByHandTest)
#include "tst_modelsbyhand.moc"
