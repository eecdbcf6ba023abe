// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

#include <QProcess>
#include <QTest>

#include <backend/hub/cachescan.h>
#include <backend/hub/fetch.h>
#include <backend/hub/safetensors.h>
#include <tests/support/hubserver/hubserver.h>
#include <tests/support/temporary.h>

using namespace gb;
using namespace gb::hub;
using gb::test::Fault;
using gb::test::HubFile;
using gb::test::HubServer;

namespace {

constexpr std::uint64_t mebi = 1U << 20U;

std::string smallSafetensors()
{
    const std::string header = "{\"w\":{\"dtype\":\"F32\",\"shape\":[2,2],\"data_offsets\":[0,16]}}";
    std::string length(8, '\0');
    length[0] = static_cast<char>(header.size());
    return length + header + std::string(16, '\1');
}

// A hub with a small model whose weights live on another host.
class Scene
{
public:
    Scene() : repo(hub.addRepo("org/model"))
    {
        repo.files["config.json"] = {.content = "{\"model_type\":\"llama\"}"};
        repo.files["tokenizer/vocab.txt"] = {.content = "a b c"};
        repo.files["tokenizer/vocab-copy.txt"] = {.content = "a b c"};
        repo.files["empty.txt"] = {.content = ""};
        repo.files["model.safetensors"] = {.content = {}, .generated = 5 * mebi + 77, .lfs = true};
        repo.files["pytorch_model.bin"] = {.content = "pickle", .lfs = true};
        hub.setToken("secret");
        settings.endpoint = hub.url();
        settings.token = "secret";
        settings.cache = folder.path() / "cache";
        options.keepFree = 0;
        options.file.retry = {.attempts = 4, .baseMs = 2, .capMs = 10};
        options.file.stallMs = 150;
        publishLfs();
    }

    void publishLfs() { hub.setLfsHost(&cdn); }
    HubClient client() { return {downloader, settings, {.attempts = 3, .baseMs = 2, .capMs = 5}, cancel}; }
    Result<Plan> plan(const FileChoice& choice = {})
    {
        return makePlan(client(), {.repo = name, .revision = "main"}, choice);
    }
    Result<FetchReport> fetch(const FileChoice& choice = {})
    {
        const auto made = plan(choice);
        if (!made)
            return fail(made.error());
        return fetchSnapshot(downloader, client(), *made, options, onProgress, cancel);
    }
    HubCache cache() const { return HubCache(settings.cache); }
    int leakedTokens() const
    {
        return static_cast<int>(std::ranges::count_if(
            cdn.requests(), [](const auto& request) { return !request.header("authorization").empty(); }));
    }
    // Paths below snapshots/ whose content is not what the hub has.
    int badPublished() const
    {
        int bad = 0;
        for (const auto& [path, file] : repo.files) {
            const fs::path published = cache().snapshot("org/model", repo.commit) / path;
            if (!fs::exists(published))
                continue;
            std::string expected(static_cast<std::size_t>(file.size()), '\0');
            file.read(0, expected.data(), expected.size());
            bad += readFile(published).value_or("unreadable") == expected ? 0 : 1;
        }
        return bad;
    }

    HubServer cdn;
    HubServer hub;
    test::HubRepo& repo;
    test::TemporaryFolder folder;
    std::string name = "org/model";
    HubSettings settings;
    FetchOptions options;
    OnProgress onProgress;
    transfer::CancelFlag cancel = std::make_shared<std::atomic<bool>>(false);
    transfer::Downloader downloader{transfer::NetworkOptions{}};
};

QString codeOf(const auto& result)
{
    return result ? QString("ok") : QString::fromStdString(result.error().code);
}

} // namespace

class TestFetch : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void fillsTheCache();
    void listsInPages();
    void followsARenamedModel();
    void answers_data();
    void answers();
    void gatedModels();
    void refusesAHostileListing_data();
    void refusesAHostileListing();
    void publishesNothingBad_data();
    void publishesNothingBad();
    void waitsForAnotherClient();
    void keepsTheDiskFree();
    void cancels();
    void survivesKills();
    void readsHeadersByRange();
    void verifiesAndRemoves();
    void findsLooseFiles();
    void offline();
};

