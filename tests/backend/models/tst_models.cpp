// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

#include <QSignalSpy>
#include <QTest>

#include <backend/models/modeldownloads.h>
#include <backend/models/modelqueries.h>
#include <tests/support/hubserver/hubserver.h>
#include <tests/support/temporary.h>

using namespace gb;
using gb::test::Fault;
using gb::test::HubServer;
using State = ModelDownloads::State;

namespace {

constexpr std::uint64_t mebi = 1U << 20U;

std::string oneTensor()
{
    const std::string header = "{\"w\":{\"dtype\":\"F16\",\"shape\":[4,2],\"data_offsets\":[0,16]}}";
    std::string length(8, '\0');
    length[0] = static_cast<char>(header.size());
    return length + header + std::string(16, '\1');
}

class Scene
{
public:
    Scene()
    {
        auto& base = hub.addRepo("org/base");
        base.files["config.json"] = {.content = "{\"model_type\":\"llama\"}"};
        base.files["model.safetensors"] = {.content = {}, .generated = 4 * mebi, .lfs = true};
        auto& adapter = hub.addRepo("org/adapter");
        adapter.files["adapter_config.json"] = {
            .content = "{\"peft_type\":\"LORA\",\"base_model_name_or_path\":\"org/base\"}"};
        adapter.files["adapter_model.safetensors"] = {.content = oneTensor(), .lfs = true};
        hub.setLfsHost(&cdn);
        hub.setToken("secret");
        options.fetch.keepFree = 0;
        options.fetch.file.retry = {.attempts = 3, .baseMs = 2, .capMs = 5};
        options.fetch.file.stallMs = 10'000;
        options.retryFirstMs = 20;
        options.stalledAfterMs = 100;
        open();
    }

    void open()
    {
        downloads.reset();
        auto opened = ModelDownloads::open(folder.path() / "models.json", options);
        downloads = opened ? std::move(*opened) : nullptr;
    }

    DownloadSpec spec(const std::string& repo, const std::string& token = "secret") const
    {
        DownloadSpec spec;
        spec.model.repo = repo;
        spec.hub.endpoint = hub.url();
        spec.hub.cache = folder.path() / "cache";
        spec.hub.token = token;
        return spec;
    }

    std::string add(const std::string& repo, const std::string& token = "secret")
    {
        return downloads->add(spec(repo, token)).value_or("");
    }
    QString state(const std::string& id) const
    {
        return QString::fromUtf8(toString(downloads->state(id)).data());
    }

    HubServer cdn;
    HubServer hub;
    test::TemporaryFolder folder;
    ModelDownloads::Options options;
    std::unique_ptr<ModelDownloads> downloads;
};

} // namespace

class TestModels : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void becomesReady();
    void anAdapterHasTwoParts();
    void anAdapterOfAGatedBaseWaits();
    void pausesAndResumes();
    void goesOnAfterARestart();
    void keepsNoToken();
    void saysWhenItStalls();
    void theNetworkComesBack();
    void failsWithAReason();
    void goesByPriority();
    void answersQuestions();
    void refusesAForeignFile();
};

void TestModels::becomesReady()
{
    Scene scene;
    const std::string id = scene.add("org/base");
    std::vector<QString> states;
    connect(scene.downloads.get(), &ModelDownloads::changed, this, [&] {
        if (states.empty() || states.back() != scene.state(id))
            states.push_back(scene.state(id));
    });
    QTRY_COMPARE(scene.state(id), "ready");
    const Json item = scene.downloads->item(id);
    QCOMPARE(integerOr(item, "done"), std::int64_t(4 * mebi + 22));
    QVERIFY(item["done"] == item["total"]);
    QCOMPARE(QString::fromStdString(item["parts"][0]["files"][1]["state"]), "ready");
    QVERIFY(!item.contains("rate"));
    QVERIFY(fs::exists(fs::path(stringOr(item["outcome"]["parts"][0], "snapshot")) / "model.safetensors"));
    QVERIFY(std::ranges::count(states, QString("downloading")) > 0);
    // Asked for again it is the same one, checked again.
    QCOMPARE(scene.add("org/base"), id);
    QTRY_COMPARE(scene.state(id), "ready");
    QVERIFY(!scene.downloads->isBusy());
}

