// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

#include <future>

#include <QTest>

#include <backend/transfer/filedownload.h>
#include <backend/transfer/pieces.h>
#include <tests/support/hubserver/hubserver.h>
#include <tests/support/temporary.h>

using namespace gb;
using namespace gb::transfer;
using gb::test::Fault;
using gb::test::HubFile;
using gb::test::HubServer;

namespace {

constexpr std::uint64_t mebi = 1U << 20U;

// A hub with one LFS file on a second host, and what is needed to fetch it.
class Scene
{
public:
    explicit Scene(std::uint64_t size = 9 * mebi + 12'345)
    {
        auto& repo = hub.addRepo("org/model");
        file = &(repo.files["model.safetensors"] = HubFile{.content = {}, .generated = size, .lfs = true});
        hub.setLfsHost(&cdn);
        hub.setToken("secret");
        spec.url = hub.url() + "/org/model/resolve/main/model.safetensors";
        spec.credential = Credential{originOf(hub.url()), "secret"};
        spec.size = size;
        spec.digest = file->sha256();
        spec.partial = folder.path() / "partial";
        spec.record = folder.path() / "record";
        options.retry = {.attempts = 5, .baseMs = 5, .capMs = 20};
        options.stallMs = 150;
        options.connections = 4;
    }

    Status fetch()
    {
        const auto ended = std::make_shared<std::promise<Status>>();
        FileDownload download(downloader, spec, options);
        download.start([ended](Status status) { ended->set_value(std::move(status)); });
        return ended->get_future().get();
    }

    bool isWhole() const
    {
        const auto bytes = readFile(spec.partial);
        std::string expected(static_cast<std::size_t>(spec.size), '\0');
        file->read(0, expected.data(), expected.size());
        return bytes && *bytes == expected;
    }

    int leakedTokens() const
    {
        return static_cast<int>(std::ranges::count_if(
            cdn.requests(), [](const auto& request) { return !request.header("authorization").empty(); }));
    }

    HubServer cdn;
    HubServer hub;
    HubFile* file = nullptr;
    test::TemporaryFolder folder;
    Downloader downloader{NetworkOptions{}};
    FileSpec spec;
    FileOptions options;
};

} // namespace

class TestFileDownload : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void fetchesByParallelRanges();
    void keepsTheTokenAtItsHost();
    void survives_data();
    void survives();
    void refuses_data();
    void refuses();
    void goesOnWhereItWas();
    void ignoresAForeignRecord();
    void cancelKeepsPieces();
    void leavesTheDiskRoom();
    void limitsTheRate();
    void seesADeadConnectionUnderALimit();
    void emptyFile();
    void readsRetryAfter();
    void takesPiecesInOrder();
};

void TestFileDownload::fetchesByParallelRanges()
{
    Scene scene;
    const Status status = scene.fetch();
    QVERIFY2(status.has_value(), status ? "" : status.error().message.c_str());
    QVERIFY(scene.isWhole());
    QVERIFY(scene.cdn.mostConnections() > 1);
    QCOMPARE(scene.cdn.sentBytes(), scene.spec.size);
}

void TestFileDownload::keepsTheTokenAtItsHost()
{
    Scene scene;
    QVERIFY(scene.fetch().has_value());
    // The control: the token does go where it belongs.
    QCOMPARE(scene.hub.requests().at(0).header("authorization"), std::string("Bearer secret"));
    QVERIFY(!scene.cdn.requests().empty());
    QCOMPARE(scene.leakedTokens(), 0);
}

void TestFileDownload::survives_data()
{
    QTest::addColumn<int>("kind");
    QTest::addColumn<int>("times");
    QTest::addColumn<int>("status");
    using Kind = Fault::Kind;
    const auto row = [](const char* name, Kind kind, int times, int status = 0) {
        QTest::newRow(name) << static_cast<int>(kind) << times << status;
    };
    row("cut", Kind::Cut, 6);
    row("stall", Kind::Stall, 3);
    row("drip", Kind::Drip, 3);
    row("wrong range", Kind::WrongRange, 2);
    row("always a wrong range", Kind::WrongRange, -1);
    row("no ranges", Kind::IgnoreRange, -1);
    row("no ranges for once", Kind::IgnoreRange, 1);
    row("gzip", Kind::Gzip, 2);
    row("flipped bit", Kind::FlipBit, 1);
    row("no answer", Kind::Close, 3);
    row("429", Kind::Status, 3, 429);
    row("500", Kind::Status, 3, 500);
    row("503", Kind::Status, 3, 503);
    row("signed address ran out", Kind::Status, 2, 403);
}

