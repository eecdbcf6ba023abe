// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

#include <QTest>

#include <map>

#include <backend/base/json.h>
#include <tests/support/temporary.h>

#include "powercutvfs.h"
#include "samples.h"

using namespace gb;
using namespace gb::test;

namespace {

// What was told to be safe, and so has to be there after the cut.
struct Acknowledged
{
    std::mutex mutex;
    std::map<std::int64_t, std::string> events;
    std::vector<std::string> calls;
    std::vector<std::string> ops;
};

class Round
{
public:
    Round(PowerCutVfs& disk, const fs::path& folder, Synchronous synchronous, unsigned seed)
        : m_disk(disk), m_options{folder, {}, disk.name(), synchronous}, m_random(seed), m_seed(seed)
    { }

    // How many acknowledged things are missing after a power cut at a random moment.
    int lost()
    {
        work();
        m_disk.restart(m_seed);
        return missing();
    }
    std::size_t acknowledged() const
    {
        return m_safe.events.size() + m_safe.calls.size() + m_safe.ops.size();
    }

private:
    void work()
    {
        auto store = Store::open(m_options);
        QVERIFY(store.has_value());
        const auto run = newRun(**store);
        QVERIFY(run.has_value());
        m_run = run->id;
        m_disk.cutAfter(20 + std::int64_t(m_random() % 400));
        while (!m_disk.isDark())
            step(**store);
    }

    void step(Store& store)
    {
        for (unsigned i = 1 + m_random() % 4; i > 0; --i)
            sendEvents(store);
        if (m_random() % 3 == 0) {
            CallRecord call = sampleCall(m_run);
            if (put(store, call))
                m_safe.calls.push_back(call.id);
        }
        // One that need not outlive this, to be no harm to those that must.
        const std::string brief = newId();
        (void)waitFor<OpBegun>([&](auto done) {
            store.beginOp({brief, "m", "d", std::nullopt, Durability::KilledProcess}, done);
        });
        (void)waitFor<void>(
            [&](auto done) { store.finishOp(brief, "\"done\"", done, Durability::KilledProcess); });
        const std::string op = newId();
        if (waitFor<OpBegun>([&](auto done) {
                store.beginOp({op, "m", "d"}, done);
            })
            && waitFor<void>([&](auto done) { store.finishOp(op, "\"done\"", done); }))
            m_safe.ops.push_back(op);
    }

    void sendEvents(Store& store)
    {
        std::vector<NewEvent> events;
        std::vector<std::string> texts;
        for (unsigned i = 1 + m_random() % 8; i > 0; --i) {
            texts.push_back('"' + std::string(m_random() % 3000, 'e') + std::to_string(++m_count) + '"');
            events.push_back({"test", texts.back()});
        }
        store.appendEvents(m_run, std::move(events), [this, texts](const Result<SeqRange>& range) {
            if (!range)
                return;
            const std::lock_guard lock(m_safe.mutex);
            for (std::size_t i = 0; i < texts.size(); ++i)
                m_safe.events.emplace(range->first + std::int64_t(i), texts[i]);
        });
    }

    int missing()
    {
        auto store = Store::open(m_options);
        if (!store)
            return int(acknowledged());
        int count = 0;
        for (const auto& [seq, text] : m_safe.events) {
            const auto page = (*store)->readEvents(m_run, seq, 1);
            count += page && page->events.find("\"data\":" + text + "}") != std::string::npos ? 0 : 1;
        }
        for (const std::string& call : m_safe.calls)
            count += (*store)->getCall(call) ? 0 : 1;
        for (const std::string& op : m_safe.ops) {
            const auto begun = waitFor<OpBegun>([&](auto done) { (*store)->beginOp({op, "m", "d"}, done); });
            count += begun && begun->state == OpBegun::State::Repeat ? 0 : 1;
        }
        // It also goes on from there.
        if (m_options.synchronous == Synchronous::Full && !append(**store, m_run, {{"after", "1"}}))
            ++count;
        return count;
    }

    PowerCutVfs& m_disk;
    StoreOptions m_options;
    std::mt19937 m_random;
    unsigned m_seed;
    std::string m_run;
    int m_count = 0;
    Acknowledged m_safe;
};

struct Outcome
{
    int lost = 0;
    std::size_t acknowledged = 0;
};

Outcome cutThePower(Synchronous synchronous, unsigned rounds)
{
    const TemporaryFolder folder;
    PowerCutVfs disk("powercut");
    Outcome outcome;
    for (unsigned seed = 1; seed <= rounds; ++seed) {
        // A fresh folder each: without syncing, the file itself may not survive.
        Round round(disk, folder.path() / std::to_string(seed), synchronous, seed);
        outcome.lost += round.lost();
        outcome.acknowledged += round.acknowledged();
    }
    return outcome;
}

} // namespace

class TestPowerCut : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void losesNothingAcknowledged()
    {
        const Outcome outcome = cutThePower(Synchronous::Full, 40);
        QVERIFY2(outcome.acknowledged > 1000, qPrintable(QString::number(outcome.acknowledged)));
        QCOMPARE(outcome.lost, 0);
    }

    void losesSomethingWithoutSyncing()
    {
        // Shows that the test above can fail.
        QVERIFY(cutThePower(Synchronous::Off, 10).lost > 0);
    }

    void goesOnAfterTheDiskWasFull()
    {
        const TemporaryFolder folder;
        PowerCutVfs disk("fulldisk");
        auto store = Store::open({folder.path() / "data", {}, disk.name()});
        QVERIFY(store.has_value());
        const std::string run = newRun(**store)->id;
        disk.setCapacity(1000000);
        std::int64_t safe = 1;
        std::string code;
        for (int i = 0; i < 1000 && code.empty(); ++i) {
            const auto range = append(**store, run, {{"e", '"' + std::string(5000, 'x') + '"'}});
            if (range)
                safe = range->last;
            else
                code = range.error().code;
        }
        QCOMPARE(code, std::string("store.disk_full"));
        QVERIFY(safe > 10);
        QCOMPARE((*store)->lastSeq(run).value(), safe);
        disk.setCapacity(100000000);
        QCOMPARE(append(**store, run, {{"e", "1"}})->first, safe + 1);
        store->reset();
        store = Store::open({folder.path() / "data", {}, disk.name()});
        QCOMPARE((*store)->lastSeq(run).value(), safe + 1);
    }
};

QTEST_GUILESS_MAIN(TestPowerCut)
#include "tst_powercut.moc"