void TestModels::anAdapterHasTwoParts()
{
    Scene scene;
    const std::string id = scene.add("org/adapter");
    QTRY_COMPARE(scene.state(id), "ready");
    const Json item = scene.downloads->item(id);
    QCOMPARE(item["parts"].size(), std::size_t(2));
    QCOMPARE(QString::fromStdString(item["parts"][0]["role"]), "adapter");
    QCOMPARE(QString::fromStdString(item["parts"][1]["repo"]), "org/base");
    QCOMPARE(item["outcome"]["parts"].size(), std::size_t(2));
}

void TestModels::anAdapterOfAGatedBaseWaits()
{
    Scene scene;
    scene.hub.addRepo("org/base").gated = "auto";
    const std::string id = scene.add("org/adapter", "");
    QTRY_COMPARE(scene.state(id), "waiting_access");
    const Json item = scene.downloads->item(id);
    QCOMPARE(QString::fromStdString(item["reason"]["data"]["page"]),
        QString::fromStdString(scene.hub.url() + "/org/base"));
    // Nothing was fetched before all access was known.
    QCOMPARE(scene.cdn.requests().size(), std::size_t(0));
    // The re-check, now with a token that has access.
    QVERIFY(scene.downloads->resume(id, "secret").has_value());
    QTRY_COMPARE(scene.state(id), "ready");
}