void TestFileDownload::survives()
{
    QFETCH(int, kind);
    QFETCH(int, times);
    QFETCH(int, status);
    Scene scene;
    const auto faultKind = static_cast<Fault::Kind>(kind);
    const bool twice = faultKind == Fault::Kind::FlipBit;
    // A flipped bit is found wherever it is; a fault that strikes later than the first run covers a resume.
    scene.options.connections = twice ? 1 : 4;
    scene.cdn.addFault({.kind = faultKind,
        .path = scene.file->sha256(),
        .times = times,
        .bytes = 300'000,
        .status = status});
    const Status ended = scene.fetch();
    QVERIFY2(ended.has_value(), ended ? "" : ended.error().message.c_str());
    QVERIFY(scene.isWhole());
    QCOMPARE(scene.leakedTokens(), 0);
}

void TestFileDownload::refuses_data()
{
    QTest::addColumn<int>("kind");
    QTest::addColumn<int>("status");
    QTest::addColumn<QString>("code");
    using Kind = Fault::Kind;
    const auto row = [](const char* name, Kind kind, int status, const char* code) {
        QTest::newRow(name) << static_cast<int>(kind) << status << code;
    };
    row("flipped bit", Kind::FlipBit, 0, "net.hash_mismatch");
    row("truncated", Kind::Truncate, 0, "net.wrong_size");
    row("gzip", Kind::Gzip, 0, "net.encoded");
    row("404", Kind::Status, 404, "http.404");
    row("500", Kind::Status, 500, "http.500");
    row("silence", Kind::Stall, 0, "net.stalled");
    row("no answer", Kind::Close, 0, "net.cut");
}

void TestFileDownload::refuses()
{
    QFETCH(int, kind);
    QFETCH(int, status);
    QFETCH(QString, code);
    Scene scene;
    scene.options.retry.attempts = 3;
    scene.cdn.addFault({.kind = static_cast<Fault::Kind>(kind),
        .path = scene.file->sha256(),
        .times = -1,
        .bytes = 100,
        .status = status});
    const Status ended = scene.fetch();
    QVERIFY(!ended.has_value());
    QCOMPARE(QString::fromStdString(ended.error().code), code);
}

void TestFileDownload::goesOnWhereItWas()
{
    Scene scene;
    scene.options.retry.attempts = 1;
    scene.options.connections = 1;
    // The first run gets through, the second is cut.
    scene.cdn.addFault(
        {.kind = Fault::Kind::Status, .path = scene.file->sha256(), .times = -1, .status = 404});
    QVERIFY(!scene.fetch().has_value());
    scene.cdn.clearFaults();
    scene.cdn.addFault(
        {.kind = Fault::Kind::Cut, .path = scene.file->sha256(), .times = -1, .bytes = 3 * mebi});
    QVERIFY(!scene.fetch().has_value());
    scene.cdn.clearFaults();
    const std::uint64_t before = scene.cdn.sentBytes();
    QVERIFY(before > 0);
    QVERIFY(scene.fetch().has_value());
    QVERIFY(scene.isWhole());
    // What was stored is not fetched again, apart from the piece that was cut.
    QVERIFY(scene.cdn.sentBytes() <= scene.spec.size + mebi);
}

void TestFileDownload::ignoresAForeignRecord()
{
    Scene scene;
    QVERIFY(scene.fetch().has_value());
    // The same partial file, but other content is wanted now: nothing of it may be believed.
    Scene other(scene.spec.size);
    HubFile changed{.content = std::string(static_cast<std::size_t>(scene.spec.size), 'x'), .lfs = true};
    other.hub.addRepo("org/model").files["model.safetensors"] = changed;
    other.hub.setLfsHost(&other.cdn);
    other.spec.digest = changed.sha256();
    other.spec.partial = scene.spec.partial;
    other.spec.record = scene.spec.record;
    QVERIFY(other.fetch().has_value());
    QCOMPARE(*readFile(other.spec.partial), changed.content);
    QCOMPARE(other.cdn.sentBytes(), scene.spec.size);
}

