// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

#include <QTest>

#include <csignal>
#include <fstream>
#include <map>
#include <random>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include <sqlite3.h>

#include <backend/base/json.h>
#include <tests/support/smalldisk.h>
#include <tests/support/temporary.h>

#include "samples.h"

using namespace gb;
using namespace gb::test;

namespace {

int fillSmallDisk(const fs::path& folder)
{
    if (!mountSmallDisk(folder))
        return noSmallDisk;
    auto store = Store::open({folder});
    if (!store)
        return 1;
    const auto run = newRun(**store);
    // Something to remove later, so that there is space again.
    std::ofstream(folder / "ballast") << std::string(700000, 'b');
    std::int64_t safe = 1;
    std::string code;
    for (int i = 0; i < 500 && code.empty(); ++i) {
        const auto range = append(**store, run->id, {{"e", '"' + std::string(9000, 'x') + '"'}});
        range ? void(safe = range->last) : void(code = range.error().code);
    }
    if (code != "store.disk_full" || (*store)->lastSeq(run->id).value_or(0) != safe)
        return 2;
    const auto blob =
        waitFor<std::string>([&](auto done) { (*store)->putBlob(run->id, std::string(1000000, 'z'), done); });
    if (blob || blob.error().code != "store.disk_full")
        return 3;
    fs::remove(folder / "ballast");
    const auto after = append(**store, run->id, {{"e", "1"}});
    return after && after->first == safe + 1 ? 0 : 4;
}

int openReadOnlyDisk(const fs::path& folder)
{
    if (!mountSmallDisk(folder))
        return noSmallDisk;
    Store::open({folder})->reset();
    if (::mount("none", folder.c_str(), nullptr, MS_REMOUNT | MS_RDONLY, nullptr) != 0)
        return noSmallDisk;
    const auto store = Store::open({folder});
    return !store && store.error().code == "store.read_only"
            && store.error().message.find(folder.string()) != std::string::npos
        ? 0
        : 1;
}

int openForbiddenFolder(const fs::path& folder)
{
    constexpr uid_t nobody = 65534;
    if (::geteuid() == 0 && (::chown(folder.c_str(), nobody, nobody) != 0 || ::setuid(nobody) != 0))
        return noSmallDisk;
    ::chmod(folder.c_str(), 0500);
    const auto store = Store::open({folder});
    return !store && store.error().code == "store.read_only" ? 0 : 1;
}

// Writes until it is killed, telling through the pipe what was acknowledged.
int writeForever(const fs::path& folder, const std::string& run, int pipe)
{
    auto store = Store::open({folder});
    if (!store)
        return 1;
    for (int i = 0;; ++i) {
        (*store)->appendEvents(run, {{"kill", std::to_string(i)}, {"kill", "\"second\""}},
            [pipe](const Result<SeqRange>& range) {
                if (range && ::write(pipe, &range->last, sizeof range->last) < 0)
                    ::_exit(2);
            });
        if (i % 20 == 0 && !put(**store, sampleCall(run)))
            return 3;
    }
}

// Kills the writer at a random moment; gives back the last acknowledged seq.
std::int64_t killWriter(const fs::path& folder, const std::string& run, std::mt19937& random)
{
    int ends[2];
    if (::pipe(ends) != 0)
        return -1;
    const pid_t child = ::fork();
    if (child == 0) {
        ::close(ends[0]);
        ::_exit(writeForever(folder, run, ends[1]));
    }
    ::close(ends[1]);
    std::int64_t last = -1;
    std::int64_t seq = 0;
    // The first answer shows that it is at work; then it dies soon.
    if (::read(ends[0], &seq, sizeof seq) == sizeof seq) {
        last = seq;
        ::usleep(random() % 30000);
    }
    ::kill(child, SIGKILL);
    while (::read(ends[0], &seq, sizeof seq) == sizeof seq)
        last = std::max(last, seq);
    ::close(ends[0]);
    ::waitpid(child, nullptr, 0);
    return last;
}

std::string integrity(const fs::path& file)
{
    sqlite3* handle = nullptr;
    sqlite3_open(file.c_str(), &handle);
    std::string answer;
    sqlite3_exec(
        handle, "PRAGMA integrity_check",
        [](void* text, int, char** values, char**) {
            *static_cast<std::string*>(text) += values[0];
            return 0;
        },
        &answer, nullptr);
    sqlite3_close(handle);
    return answer;
}

std::map<std::string, std::string> contents(const fs::path& folder)
{
    std::map<std::string, std::string> files;
    for (const auto& entry : fs::recursive_directory_iterator(folder)) {
        const std::string name = entry.path().string();
        // The shared-memory file is not data; readers may make one.
        if (entry.is_regular_file() && name.rfind("-shm") != name.size() - 4)
            files[name] = readFile(entry.path()).value_or("?");
    }
    return files;
}

// Leaves a file as a newer program might after a crash: marked newer, with changes still in its log.
void markNewer(const fs::path& file)
{
    inChild([&] {
        sqlite3* handle = nullptr;
        sqlite3_open(file.c_str(), &handle);
        return sqlite3_exec(handle, "PRAGMA user_version = 99", nullptr, nullptr, nullptr);
    });
}

} // namespace

