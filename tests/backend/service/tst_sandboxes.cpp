// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

#include <backend/base/ids.h>
#include <backend/service/daemon.h>
#include <tests/support/fakesandboxes.h>

#include "daemonhome.h"

using namespace gb;
using test::ask;
using test::codeOf;
using test::FakeWorld;
using Mood = test::FakeWorld::Mood;

// The life of sandboxes with a provider that fails and hangs wherever it can.
class TestSandboxes : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void init()
    {
        m_home = std::make_unique<test::DaemonHome>();
        m_world = std::make_shared<FakeWorld>(m_home->folder());
        startDaemon();
    }

    void cleanup()
    {
        for (const std::string& step : test::FakeSandboxes::steps())
            m_world->set(step, Mood::Good);
        for (const char* step : {"terminate", "list", "listed", "promise", "serve"})
            m_world->set(step, Mood::Good);
        m_client.reset();
        m_daemon.reset();
        m_world.reset();
        m_home.reset();
    }

    void itComesAndGoes()
    {
        const std::string id = start();
        QTRY_COMPARE_WITH_TIMEOUT(state(id), std::string("ready"), test::patience);
        QCOMPARE(codeOf(ask(*m_client, "sandboxes.meters", Json{{"sandbox", "box"}})), std::string("ok"));
        QVERIFY(!ask(*m_client, "daemon.status")->body["alive"].empty());
        QCOMPARE(codeOf(ask(*m_client, "sandboxes.rm", with(id))), std::string("sandbox.state"));
        stop(id);
        QTRY_COMPARE_WITH_TIMEOUT(state(id), std::string("stopped"), test::patience);
        QVERIFY(m_world->existing().empty());
        QCOMPARE(codeOf(ask(*m_client, "sandboxes.rm", with(id))), std::string("ok"));
        QCOMPARE(
            codeOf(ask(*m_client, "sandboxes.get", Json{{"sandbox", id}})), std::string("sandbox.unknown"));
        QVERIFY(ask(*m_client, "daemon.status")->body["alive"].empty());
    }

    void anyStepMayFail_data() { allSteps(); }
    void anyStepMayFail()
    {
        QFETCH(std::string, step);
        m_world->set(step, Mood::Fails);
        m_world->set("promise", Mood::Fails); // and leaves behind what it had
        const std::string id = start();
        QTRY_COMPARE_WITH_TIMEOUT(state(id), std::string("failed"), test::patience);
        const Json item = ask(*m_client, "sandboxes.get", Json{{"sandbox", id}})->body;
        QCOMPARE(stringOr(item, "reason"), std::string("fake.failed"));
        QCOMPARE(stringOr(item["error"], "message"), step + " failed");
        for (const Json& one : item["steps"]) {
            if (stringOr(one, "id") == step)
                QCOMPARE(stringOr(one, "state"), std::string("failed"));
        }
        QTRY_VERIFY_WITH_TIMEOUT(m_world->existing().empty(), test::patience);
        QTRY_COMPARE_WITH_TIMEOUT(jobState(), std::string("failed"), test::patience);
    }

    void anyStepMayHangAndIsCancelled_data() { allSteps(); }
    void anyStepMayHangAndIsCancelled()
    {
        QFETCH(std::string, step);
        m_world->set(step, Mood::Hangs);
        const std::string id = start();
        QTRY_COMPARE_WITH_TIMEOUT(m_world->asked(step), 1, test::patience);
        QCOMPARE(
            codeOf(ask(*m_client, "jobs.cancel", Json{{"op", newId()}, {"job", m_job}})), std::string("ok"));
        QTRY_COMPARE_WITH_TIMEOUT(state(id), std::string("stopped"), test::patience);
        QCOMPARE(jobState(), std::string("cancelled"));
        QVERIFY(m_world->existing().empty());
    }

    void aStopWaitsForACreationThatHearsNothing()
    {
        m_world->set("copy", Mood::Deaf);
        const std::string id = start();
        QTRY_COMPARE_WITH_TIMEOUT(m_world->asked("copy"), 1, test::patience);
        stop(id);
        QTRY_VERIFY_WITH_TIMEOUT(m_world->asked("terminate") > 0, test::patience);
        QTRY_VERIFY_WITH_TIMEOUT(m_world->existing().empty(), test::patience);
        QCOMPARE(state(id), std::string("stopping")); // it may yet create something
        m_world->set("copy", Mood::Good);
        QTRY_COMPARE_WITH_TIMEOUT(state(id), std::string("stopped"), test::patience);
        QVERIFY(m_world->existing().empty());
    }

    void aStopIsRetriedUntilItIsConfirmed()
    {
        const std::string id = start();
        QTRY_COMPARE_WITH_TIMEOUT(state(id), std::string("ready"), test::patience);
        m_world->set("terminate", Mood::Fails);
        stop(id);
        QTRY_VERIFY_WITH_TIMEOUT(m_world->asked("terminate") > 1, test::patience);
        QCOMPARE(state(id), std::string("stopping"));
        QCOMPARE(m_world->existing().size(), std::size_t(1));
        m_world->set("terminate", Mood::Good);
        QTRY_COMPARE_WITH_TIMEOUT(state(id), std::string("stopped"), test::patience);
        QVERIFY(m_world->existing().empty());
    }

    void aRepeatedOpMakesNoSecondOne()
    {
        const Json params{{"op", newId()}, {"spec", {{"name", "box"}}}};
        const auto first = ask(*m_client, "sandboxes.start", params);
        const auto second = ask(*m_client, "sandboxes.start", params);
        QCOMPARE(QString::fromStdString(first->body.dump()), QString::fromStdString(second->body.dump()));
        const std::string id = stringOr(first->body, "sandbox");
        QTRY_COMPARE_WITH_TIMEOUT(state(id), std::string("ready"), test::patience);
        QCOMPARE(m_world->created(), 1);
    }

    void aNewDaemonAdoptsWhatLives()
    {
        const std::string id = start();
        QTRY_COMPARE_WITH_TIMEOUT(state(id), std::string("ready"), test::patience);
        stopDaemon();
        m_world->set("list", Mood::Fails); // not at once
        startDaemon();
        QTRY_VERIFY_WITH_TIMEOUT(m_world->asked("list") > 1, test::patience);
        QCOMPARE(state(id), std::string("ready"));
        m_world->set("list", Mood::Good);
        QCOMPARE(codeOf(ask(*m_client, "sandboxes.meters", Json{{"sandbox", id}})), std::string("ok"));
        QCOMPARE(m_world->existing(), std::set<std::string>{id});
    }

    void whatEndedWithoutADaemonIsLost()
    {
        const std::string id = start();
        QTRY_COMPARE_WITH_TIMEOUT(state(id), std::string("ready"), test::patience);
        stopDaemon();
        m_world->remove(id);
        startDaemon();
        QTRY_COMPARE_WITH_TIMEOUT(state(id), std::string("failed"), test::patience);
        QCOMPARE(stringOr(ask(*m_client, "sandboxes.get", Json{{"sandbox", id}})->body, "reason"),
            std::string("lost"));
    }

    void whatBeginsWhileTheDaemonLooksAroundGoesOn_data()
    {
        QTest::addColumn<std::string>("slow");
        QTest::newRow("before it is seen") << std::string("listed");
        QTest::newRow("and is seen half made") << std::string("list");
    }
    void whatBeginsWhileTheDaemonLooksAroundGoesOn()
    {
        QFETCH(std::string, slow);
        const std::string older = start();
        QTRY_COMPARE_WITH_TIMEOUT(state(older), std::string("ready"), test::patience);
        stopDaemon();
        const int looks = m_world->asked(slow);
        m_world->set(slow, Mood::Deaf);
        startDaemon();
        QTRY_VERIFY_WITH_TIMEOUT(m_world->asked(slow) > looks, test::patience);
        const std::string made = start();
        QTRY_COMPARE_WITH_TIMEOUT(state(made), std::string("ready"), test::patience);
        m_world->set("copy", Mood::Deaf);
        const std::string half = start();
        QTRY_COMPARE_WITH_TIMEOUT(state(half), std::string("starting"), test::patience);
        QTRY_VERIFY_WITH_TIMEOUT(m_world->existing().contains(half), test::patience);
        m_world->set(slow, Mood::Good);
        // The older one can be reached only after the look.
        QCOMPARE(codeOf(ask(*m_client, "sandboxes.meters", with(older))), std::string("ok"));
        m_world->set("copy", Mood::Good);
        QTRY_COMPARE_WITH_TIMEOUT(state(half), std::string("ready"), test::patience);
        QCOMPARE(codeOf(ask(*m_client, "sandboxes.meters", with(half))), std::string("ok"));
        QCOMPARE(codeOf(ask(*m_client, "sandboxes.meters", with(made))), std::string("ok"));
        QCOMPARE(m_world->existing(), (std::set<std::string>{older, made, half}));
    }

    void whatWasUnderWayIsInterrupted_data()
    {
        QTest::addColumn<bool>("exists");
        QTest::newRow("nothing yet") << false;
        QTest::newRow("already there") << true;
    }
    void whatWasUnderWayIsInterrupted()
    {
        QFETCH(bool, exists);
        stopDaemon();
        const std::string id = newId();
        {
            auto registry = SandboxRegistry::open(m_home->path() / "sandboxes");
            const auto record = registry->add(id, {}, {});
            QVERIFY(registry->transition(id, SandboxState::Building).has_value());
            if (exists)
                m_world->add(id, record->nonce);
        }
        startDaemon();
        QTRY_COMPARE_WITH_TIMEOUT(state(id), std::string("failed"), test::patience);
        QCOMPARE(stringOr(ask(*m_client, "sandboxes.get", Json{{"sandbox", id}})->body, "reason"),
            std::string("interrupted"));
        QTRY_VERIFY_WITH_TIMEOUT(m_world->existing().empty(), test::patience);
    }

    void anInterruptedStopGoesOn()
    {
        const std::string id = start();
        QTRY_COMPARE_WITH_TIMEOUT(state(id), std::string("ready"), test::patience);
        m_world->set("terminate", Mood::Fails);
        stop(id);
        QTRY_VERIFY_WITH_TIMEOUT(m_world->asked("terminate") > 0, test::patience);
        stopDaemon();
        m_world->set("terminate", Mood::Good);
        startDaemon();
        QTRY_COMPARE_WITH_TIMEOUT(state(id), std::string("stopped"), test::patience);
        QVERIFY(m_world->existing().empty());
    }

    void strangersAreEnded()
    {
        stopDaemon();
        m_world->add(newId(), newToken());
        startDaemon();
        QTRY_VERIFY_WITH_TIMEOUT(m_world->existing().empty(), test::patience);
    }

    void anImpostorIsNotTalkedTo()
    {
        const std::string id = start();
        QTRY_COMPARE_WITH_TIMEOUT(state(id), std::string("ready"), test::patience);
        stopDaemon();
        const test::FakeKeeper other(m_world->control(id), id, newToken());
        startDaemon();
        QTRY_COMPARE_WITH_TIMEOUT(state(id), std::string("failed"), test::patience);
        QVERIFY(codeOf(ask(*m_client, "sandboxes.meters", Json{{"sandbox", id}})) != "ok");
    }

    void aKilledKeeperIsLost()
    {
        const std::string id = start();
        QTRY_COMPARE_WITH_TIMEOUT(state(id), std::string("ready"), test::patience);
        QCOMPARE(codeOf(ask(*m_client, "sandboxes.meters", Json{{"sandbox", id}})), std::string("ok"));
        m_world->remove(id);
        QTRY_COMPARE_WITH_TIMEOUT(state(id), std::string("failed"), test::patience);
        QCOMPARE(stringOr(ask(*m_client, "sandboxes.get", Json{{"sandbox", id}})->body, "reason"),
            std::string("lost"));
        const auto refused = ask(*m_client, "sandboxes.meters", Json{{"sandbox", id}});
        QCOMPARE(codeOf(refused), std::string("sandbox.not_ready"));
        QCOMPARE(refused.error().message, std::string("the sandbox has failed: its keeper was killed"));
    }

