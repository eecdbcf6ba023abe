// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

#include <QTest>

#include <mutex>

#include <backend/base/json.h>
#include <tests/support/temporary.h>

#include "samples.h"

using namespace gb;
using namespace gb::test;

class TestStore : public QObject
{
    Q_OBJECT

    TemporaryFolder m_folder;
    std::unique_ptr<Store> m_store;

    void open()
    {
        m_store.reset();
        auto store = Store::open({.folder = m_folder.path() / "data"});
        if (!store)
            qFatal("%s", store.error().message.c_str());
        m_store = std::move(*store);
    }

private Q_SLOTS:
    void init() { open(); }

    void eventsComeBackInOrderAsTheyWere()
    {
        const std::string run = newRun(*m_store)->id;
        const auto first = append(*m_store, run, {{"a", R"({"z":1, "a":[1.50]})"}, {"b.c", "null"}});
        QVERIFY(first.has_value());
        QCOMPARE(first->first, 2); // run.started is 1
        QCOMPARE(first->last, 3);
        open();
        QCOMPARE(append(*m_store, run, {{"c", "3"}})->first, 4);
        QCOMPARE(m_store->lastSeq(run).value(), 4);

        const auto page = m_store->readEvents(run, 2);
        QCOMPARE(page->count, 3);
        QCOMPARE(page->next, 5);
        QVERIFY(!page->more);
        const Json events = parseJson(page->events).value();
        QCOMPARE(events[0]["seq"].get<int>(), 2);
        QCOMPARE(events[0]["type"].get<std::string>(), std::string("a"));
        QVERIFY(page->events.find(R"("data":{"z":1, "a":[1.50]})") != std::string::npos);

        const auto one = m_store->readEvents(run, 1, 1);
        QVERIFY(one->more);
        QCOMPARE(one->next, 2);
        QCOMPARE(m_store->readEvents(run, 0, 100, 1)->count, 1);
        QCOMPARE(m_store->readEvents(run, 5)->events, std::string("[]"));
        QCOMPARE(m_store->readEvents(run, 5)->next, 5);
        QCOMPARE(append(*m_store, std::string(daemonStream), {{"daemon.started", "{}"}})->first, 1);
    }

    void theLogIsFoldedBack()
    {
        const std::string run = newRun(*m_store)->id;
        const fs::path file = m_store->runFile(run).value();
        for (int i = 0; i < 60; ++i)
            QVERIFY(append(*m_store, run, {{"e", '"' + std::string(1000000, 'x') + '"'}}));
        QVERIFY(fs::file_size(file.string() + "-wal") < 30000000);
        QVERIFY(fs::file_size(file) > 30000000);
        QCOMPARE(m_store->readEvents(run, 61)->count, 1);
        m_store.reset();
        QVERIFY(!fs::exists(file.string() + "-wal"));
        QVERIFY(!fs::exists(m_folder.path() / "data" / "index.db-wal"));
    }

    void badEventsAreRefusedWhole()
    {
        const std::string run = newRun(*m_store)->id;
        QCOMPARE(codeOf(append(*m_store, run, {{"ok", "1"}, {"bad", "{"}})), "events.bad_data");
        QCOMPARE(codeOf(append(*m_store, run, {{"quote\"", "1"}})), "events.bad_type");
        QCOMPARE(codeOf(append(*m_store, run, {})), "events.none");
        QCOMPARE(codeOf(append(*m_store, newId(), {{"ok", "1"}})), "runs.unknown");
        QCOMPARE(codeOf(append(*m_store, "../../etc", {{"ok", "1"}})), "runs.unknown");
        QCOMPARE(m_store->lastSeq(run).value(), 1);
    }

    void listenerHearsEveryDurableBatchOnce()
    {
        std::mutex mutex;
        std::vector<EventBatch> heard;
        m_store->setListener([&](const EventBatch& batch) {
            const std::lock_guard lock(mutex);
            heard.push_back(batch);
        });
        const std::string run = newRun(*m_store)->id;
        std::promise<void> last;
        for (int i = 0; i < 100; ++i)
            m_store->appendEvents(run, {{"n", std::to_string(i)}}, [&last, i](const auto&) {
                if (i == 99)
                    last.set_value();
            });
        last.get_future().wait();
        m_store->setListener(nullptr);
        std::int64_t next = 1;
        for (const EventBatch& batch : heard) {
            QCOMPARE(batch.stream, run);
            QCOMPARE(batch.first, next);
            QCOMPARE(std::int64_t(parseJson(*batch.events)->size()), batch.last - batch.first + 1);
            next = batch.last + 1;
        }
        QCOMPARE(next, 102);
    }