void TestFetch::fillsTheCache()
{
    Scene scene;
    std::uint64_t most = 0;
    scene.onProgress = [&](const FetchProgress& progress) {
        most = std::max(most, progress.done);
        QVERIFY(progress.done <= progress.total);
    };
    const auto report = scene.fetch();
    QCOMPARE(codeOf(report), "ok");
    QCOMPARE(most, report->fetched);
    QCOMPARE(scene.leakedTokens(), 0);
    QCOMPARE(scene.badPublished(), 0);
    QVERIFY(fs::exists(report->snapshot / "tokenizer/vocab-copy.txt"));
    QVERIFY(!fs::exists(report->snapshot / "pytorch_model.bin"));
    QCOMPARE(*scene.cache().readRef("org/model", "main"), scene.repo.commit);
    QVERIFY(fs::exists(scene.settings.cache / "CACHEDIR.TAG"));
    const auto model = scanModel(scene.cache(), "org/model");
    QVERIFY(model->revisions.at(0).isComplete());
    QCOMPARE(model->revisions.at(0).refs, std::vector<std::string>{"main"});
    QCOMPARE(model->orphans.size() + model->partials.size(), std::size_t(0));

    // A second time nothing is fetched.
    scene.cdn.forgetRequests();
    const auto again = scene.fetch();
    QCOMPARE(again->fetched, std::uint64_t(0));
    QCOMPARE(scene.cdn.requests().size(), std::size_t(0));
}

void TestFetch::listsInPages()
{
    Scene scene;
    scene.hub.setTreePage(2);
    QCOMPARE(scene.plan()->listing.size(), std::size_t(6));
}

void TestFetch::followsARenamedModel()
{
    Scene scene;
    scene.hub.addRepo("old/name").movedTo = "org/model";
    scene.name = "old/name";
    QCOMPARE(codeOf(scene.fetch()), "ok");
    QVERIFY(fs::exists(scene.cache().repoFolder("org/model")));
}

void TestFetch::answers_data()
{
    QTest::addColumn<int>("status");
    QTest::addColumn<QString>("header");
    QTest::addColumn<int>("times");
    QTest::addColumn<QString>("code");
    const auto row = [](const char* name, int status, const char* header, int times, const char* code) {
        QTest::newRow(name) << status << header << times << code;
    };
    row("401", 401, "X: y", -1, "hub.model_not_found");
    row("bad token", 401, "X-Error-Message: Invalid credentials in Authorization header", -1,
        "hub.bad_token");
    row("403", 403, "X-Error-Message: fine-grained token", -1, "hub.forbidden");
    row("404", 404, "X-Error-Code: RepoNotFound", -1, "hub.model_not_found");
    row("no revision", 404, "X-Error-Code: RevisionNotFound", -1, "hub.revision_not_found");
    row("429 for ever", 429, "X: y", -1, "hub.rate_limited");
    row("429 for a moment", 429, "Retry-After: 0", 2, "ok");
    row("500 for a moment", 500, "X: y", 2, "ok");
    row("503 for ever", 503, "X: y", -1, "hub.unavailable");
}

void TestFetch::answers()
{
    QFETCH(int, status);
    QFETCH(QString, header);
    QFETCH(int, times);
    QFETCH(QString, code);
    Scene scene;
    scene.hub.addFault({.kind = Fault::Kind::Status,
        .path = "/revision/main",
        .times = times,
        .status = status,
        .headers = {header.toStdString()}});
    QCOMPARE(codeOf(scene.plan()), code);
}

void TestFetch::gatedModels()
{
    Scene scene;
    scene.repo.gated = "manual";
    scene.settings.token = "";
    const auto refused = scene.plan();
    QCOMPARE(codeOf(refused), "hub.gated");
    QCOMPARE(stringOr(refused.error().data, "page"), scene.hub.url() + "/org/model");
    scene.settings.token = "secret";
    QCOMPARE(codeOf(scene.fetch()), "ok");
    QCOMPARE(scene.leakedTokens(), 0);
}

void TestFetch::refusesAHostileListing_data()
{
    QTest::addColumn<QString>("entry");
    const auto row = [](const char* name, const char* path, const char* oid) {
        QTest::newRow(name) << QString("{\"type\":\"file\",\"oid\":\"%1\",\"size\":3,\"path\":\"%2\"}")
                                   .arg(QString(oid), QString(path));
    };
    const char* oid = "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa";
    row("up", "../../../../../outside", oid);
    row("absolute", "/outside", oid);
    row("backslash", "..\\\\outside", oid);
    row("control", "a\\u0000b", oid);
    row("case", "CONFIG.json", oid);
    row("file and folder", "config.json/x", oid);
    row("hash is a path", "x.txt", "../../../../../../../../../../../outside");
    row("no hash", "x.txt", "");
}