void TestModels::pausesAndResumes()
{
    Scene scene;
    scene.cdn.setBytesPerSecond(mebi / 2);
    const std::string id = scene.add("org/base");
    QTRY_VERIFY(integerOr(scene.downloads->item(id), "done") > 100'000);
    scene.downloads->pauseAll();
    QCOMPARE(scene.state(id), "paused");
    QTRY_VERIFY(!scene.downloads->isBusy());
    QCOMPARE(scene.state(id), "paused");
    scene.open();
    QCOMPARE(scene.state(id), "paused");
    scene.cdn.setBytesPerSecond(0);
    QVERIFY(scene.downloads->resume(id, "secret").has_value());
    QTRY_COMPARE(scene.state(id), "ready");
}

void TestModels::goesOnAfterARestart()
{
    Scene scene;
    scene.cdn.setBytesPerSecond(mebi / 2);
    const std::string id = scene.add("org/base", "");
    QTRY_COMPARE(scene.state(id), "downloading");
    scene.cdn.setBytesPerSecond(0);
    scene.open();
    QTRY_COMPARE(scene.state(id), "ready");
}

void TestModels::keepsNoToken()
{
    Scene scene;
    scene.cdn.setBytesPerSecond(mebi / 2);
    const std::string id = scene.add("org/base", "secret");
    QTRY_COMPARE(scene.state(id), "downloading");
    const std::string text = *readFile(scene.folder.path() / "models.json");
    QVERIFY(text.find("org/base") != std::string::npos);
    QVERIFY(text.find("secret") == std::string::npos);
    scene.open();
    QCOMPARE(scene.state(id), "waiting_access");
    QCOMPARE(QString::fromStdString(scene.downloads->item(id)["reason"]["code"]), "models.needs_token");
    scene.cdn.setBytesPerSecond(0);
    QVERIFY(scene.downloads->resume(id, "secret").has_value());
    QTRY_COMPARE(scene.state(id), "ready");
}

void TestModels::saysWhenItStalls()
{
    Scene scene;
    scene.cdn.addFault({.kind = Fault::Kind::Stall, .path = "", .times = -1, .bytes = 1000});
    const std::string id = scene.add("org/base");
    QTRY_COMPARE(scene.state(id), "stalled");
    const Json item = scene.downloads->item(id);
    QCOMPARE(numberOr(item, "rate", -1), 0.0);
    QVERIFY(!item.contains("remaining_s"));
    QVERIFY(integerOr(item, "since") > 0);
}

void TestModels::theNetworkComesBack()
{
    Scene scene;
    scene.hub.addFault({.kind = Fault::Kind::Close, .path = "/revision/main", .times = 5});
    const std::string id = scene.add("org/base");
    QTRY_COMPARE(scene.state(id), "stalled");
    QTRY_COMPARE(scene.state(id), "ready");
}

void TestModels::failsWithAReason()
{
    Scene scene;
    const std::string id = scene.add("org/nothing");
    QTRY_COMPARE(scene.state(id), "failed");
    QCOMPARE(QString::fromStdString(scene.downloads->item(id)["reason"]["code"]), "hub.model_not_found");
    QVERIFY(scene.downloads->forget(id).has_value());
    QVERIFY(scene.downloads->item(id).is_null());
    QVERIFY(scene.downloads->ids().empty());
}

void TestModels::goesByPriority()
{
    Scene scene;
    scene.options.atOnce = 1;
    scene.open();
    scene.cdn.setBytesPerSecond(mebi);
    const std::string first = scene.add("org/base");
    DownloadSpec low = scene.spec("org/adapter");
    const std::string second = *scene.downloads->add(low);
    DownloadSpec high = scene.spec("org/base");
    high.choice.include = {"config.json"};
    high.priority = 5;
    const std::string third = *scene.downloads->add(high);
    QCOMPARE(scene.state(second), "queued");
    QTRY_COMPARE(scene.state(third), "ready");
    QVERIFY(scene.state(second) != "ready");
    scene.cdn.setBytesPerSecond(0);
    QTRY_COMPARE(scene.state(second), "ready");
    QCOMPARE(scene.state(first), "ready");
}

void TestModels::answersQuestions()
{
    Scene scene;
    hub::HubSettings settings = scene.spec("org/adapter").hub;
    const hub::ModelName name{.repo = "org/adapter", .revision = "main"};
    // Before the download: size, parameters, the base.
    const auto before = showModel(settings, name, {});
    QVERIFY(before.has_value());
    QCOMPARE(integerOr((*before)["tensors"], "parameters"), std::int64_t(8));
    QCOMPARE(QString::fromStdString(stringOr(*before, "base")), "org/base");
    QVERIFY(!before->at("files")[0]["cached"]);
    const std::string id = scene.add("org/adapter");
    QTRY_COMPARE(scene.state(id), "ready");
    const auto list = listModels(settings);
    QCOMPARE(list->at("models").size(), std::size_t(2));
    QVERIFY(integerOr(*list, "bytes") > std::int64_t(4 * mebi));
    settings.offline = true;
    QCOMPARE(showModel(settings, name, {})->at("tensors").dump(), before->at("tensors").dump());

    const hub::ModelName base{.repo = "org/base", .revision = "main"};
    QCOMPARE(verifyModels(settings, base, false, {}, {})->at("bad").size(), std::size_t(0));
    const fs::path weights = fs::path(stringOr(scene.downloads->item(id)["outcome"]["parts"][1], "snapshot"))
        / "model.safetensors";
    std::string bytes = *readFile(weights);
    bytes[5] ^= 1;
    QVERIFY(writeFileAtomic(fs::canonical(weights), bytes).has_value());
    QCOMPARE(verifyModels(settings, base, true, {}, {})->at("bad").size(), std::size_t(1));
    // What was bad is gone, so the next download brings it anew.
    QCOMPARE(scene.add("org/adapter"), id);
    QTRY_COMPARE(scene.state(id), "ready");
    QCOMPARE(verifyModels(settings, base, false, {}, {})->at("bad").size(), std::size_t(0));
    QVERIFY(integerOr(*removeModels(settings, "org/base", "", false), "freed") >= std::int64_t(4 * mebi));
}

void TestModels::refusesAForeignFile()
{
    test::TemporaryFolder folder;
    QVERIFY(writeFileAtomic(folder.path() / "models.json", "something else").has_value());
    QVERIFY(!ModelDownloads::open(folder.path() / "models.json", {}));
    QCOMPARE(*readFile(folder.path() / "models.json"), std::string("something else"));
}

QTEST_GUILESS_MAIN(TestModels)
#include "tst_models.moc"