    void opsHaveOneOutcome()
    {
        using State = OpBegun::State;
        const auto begin = [this](const OpStart& start) {
            return waitFor<OpBegun>([&](auto done) { m_store->beginOp(start, done); }).value();
        };
        const OpStart start{newId(), "sandboxes.start", "digest", Intent{newId(), "sandbox", R"({"gpu":1})"}};
        QCOMPARE(m_store->findOp(start)->state, State::New);
        QCOMPARE(begin(start).state, State::New);
        QCOMPARE(begin(start).state, State::Pending);
        QCOMPARE(m_store->findOp(start)->state, State::Pending);
        QCOMPARE(begin({start.op, "sandboxes.start", "other", {}}).state, State::Mismatch);
        open();
        QCOMPARE(begin(start).state, State::Interrupted);
        QCOMPARE(m_store->intents()->size(), std::size_t(1));
        QCOMPARE(m_store->intents()->front().data, std::string(R"({"gpu":1})"));
        for (const char* outcome : {R"({"result":1})", R"({"result":2})"})
            QVERIFY(waitFor<void>([&](auto done) { m_store->finishOp(start.op, outcome, done); }));
        open();
        QCOMPARE(begin(start).state, State::Repeat);
        QCOMPARE(begin(start).outcome, std::string(R"({"result":1})"));
        QVERIFY(waitFor<void>([&](auto done) { m_store->finishIntent(start.intent->id, done); }));
        QVERIFY(m_store->intents()->empty());
    }

    void callsAreStoredOnceAndWhole()
    {
        const std::string run = newRun(*m_store)->id;
        CallRecord record = sampleCall(run);
        record.args = R"({"args":[1.50,"x"],"kwargs":{"big":123456789012345678901234567890}})";
        QCOMPARE(codeOf(put(*m_store, record)), "calls.bad_record"); // beyond 64 bits wants the record form
        record.args = R"({"args":[1.50,"x"],"kwargs":{"é":{"$gb":"nan"}}})";
        QCOMPARE(codeOf(put(*m_store, record)), "ok");
        QCOMPARE(codeOf(put(*m_store, record)), "ok");
        QCOMPARE(m_store->getRun(run)->calls, 1);
        const auto got = m_store->getCall(record.id);
        QVERIFY(got.has_value());
        QCOMPARE(got->args, record.args);
        QCOMPARE(got->result, record.result);
        QCOMPARE(got->output, record.output);
        QCOMPARE(got->computeNs, record.computeNs);
        QCOMPARE(got->callerName, record.callerName);
        QVERIFY(isJsonRoundTrip(got->toJson(CallRecord::Include::All)));
        QCOMPARE(codeOf(m_store->getCall(newId())), "calls.unknown");

        const Json summary = parseJson(m_store->listCalls({})->calls.at(0)).value();
        QCOMPARE(summary["fn"].get<std::string>(), std::string("generate"));
        QCOMPARE(summary["duration_ns"].get<std::int64_t>(), 5000000);
        QCOMPARE(summary["preview"].get<std::string>(), record.result);
        QCOMPARE(summary["pinned"].get<bool>(), false);
        QVERIFY(!summary.contains("result"));
        QVERIFY(m_store->readEvents(run, 2)->events.find("call.ended") != std::string::npos);
    }

    void recordsAreReadFromTheWire()
    {
        const std::string text =
            R"({"v":1,"id":"i","run":"r","interface":{"id":"x","name":"tools"},"fn":"f",)"
            R"("caller":{"kind":"agent","name":"a","token":"t"},"at":7,)"
            R"("ns":{"queue":1,"compute":2,"serialise":3,"transfer":4},"generation":2,)"
            R"("state":"error","args":{"args": [1.0],"kwargs":{}},"output":[],)"
            R"("output_cut":true,"result":null,"result_bytes":9,"result_digest":"d",)"
            R"("result_cut":false,"error":{"kind":"timeout"},"warnings":["w"]})";
        const auto record = CallRecord::parse(text);
        QVERIFY(record.has_value());
        QCOMPARE(record->interfaceName, std::string("tools"));
        QCOMPARE(record->callerKind, std::string("agent"));
        QCOMPARE(record->durationNs(), 10);
        QCOMPARE(record->args, std::string(R"({"args": [1.0],"kwargs":{}})"));
        QCOMPARE(record->error, std::string(R"({"kind":"timeout"})"));
        QVERIFY(record->outputCut);
        const auto again = CallRecord::parse(record->toJson(CallRecord::Include::All));
        QCOMPARE(again->toJson(CallRecord::Include::All), record->toJson(CallRecord::Include::All));
        QCOMPARE(codeOf(CallRecord::parse("[]")), "calls.bad_record");
        QCOMPARE(codeOf(CallRecord::parse("{\"id\":")), "calls.bad_record");
        QCOMPARE(codeOf(CallRecord::parse("")), "calls.bad_record");
        QCOMPARE(CallRecord::parse("{\"id\":5,\"interface\":[],\"ns\":null}")->id, std::string());
    }