void TestFetch::refusesAHostileListing()
{
    QFETCH(QString, entry);
    Scene scene;
    QCOMPARE(codeOf(scene.plan()), "ok");
    scene.repo.extraTree.push_back(*parseJson(entry.toStdString()));
    const QString code = codeOf(scene.fetch());
    QVERIFY2(code == "hub.bad_path" || code == "hub.bad_answer", qPrintable(code));
    QVERIFY(!fs::exists(scene.settings.cache));
}

void TestFetch::publishesNothingBad_data()
{
    QTest::addColumn<int>("kind");
    QTest::addColumn<QString>("path");
    using Kind = Fault::Kind;
    const std::map<std::string, Kind> kinds{{"cut", Kind::Cut}, {"stall", Kind::Stall},
        {"wrong range", Kind::WrongRange}, {"no ranges", Kind::IgnoreRange}, {"gzip", Kind::Gzip},
        {"flipped bit", Kind::FlipBit}, {"truncated", Kind::Truncate}, {"drip", Kind::Drip}};
    for (const auto& [name, kind] : kinds) {
        QTest::addRow("%s, weights", name.c_str()) << static_cast<int>(kind) << "weights";
        QTest::addRow("%s, config", name.c_str()) << static_cast<int>(kind) << "/config.json";
    }
}

void TestFetch::publishesNothingBad()
{
    QFETCH(int, kind);
    QFETCH(QString, path);
    Scene scene;
    const bool isWeights = path == "weights";
    Fault fault{.kind = static_cast<Fault::Kind>(kind),
        .path = isWeights ? scene.repo.files["model.safetensors"].sha256() : path.toStdString(),
        .times = -1,
        .bytes = 3,
        .method = "GET"};
    (isWeights ? scene.cdn : scene.hub).addFault(fault);
    const auto report = scene.fetch(); // may or may not succeed; what is published is right either way
    QCOMPARE(scene.badPublished(), 0);
    QCOMPARE(scene.leakedTokens(), 0);
    if (!report)
        QVERIFY(!scene.cache().readRef("org/model", "main").has_value());
    scene.cdn.clearFaults();
    scene.hub.clearFaults();
    QCOMPARE(codeOf(scene.fetch()), "ok");
    QCOMPARE(scene.badPublished(), 0);
}

void TestFetch::waitsForAnotherClient()
{
    Scene scene;
    QVERIFY(scene.cache().prepare("org/model").has_value());
    auto lock = scene.cache().tryLock("org/model", scene.repo.files["model.safetensors"].sha256());
    QVERIFY(lock && *lock);
    bool seen = false;
    scene.onProgress = [&](const FetchProgress& progress) {
        for (const FileProgress& file : progress.files)
            seen = seen || file.state == FileState::Locked;
        if (seen)
            (*lock)->reset();
    };
    QCOMPARE(codeOf(scene.fetch()), "ok");
    QVERIFY(seen);
}

void TestFetch::keepsTheDiskFree()
{
    Scene scene;
    scene.options.keepFree = 1ULL << 60U;
    const auto report = scene.fetch();
    QCOMPARE(codeOf(report), "io.disk_full");
    QVERIFY(integerOr(report.error().data, "needed") > 0);
    QCOMPARE(scene.cdn.sentBytes(), std::uint64_t(0));
}

void TestFetch::cancels()
{
    Scene scene;
    scene.cdn.setBytesPerSecond(mebi);
    scene.onProgress = [&](const FetchProgress&) { *scene.cancel = true; };
    QCOMPARE(codeOf(scene.fetch()), "cancelled");
    *scene.cancel = false;
    scene.cdn.setBytesPerSecond(0);
    scene.onProgress = nullptr;
    QCOMPARE(codeOf(scene.fetch()), "ok");
}

