// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

#include <QTest>

#include <backend/base/ids.h>
#include <backend/sandbox/sandboxregistry.h>
#include <tests/support/temporary.h>

using namespace gb;

namespace {

using enum SandboxState;

FoundSandbox foundAs(const SandboxRecord& record)
{
    return {record.id, record.nonce, Json{{"pid", 1}}};
}

} // namespace

class TestRegistry : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void onlyLegalTransitions()
    {
        constexpr SandboxState all[] = {Planned, Building, Starting, Ready, Stopping, Stopped, Failed};
        int legal = 0;
        for (const SandboxState from : all) {
            for (const SandboxState to : all) {
                legal += mayFollow(from, to) ? 1 : 0;
                QVERIFY(!(mayFollow(from, to) && from == to));
                QVERIFY(!mayFollow(Stopped, to));
            }
            QVERIFY(from == Stopping || from == Stopped || mayFollow(from, Stopping));
            QVERIFY(sandboxStateFrom(toString(from)) == from);
        }
        QCOMPARE(legal, 14);
        auto registry = *SandboxRegistry::open(m_folder.path() / "legal");
        const auto record = *registry.add(newId(), {}, "");
        QCOMPARE(registry.transition(record.id, Ready).error().code, std::string("sandbox.state"));
        QVERIFY(registry.transition(record.id, Starting).has_value());
        QVERIFY(registry.transition(record.id, Ready).has_value());
        QCOMPARE(registry.forget(record.id).error().code, std::string("sandbox.state"));
    }

    void everythingSurvivesARestart()
    {
        const fs::path folder = m_folder.path() / "restart";
        SandboxSpec spec;
        spec.name = "probe";
        spec.memory = 1L << 30;
        const std::string id = newId();
        {
            auto registry = *SandboxRegistry::open(folder);
            QVERIFY(registry.add(id, spec, "experiment").has_value());
            QCOMPARE(registry.add(id, spec, "").error().code, std::string("sandbox.id"));
            QVERIFY(registry.transition(id, Building).has_value());
            QVERIFY(registry.setHandle(id, Json{{"pid", 42}}).has_value());
            QVERIFY(registry.transition(id, Stopping, "asked").has_value());
            QVERIFY(registry.countStopAttempt(id).has_value());
        }
        QVERIFY(writeFileAtomic(folder / "broken.json", "{").has_value());
        const auto registry = *SandboxRegistry::open(folder);
        const SandboxRecord* record = registry.find(id);
        QVERIFY(record && record->spec == spec);
        QVERIFY(record->state == Stopping);
        QCOMPARE(record->handle["pid"].get<int>(), 42);
        QCOMPARE(record->stopAttempts, 1);
        QCOMPARE(record->reason, std::string("asked"));
        QCOMPARE(registry.list().size(), std::size_t(1));
    }

    void whatExistsAndWhatShould()
    {
        auto registry = *SandboxRegistry::open(m_folder.path() / "compare");
        const auto make = [&](std::initializer_list<SandboxState> states) {
            const auto record = *registry.add(newId(), {}, "");
            for (const SandboxState state : states)
                (void)registry.transition(record.id, state);
            return record;
        };
        const auto alive = make({Starting, Ready});
        const auto lost = make({Starting, Ready});
        const auto building = make({Building});
        const auto stoppingThere = make({Starting, Ready, Stopping});
        const auto stoppingGone = make({Starting, Ready, Stopping});
        const auto failedThere = make({Building, Failed});
        SandboxSpec elsewhere;
        elsewhere.provider = "modal";
        const auto other = *registry.add(newId(), elsewhere, "");
        const FoundSandbox stranger{newId(), "x", {}};
        FoundSandbox forged = foundAs(lost);
        forged.nonce = "guessed";
        const std::vector<FoundSandbox> found{
            foundAs(alive), foundAs(alive), foundAs(stoppingThere), foundAs(failedThere), stranger, forged};

        auto running = registry.reconcile("local", found, registry.states(), false);
        QCOMPARE(running->adopt, std::vector<std::string>{alive.id});
        QCOMPARE(running->reap.size(), std::size_t(5)); // the double, stopping, failed, stranger, forged
        QCOMPARE(running->lost, std::vector<std::string>{lost.id});
        QCOMPARE(running->ended, std::vector<std::string>{stoppingGone.id});
        QCOMPARE(registry.find(lost.id)->reason, std::string("lost"));
        QVERIFY(registry.find(building.id)->state == Building); // somebody is at it
        QVERIFY(registry.find(other.id)->state == Planned); // another provider's affair

        const auto start = registry.reconcile("local", {foundAs(alive)}, registry.states(), true);
        QCOMPARE(start->adopt, std::vector<std::string>{alive.id});
        QCOMPARE(start->lost, std::vector<std::string>{building.id});
        QCOMPARE(registry.find(building.id)->reason, std::string("interrupted"));
        QVERIFY(registry.find(stoppingThere.id)->state == Stopped);
        QVERIFY(registry.forget(stoppingThere.id).has_value());
        QVERIFY(!registry.find(stoppingThere.id));
    }

    void aLookMissesOnlyWhatWasThereBefore()
    {
        auto registry = *SandboxRegistry::open(m_folder.path() / "meanwhile");
        const auto changing = *registry.add(newId(), {}, "");
        const auto before = registry.states();
        const auto fresh = *registry.add(newId(), {}, "");
        for (const std::string& id : {changing.id, fresh.id}) {
            (void)registry.transition(id, Starting);
            (void)registry.transition(id, Ready);
        }
        for (const bool isStart : {true, false}) {
            const auto outcome = registry.reconcile("local", {}, before, isStart);
            QVERIFY(outcome->lost.empty());
            QVERIFY(registry.find(changing.id)->state == Ready && registry.find(fresh.id)->state == Ready);
        }
        QCOMPARE(registry.reconcile("local", {}, registry.states(), false)->lost.size(), std::size_t(2));
    }

private:
    test::TemporaryFolder m_folder;
};

QTEST_GUILESS_MAIN(TestRegistry)
#include "tst_registry.moc"