void TestFileDownload::cancelKeepsPieces()
{
    Scene scene;
    scene.cdn.setBytesPerSecond(4 * mebi);
    const auto ended = std::make_shared<std::promise<Status>>();
    FileDownload download(scene.downloader, scene.spec, scene.options);
    download.start([ended](Status status) { ended->set_value(std::move(status)); });
    QTRY_VERIFY(download.progress().done > 6 * mebi);
    download.cancel();
    QCOMPARE(ended->get_future().get().error().code, std::string("cancelled"));
    scene.cdn.setBytesPerSecond(0);
    const std::uint64_t before = scene.cdn.sentBytes();
    QVERIFY(scene.fetch().has_value());
    QVERIFY(scene.cdn.sentBytes() - before < scene.spec.size);
    QVERIFY(scene.isWhole());
}

void TestFileDownload::leavesTheDiskRoom()
{
    Scene scene;
    scene.options.keepFree = 1ULL << 60U;
    QCOMPARE(scene.fetch().error().code, std::string("io.disk_full"));
    scene.options.keepFree = 0;
    QVERIFY(scene.fetch().has_value());
    QVERIFY(scene.isWhole());
}

void TestFileDownload::limitsTheRate()
{
    Scene scene(2 * mebi);
    scene.downloader.engine.setRate(8 * mebi);
    const auto started = std::chrono::steady_clock::now();
    QVERIFY(scene.fetch().has_value());
    // Not faster than the limit, less what one callback may take ahead; how much slower is the machine's
    // affair.
    QVERIFY(std::chrono::steady_clock::now() - started > std::chrono::milliseconds(100));
    QVERIFY(scene.isWhole());
}

void TestFileDownload::seesADeadConnectionUnderALimit()
{
    Scene scene;
    scene.downloader.engine.setRate(512 * mebi);
    scene.options.retry.attempts = 2;
    scene.cdn.addFault(
        {.kind = Fault::Kind::Stall, .path = scene.file->sha256(), .times = -1, .bytes = 100, .status = 0});
    const Status ended = scene.fetch();
    QVERIFY(!ended.has_value());
    QCOMPARE(QString::fromStdString(ended.error().code), QStringLiteral("net.stalled"));
}

void TestFileDownload::emptyFile()
{
    Scene scene(0);
    scene.spec.digest = test::HubFile{}.sha256();
    QVERIFY(scene.fetch().has_value());
    QCOMPARE(readFile(scene.spec.partial)->size(), std::size_t(0));
}

void TestFileDownload::readsRetryAfter()
{
    const auto of = [](const char* name, const char* value) {
        Response response{.status = 429, .url = {}, .headers = {{name, value}}, .body = {}};
        return retryAfterMs(response);
    };
    QCOMPARE(of("Retry-After", "7"), 7000);
    QCOMPARE(of("retry-after", "999999"), 3'600'000);
    QCOMPARE(of("Retry-After", "Wed, 21 Oct 2015 07:28:00 GMT"), 0);
    QCOMPARE(of("Retry-After", "soon"), 0);
    QCOMPARE(of("RateLimit", "\"api\";r=0;t=35"), 35'000);
    QCOMPARE(of("RateLimit", "\"api\";r=3;t=35"), 0);
}

void TestFileDownload::takesPiecesInOrder()
{
    PieceMap map(Layout::of(5 * mebi + 10));
    QCOMPARE(map.layout().pieces(), std::size_t(6));
    const auto first = map.take(2 * mebi);
    QCOMPARE(first->first, std::size_t(0));
    QCOMPARE(first->last, std::size_t(1));
    map.giveBack(*first, mebi / 2);
    const auto again = map.take(100 * mebi);
    // Half of the first piece is there: the run goes on in the middle of it.
    QCOMPARE(again->offset, mebi / 2);
    QCOMPARE(again->last, std::size_t(5));
    for (std::size_t piece = 0; piece < 6; ++piece)
        map.setWritten(piece);
    QVERIFY(map.isComplete());
    QCOMPARE(map.writtenBytes(), 5 * mebi + 10);
    QVERIFY(!map.take(mebi));
}

QTEST_GUILESS_MAIN(TestFileDownload)
#include "tst_filedownload.moc"