void TestFetch::survivesKills()
{
    Scene scene;
    constexpr std::uint64_t size = 48 * mebi;
    scene.repo.files["model.safetensors"] = {.content = {}, .generated = size, .lfs = true};
    scene.publishLfs();
    scene.cdn.setBytesPerSecond(6 * mebi); // of each of 16 connections: half a second for everything
    auto environment = QProcessEnvironment::systemEnvironment();
    environment.insert("HF_ENDPOINT", QString::fromStdString(scene.hub.url()));
    environment.insert("HF_TOKEN", "secret");
    const QStringList arguments{"fetch", QString::fromStdString(scene.settings.cache), "org/model"};
    constexpr int kills = 10;
    int killed = 0;
    const auto start = [&](QProcess& process) {
        process.setProcessEnvironment(environment);
        process.start(GB_BIN_DIR "/gb_hubtool", arguments);
        QVERIFY(process.waitForStarted());
    };
    for (int i = 0; i < kills; ++i) {
        QProcess process;
        start(process);
        killed += process.waitForFinished(30 + i * 23 % 190) ? 0 : 1;
        process.kill();
        process.waitForFinished();
        QCOMPARE(scene.badPublished(), 0);
    }
    QProcess last;
    start(last);
    QVERIFY(last.waitForFinished(60'000));
    QCOMPARE(last.exitCode(), 0);
    QVERIFY(killed >= 3);
    QVERIFY(fs::exists(scene.cache().snapshot("org/model", scene.repo.commit) / "model.safetensors"));
    QCOMPARE(scene.badPublished(), 0);
    QCOMPARE(scene.leakedTokens(), 0);
}

void TestFetch::readsHeadersByRange()
{
    Scene scene;
    scene.repo.files["model.safetensors"] = {.content = smallSafetensors(), .lfs = true};
    scene.publishLfs();
    const auto plan = scene.plan();
    const auto weights =
        std::ranges::find(plan->listing, std::string("model.safetensors"), &RemoteFile::path);
    const auto tensors = readSafetensors(scene.client(), plan->model, *weights);
    QCOMPARE(codeOf(tensors), "ok");
    QCOMPARE(tensors->parameters, std::uint64_t(4));
    QCOMPARE(scene.leakedTokens(), 0);
    QCOMPARE(codeOf(scene.fetch()), "ok");
    const auto local =
        readSafetensors(scene.cache().snapshot("org/model", scene.repo.commit) / "model.safetensors");
    QCOMPARE(local->tensors.at(0).shape, (std::vector<std::uint64_t>{2, 2}));
}

void TestFetch::verifiesAndRemoves()
{
    Scene scene;
    QCOMPARE(codeOf(scene.fetch()), "ok");
    const std::string first = scene.repo.commit;
    // A second revision shares the weights and has another configuration.
    scene.repo.commit = std::string(40, 'd');
    scene.repo.files["config.json"] = {.content = "{\"model_type\":\"other\"}"};
    QCOMPARE(codeOf(scene.fetch()), "ok");
    QCOMPARE(verifyModel(scene.cache(), "org/model", first, {}, {})->bad.size(), std::size_t(0));

    const auto removed = removeModel(scene.cache(), "org/model", first);
    QCOMPARE(codeOf(removed), "ok");
    // The shared weights stay, so only a few blocks come back.
    QVERIFY(removed->freed > 0 && removed->freed < mebi);
    QVERIFY(scanModel(scene.cache(), "org/model")->revisions.at(0).isComplete());

    const auto weights = scene.cache().blob("org/model", scene.repo.files["model.safetensors"].sha256());
    std::string bytes = *readFile(weights);
    bytes[1'000'000] ^= 1;
    QVERIFY(writeFileAtomic(weights, bytes).has_value());
    QCOMPARE(verifyModel(scene.cache(), "org/model", scene.repo.commit, {}, {})->bad,
        std::vector<std::string>{"model.safetensors"});

    const auto all = removeModel(scene.cache(), "org/model", "");
    QVERIFY(all->freed >= 5 * mebi);
    QCOMPARE(codeOf(scanModel(scene.cache(), "org/model")), "hub.not_cached");
}

void TestFetch::findsLooseFiles()
{
    Scene scene;
    QCOMPARE(codeOf(scene.fetch()), "ok");
    const HubCache cache = scene.cache();
    const std::string etag(64, 'e');
    QVERIFY(writeFileAtomic(cache.blob("org/model", etag), std::string(100'000, 'x')).has_value());
    QVERIFY(writeFileAtomic(cache.partial("org/model", std::string(64, 'f')), std::string(9000, 'x'))
                .has_value());
    QVERIFY(writeFileAtomic(cache.blob("org/model", etag + ".1234.incomplete"), "theirs").has_value());
    const auto model = scanModel(cache, "org/model");
    QCOMPARE(model->orphans.size(), std::size_t(1));
    QCOMPARE(model->partials.size(), std::size_t(2));
    auto busy = cache.tryLock("org/model", std::string(64, 'f'));
    QVERIFY(busy && *busy);
    QCOMPARE(codeOf(removeModel(cache, "org/model", "")), "hub.busy");
    QVERIFY(removeLoose(cache, "org/model")->freed >= 100'000);
    QCOMPARE(scanModel(cache, "org/model")->partials.size(), std::size_t(1));
}

void TestFetch::offline()
{
    Scene scene;
    scene.settings.offline = true;
    QCOMPARE(codeOf(scene.plan()), "hub.offline");
    QCOMPARE(scene.hub.requests().size(), std::size_t(0));
}

QTEST_GUILESS_MAIN(TestFetch)
#include "tst_fetch.moc"