private:
    static void allSteps()
    {
        QTest::addColumn<std::string>("step");
        for (const std::string& step : test::FakeSandboxes::steps())
            QTest::newRow(step.c_str()) << step;
    }

    void startDaemon()
    {
        service::DaemonOptions options{m_home->path(), "build", 60'000};
        options.sandboxProviders = {std::make_shared<test::FakeSandboxes>(m_world)};
        auto daemon = service::Daemon::create(std::move(options));
        QVERIFY2(daemon.has_value(), daemon ? "" : daemon.error().message.c_str());
        m_daemon = std::move(*daemon);
        m_client = m_home->client("test", false);
    }
    void stopDaemon()
    {
        m_client.reset();
        m_daemon.reset();
    }

    static Json with(const std::string& id) { return Json{{"op", newId()}, {"sandbox", id}}; }
    std::string start()
    {
        const auto answer =
            ask(*m_client, "sandboxes.start", Json{{"op", newId()}, {"spec", {{"name", "box"}}}});
        if (!answer)
            return answer.error().code;
        m_job = stringOr(answer->body, "job");
        return stringOr(answer->body, "sandbox");
    }
    void stop(const std::string& id)
    {
        QCOMPARE(codeOf(ask(*m_client, "sandboxes.stop", with(id))), std::string("ok"));
    }
    std::string state(const std::string& id)
    {
        const auto answer = ask(*m_client, "sandboxes.get", Json{{"sandbox", id}});
        return answer ? stringOr(answer->body, "state") : answer.error().code;
    }
    std::string jobState()
    {
        const auto answer = ask(*m_client, "jobs.get", Json{{"job", m_job}});
        return answer ? stringOr(answer->body, "state") : answer.error().code;
    }

    std::unique_ptr<test::DaemonHome> m_home;
    std::shared_ptr<FakeWorld> m_world;
    std::unique_ptr<service::Daemon> m_daemon;
    std::unique_ptr<api::Client> m_client;
    std::string m_job;
};

QTEST_GUILESS_MAIN(TestSandboxes)
#include "tst_sandboxes.moc"