class TestStoreSafety : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void survivesTwentyKills()
    {
        const TemporaryFolder folder;
        const fs::path data = folder.path() / "data";
        const std::string run = newRun(**Store::open({data}))->id;
        std::mt19937 random(std::random_device{}());
        std::int64_t safe = 0;
        for (int i = 0; i < 20; ++i) {
            const std::int64_t acknowledged = killWriter(data, run, random);
            QVERIFY(acknowledged > safe);
            safe = acknowledged;
            auto store = Store::open({data});
            QVERIFY2(store.has_value(), store ? "" : store.error().message.c_str());
            QVERIFY((*store)->lastSeq(run).value() >= safe);
        }
        auto store = Store::open({data});
        std::int64_t next = 1;
        while (next <= safe) {
            const auto page = (*store)->readEvents(run, next, 10000, 64U << 20U);
            QVERIFY(page && page->count > 0);
            QCOMPARE(page->next, next + page->count); // no gap
            next = page->next;
        }
        const fs::path file = (*store)->runFile(run).value();
        store->reset();
        QCOMPARE(integrity(file), std::string("ok"));
        QCOMPARE(integrity(data / "index.db"), std::string("ok"));
    }

    void aFullDiskLosesNothing()
    {
        const TemporaryFolder folder;
        const int status = inChild([&] { return fillSmallDisk(folder.path()); });
        if (status == noSmallDisk)
            QSKIP("no user namespaces here");
        QCOMPARE(status, 0);
    }

    void aReadOnlyFolderIsSaid()
    {
        const TemporaryFolder folder;
        QCOMPARE(inChild([&] { return openForbiddenFolder(folder.path()); }), 0);
        const TemporaryFolder mounted;
        const int status = inChild([&] { return openReadOnlyDisk(mounted.path()); });
        if (status == noSmallDisk)
            QSKIP("no user namespaces here");
        QCOMPARE(status, 0);
    }

    void aNetworkFolderIsRefused()
    {
        const TemporaryFolder folder;
        const fs::path data = folder.path() / "not" / "yet" / "there";
        const auto store = Store::open({data, [](const fs::path&) { return std::uint64_t(0x6969); }});
        QCOMPARE(codeOf(store), "store.network_folder");
        QVERIFY(store.error().message.find("GLOVEBOX_HOME") != std::string::npos);
        QVERIFY(!fs::exists(folder.path() / "not"));
        QCOMPARE(codeOf(Store::open({data, [](const fs::path&) { return std::uint64_t(0xEF53); }})), "ok");
    }

    void newerFilesAreLeftAlone()
    {
        const TemporaryFolder folder;
        const fs::path data = folder.path() / "data";
        auto store = Store::open({data});
        const std::string run = newRun(**store)->id;
        QVERIFY(waitFor<void>([&](auto done) { (*store)->endRun(run, done); }));
        const fs::path file = (*store)->runFile(run).value();
        store->reset();

        markNewer(file);
        const auto before = contents(data / "runs");
        store = Store::open({data});
        QCOMPARE(codeOf(append(**store, run, {{"e", "1"}})), "store.newer");
        QCOMPARE(codeOf((*store)->readEvents(run, 1)), "store.newer");
        store->reset();
        QVERIFY(contents(data / "runs") == before);

        markNewer(data / "index.db");
        const auto all = contents(data);
        QVERIFY(all.count((data / "index.db-wal").string()) > 0);
        const auto refused = Store::open({data});
        QCOMPARE(codeOf(refused), "store.newer");
        QCOMPARE(refused.error().data["version"].get<int>(), 99);
        QVERIFY(contents(data) == all);
    }

    void foreignAndDamagedFilesAreSaid()
    {
        const TemporaryFolder folder;
        fs::create_directories(folder.path() / "data");
        std::ofstream(folder.path() / "data" / "index.db") << std::string(10000, 'x');
        QCOMPARE(codeOf(Store::open({folder.path() / "data"})), "store.damaged");
        fs::remove(folder.path() / "data" / "index.db");
        sqlite3* handle = nullptr;
        sqlite3_open((folder.path() / "data" / "index.db").c_str(), &handle);
        sqlite3_exec(handle, "CREATE TABLE t (x); PRAGMA user_version = 1", nullptr, nullptr, nullptr);
        sqlite3_close(handle);
        QCOMPARE(codeOf(Store::open({folder.path() / "data"})), "store.damaged");
    }

    void secretsAreReplacedInEverything()
    {
        const TemporaryFolder folder;
        const std::string plain = "hf_SecretOfMine12345";
        const std::string awkward = "pa\"ss\\wörd/with\nline";
        const std::string digits = "8675309867";
        const auto writeAll = [&](const fs::path& data, bool known) {
            auto store = Store::open({data}).value();
            if (known)
                store->setSecretValues(
                    {{"HF_TOKEN", plain}, {"AWKWARD", awkward}, {"PIN", digits}, {"SHORT", "e"}});
            RunSpec spec;
            spec.title = spec.config = spec.interface = plain + awkward + digits;
            const std::string run = newRun(*store, spec)->id;
            const std::string text = Json(plain + " " + awkward + " " + digits).dump();
            const std::string ascii = Json(awkward).dump(-1, ' ', true);
            QVERIFY(append(*store, run, {{"e", text}, {"e", ascii}, {"e", "[" + digits + ",1]"}}));
            CallRecord call = sampleCall(run);
            const auto array = [](const std::string& value) { return "[" + value + "]"; };
            call.args = "{\"args\":" + array(text) + ",\"kwargs\":{\"a" + plain + "\":" + digits + "}}";
            call.output = array(ascii);
            call.result = array(text);
            call.error = text;
            call.comment = call.preview = plain;
            QCOMPARE(codeOf(put(*store, call)), "ok");
            QVERIFY(waitFor<void>([&](auto done) { store->annotateCall(call.id, {{}, plain}, done); }));
            const std::string op = newId();
            QVERIFY(waitFor<OpBegun>([&](auto done) {
                store->beginOp({op, "m", "d", Intent{"i", "k", text}}, done);
            }));
            QVERIFY(waitFor<void>([&](auto done) { store->finishOp(op, text, done); }));
            QVERIFY(waitFor<void>([&](auto done) { store->putJob({"j", text, text, 0}, done); }));
            QVERIFY(waitFor<void>([&](auto done) { store->putKeeper({"k", "c", 1, 1, text}, done); }));
            QVERIFY(waitFor<std::string>([&](auto done) { store->putBlob(run, "blob " + plain, done); }));
            QVERIFY(waitFor<std::string>(
                [&](auto done) { store->putBlob(run, std::string(99999, '-') + plain, done); }));
            const auto events = parseJson(store->readEvents(run, 1)->events);
            QVERIFY(events.has_value());
            if (known)
                QCOMPARE((*events)[3]["data"][0].get<std::string>(), std::string("«secret PIN»"));
        };
        const auto hits = [&](const fs::path& data, const std::string& value) {
            int count = 0;
            for (const auto& [name, bytes] : contents(data))
                count += bytes.find(value) != std::string::npos ? 1 : 0;
            return count;
        };
        writeAll(folder.path() / "known", true);
        writeAll(folder.path() / "unknown", false);
        const std::string escaped = Json(awkward).dump();
        for (const std::string& value : {plain, digits, awkward, escaped.substr(1, escaped.size() - 2)}) {
            QCOMPARE(hits(folder.path() / "known", value), 0);
            QVERIFY(hits(folder.path() / "unknown", value) > 0); // the search itself works
        }
    }

    void retentionTakesOldestAndSparesPins()
    {
        const TemporaryFolder folder;
        auto store = Store::open({folder.path() / "data"}).value();
        std::vector<std::string> runs;
        std::string shared;
        for (int i = 0; i < 5; ++i) {
            runs.push_back(newRun(*store)->id);
            QVERIFY(append(*store, runs[i], {{"e", '"' + std::string(200000, 'x') + '"'}}));
            CallRecord call = sampleCall(runs[i]);
            call.pinned = i == 1;
            QVERIFY(put(*store, call));
            shared = waitFor<std::string>([&](auto done) {
                store->putBlob(runs[i], std::string(100000, 's'), done);
            }).value();
            if (i != 4)
                QVERIFY(waitFor<void>([&](auto done) { store->endRun(runs[i], done); }));
        }
        QVERIFY(waitFor<void>([&](auto done) { store->pinRun(runs[0], true, done); }));
        const auto apply = [&](Retention limits) {
            return waitFor<RetentionReport>([&](auto done) { store->applyRetention(limits, done); }).value();
        };
        QCOMPARE(apply({}).runs, 0);
        QCOMPARE(apply({0, 1300000}).runs, 1); // the oldest that may go is enough
        QCOMPARE(codeOf(store->getRun(runs[2])), "runs.unknown");
        QCOMPARE(codeOf(store->readEvents(runs[2], 1)), "runs.unknown");
        QCOMPARE(store->getBlob(runs[3], shared)->size(), std::size_t(100000)); // others need it
        QTest::qWait(5);
        QCOMPARE(apply({1, 0}).runs, 1);
        QVERIFY(!fs::exists(folder.path() / "data" / "runs" / "none" / (runs[3] + ".db")));
        for (const int i : {0, 1, 4}) {
            QVERIFY(store->getRun(runs[i]).has_value());
            QCOMPARE(store->readEvents(runs[i], 2, 1)->count, 1);
        }
        QCOMPARE(store->listCalls({})->calls.size(), std::size_t(3));
        QCOMPARE(store->listCalls(CallFilter::parse("Paris arg.n:5").value())->calls.size(), std::size_t(3));
    }
};

QTEST_GUILESS_MAIN(TestStoreSafety)
#include "tst_storesafety.moc"