    void largeResultsAreCutUnlessPinned()
    {
        const std::string run = newRun(*m_store)->id;
        CallRecord record = sampleCall(run);
        record.result = '"' + std::string(3U << 20U, 'x') + '"';
        record.resultBytes = 0;
        QVERIFY(put(*m_store, record));
        const auto cut = m_store->getCall(record.id);
        QVERIFY(cut->resultCut);
        QCOMPARE(cut->result, std::string("null"));
        QCOMPARE(cut->preview.size(), std::size_t(4096));
        QCOMPARE(cut->resultBytes, std::int64_t(record.result.size()));

        record.id = newId();
        record.pinned = true;
        QVERIFY(put(*m_store, record));
        const auto whole = m_store->getCall(record.id);
        QVERIFY(!whole->resultCut);
        QCOMPARE(whole->result, record.result);
    }

    void annotationsAreFoundAgain()
    {
        const std::string run = newRun(*m_store)->id;
        const CallRecord record = sampleCall(run);
        QVERIFY(put(*m_store, record));
        QVERIFY(waitFor<void>([&](auto done) {
            m_store->annotateCall(record.id, {.pinned = true, .comment = "curious \"one\""}, done);
        }));
        QVERIFY(m_store->getCall(record.id)->pinned);
        const auto page = m_store->listCalls(CallFilter::parse("curious pinned:yes").value());
        QCOMPARE(page->calls.size(), std::size_t(1));
        QCOMPARE(
            parseJson(page->calls[0]).value()["comment"].get<std::string>(), std::string("curious \"one\""));
    }

    void runsJobsKeepersAndBlobsSurvive()
    {
        RunSpec spec;
        spec.title = "first look";
        spec.experiment = newId();
        spec.config = "[experiment]\n";
        spec.interface = "def f(): ...\n";
        const auto run = newRun(*m_store, spec);
        QVERIFY(run.has_value());
        spec.id = run->id;
        QCOMPARE(codeOf(newRun(*m_store, spec)), "runs.exists");
        spec.id = "../escape";
        QCOMPARE(codeOf(newRun(*m_store, spec)), "params.type");
        const std::string large(100000, 'b');
        const auto digests = {
            waitFor<std::string>([&](auto done) { m_store->putBlob(run->id, "small", done); }),
            waitFor<std::string>([&](auto done) { m_store->putBlob(run->id, large, done); })};
        QVERIFY(waitFor<void>([&](auto done) { m_store->endRun(run->id, done); }));
        QVERIFY(waitFor<void>([&](auto done) { m_store->putJob({"j", "{}", R"({"result":1})", 0}, done); }));
        QVERIFY(waitFor<void>([&](auto done) { m_store->putJob({"old", "{}", "{}", 1}, done); }));
        QVERIFY(waitFor<void>([&](auto done) { m_store->putKeeper({"k", "/tmp/k", 7, 8, "{}"}, done); }));
        QVERIFY(!fs::exists(m_store->runFile(run->id)->string() + "-wal"));
        open();
        QVERIFY(waitFor<void>([&](auto done) { m_store->prune(done); }));
        QVERIFY(m_store->getRun(run->id)->endedAt > 0);
        QCOMPARE(m_store->runSpec(run->id)->interface, spec.interface);
        QCOMPARE(m_store->listRuns(1)->at(0).id, m_store->listRuns(100)->at(0).id);
        QCOMPARE(m_store->getBlob(run->id, digests.begin()[0].value()).value(), std::string("small"));
        QCOMPARE(m_store->getBlob(run->id, digests.begin()[1].value()).value(), large);
        QCOMPARE(codeOf(m_store->getBlob(run->id, "../../../etc/passwd")), "blobs.unknown");
        QCOMPARE(m_store->getJob("j")->outcome, std::string(R"({"result":1})"));
        QCOMPARE(codeOf(m_store->getJob("old")), "jobs.unknown");
        QCOMPARE(m_store->keepers()->at(0).control, std::string("/tmp/k"));
        QVERIFY(waitFor<void>([&](auto done) { m_store->removeKeeper("k", done); }));
        QVERIFY(m_store->keepers()->empty());
    }

private:
    static bool isJsonRoundTrip(const std::string& text)
    {
        const auto parsed = parseJson(text);
        return parsed && CallRecord::parse(text)->toJson(CallRecord::Include::All) == text;
    }
};

QTEST_GUILESS_MAIN(TestStore)
#include "tst_store.moc"
