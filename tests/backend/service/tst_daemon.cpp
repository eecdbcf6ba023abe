// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

#include <set>

#include <backend/base/ids.h>
#include <backend/base/json.h>

#include "daemonhome.h"

using namespace gb;
using test::ask;
using test::codeOf;
using test::DaemonHome;

// Real daemon processes in data folders of their own.
class TestDaemon : public QObject
{
    Q_OBJECT

    static int pidOf(const api::Client& client)
    {
        return static_cast<int>(integerOr(client.daemonInfo(), "pid"));
    }

private Q_SLOTS:
    void tenClientsAtOnceMeetOneDaemon()
    {
        const DaemonHome home;
        std::vector<std::unique_ptr<api::Client>> clients;
        for (int i = 0; i < 10; ++i) {
            clients.push_back(home.client("client " + std::to_string(i)));
            clients.back()->open();
        }
        std::set<int> pids;
        for (const auto& client : clients) {
            QTRY_COMPARE_WITH_TIMEOUT(client->state(), api::Client::State::Connected, test::patience);
            pids.insert(pidOf(*client));
        }
        QCOMPARE(pids.size(), std::size_t{1});
        // The losers end by themselves.
        QTRY_COMPARE_WITH_TIMEOUT(home.daemons(), std::vector<int>{*pids.begin()}, test::patience);
    }

    void itLeavesWhenNobodyNeedsIt()
    {
        const DaemonHome home;
        qputenv("GLOVEBOX_IDLE_EXIT_MS", "100");
        auto client = home.client();
        QCOMPARE(codeOf(ask(*client, "daemon.status")), std::string("ok"));
        QTest::qWait(300);
        QCOMPARE(home.daemons().size(), std::size_t{1}); // somebody is connected
        client->close();
        QTRY_VERIFY_WITH_TIMEOUT(home.daemons().empty(), test::patience);
    }

    void sigtermEndsItCleanlyAndTheClientComesBack()
    {
        const DaemonHome home;
        auto client = home.client();
        QCOMPARE(codeOf(ask(*client, "daemon.status")), std::string("ok"));
        const int first = pidOf(*client);
        ::kill(first, SIGTERM);
        QTRY_VERIFY_WITH_TIMEOUT(
            client->state() == api::Client::State::Connected && pidOf(*client) != first, test::patience);
        const auto log = readFile(home.path() / "daemon.log");
        QVERIFY(log && log->find("\"ended\"") != std::string::npos);
    }

    void killedWithClientsAttachedItLosesNothing()
    {
        const DaemonHome home;
        std::vector<std::unique_ptr<api::Client>> clients;
        std::vector<std::vector<int>> seen(3);
        for (int i = 0; i < 3; ++i) {
            clients.push_back(home.client());
            clients.back()->watch({"daemon"});
            clients.back()->follow("daemon", 1);
            connect(clients.back().get(), &api::Client::eventsArrived, this,
                [&seen, i](const QString&, qint64, const Json& events) {
                    for (const Json& event : events)
                        seen[static_cast<std::size_t>(i)].push_back(event["data"].get<int>());
                });
            clients.back()->open();
        }
        int answered = 0;
        constexpr int batches = 60;
        for (int i = 0; i < batches; ++i) {
            clients[0]->call(this, "events.append",
                Json{{"stream", "daemon"}, {"events", test::events(5, "test", i * 5)}},
                [&](const Result<api::Answer>& answer) {
                    answered += answer.has_value() ? 1 : 0;
                    if (answered == 20 || answered == 40)
                        ::kill(pidOf(*clients[0]), SIGKILL);
                });
        }
        QTRY_COMPARE_WITH_TIMEOUT(answered, batches, test::patience);
        // Every event once: also those whose answer the killed daemon could not give any more.
        for (const auto& one : seen) {
            QTRY_COMPARE_WITH_TIMEOUT(one.size(), std::size_t{batches * 5}, test::patience);
            QCOMPARE(std::set<int>(one.begin(), one.end()).size(), one.size());
        }
        // State comes at its own pace, apart from events.
        QTRY_COMPARE_WITH_TIMEOUT(integerOr(objectOr(clients[1]->items("daemon"), "daemon"), "pid"),
            std::int64_t{pidOf(*clients[0])}, test::patience);
    }

    void anOpIsDoneOnceAlsoAcrossARestart()
    {
        const DaemonHome home;
        auto client = home.client();
        const Json params{{"stream", "daemon"}, {"events", test::events(2)}, {"op", newId()}};
        const auto first = ask(*client, "events.append", params);
        const auto again = ask(*client, "events.append", params);
        ::kill(pidOf(*client), SIGKILL);
        const auto later = ask(*client, "events.append", params);
        QCOMPARE(codeOf(first), std::string("ok"));
        QCOMPARE(again->body.dump(), first->body.dump());
        QCOMPARE(codeOf(later), std::string("ok"));
        QCOMPARE(later->body.dump(), first->body.dump());
        Json other = params;
        other["events"] = test::events(3);
        QCOMPARE(codeOf(ask(*client, "events.append", other)), std::string("rpc.op_mismatch"));
        Json without = other;
        without["op"] = "not a uuid";
        QCOMPARE(codeOf(ask(*client, "events.append", without)), std::string("params.op"));
        const auto all = ask(*client, "events.read", Json{{"stream", "daemon"}, {"since", 1}});
        QCOMPARE(all->body["events"].size(), std::size_t{2});
    }

    void anOlderIdleDaemonIsReplacedABusyOneKept()
    {
        const DaemonHome home;
        const fs::path bin = home.folder() / "newer/bin";
        fs::create_directories(bin);
        fs::create_symlink(fs::path(GB_BIN_DIR) / "../lib", home.folder() / "newer/lib");
        fs::copy_file(fs::path(GB_BIN_DIR) / "gloveboxd", bin / "gloveboxd");
        api::Client::Options newer;
        newer.dataFolder = home.path();
        newer.program = bin / "gloveboxd";

        auto client = home.client();
        QCOMPARE(codeOf(ask(*client, "daemon.status")), std::string("ok"));
        const int first = pidOf(*client);
        api::Client kept(newer); // while another client is connected
        QCOMPARE(codeOf(ask(kept, "daemon.status")), std::string("ok"));
        QCOMPARE(pidOf(kept), first);
        QVERIFY(boolOr(kept.daemonInfo(), "older"));
        kept.close();
        client->close();
        QTest::qWait(100);

        api::Client replacing(newer);
        QCOMPARE(codeOf(ask(replacing, "daemon.status")), std::string("ok"));
        QVERIFY(pidOf(replacing) != first);
        QVERIFY(!boolOr(replacing.daemonInfo(), "older"));
        replacing.close();
        QTest::qWait(100);
        // The other way round the newer one stays.
        auto old = home.client();
        QCOMPARE(codeOf(ask(*old, "daemon.status")), std::string("ok"));
        QVERIFY(!boolOr(old->daemonInfo(), "older"));
    }

    void settingsAndExperimentsAnswer()
    {
        const DaemonHome home;
        auto client = home.client();
        QCOMPARE(codeOf(ask(*client, "settings.set", Json{{"key", "window.theme"}, {"value", "dark"}})),
            std::string("ok"));
        QCOMPARE(stringOr(ask(*client, "settings.get", Json{{"key", "window.theme"}})->body, "value"),
            std::string("dark"));
        const std::string path = (home.folder() / "My \"first\" test").string();
        const Json params{{"path", path}, {"example", "hello"}, {"op", newId()}};
        const auto made = ask(*client, "experiments.new", params);
        QCOMPARE(codeOf(made), std::string("ok"));
        QCOMPARE(stringOr(made->body, "name"), std::string("My \"first\" test"));
        QVERIFY(boolOr(made->body, "has_interface"));
        QVERIFY(fs::exists(fs::path(path) / "interface.py"));
        QCOMPARE(ask(*client, "experiments.new", params)->body.dump(), made->body.dump());
        QCOMPARE(
            codeOf(ask(*client, "experiments.new", Json{{"path", path}})), std::string("experiments.exists"));
        QCOMPARE(codeOf(ask(*client, "experiments.open", Json{{"path", home.folder().string()}})),
            std::string("experiments.none"));
        QCOMPARE(ask(*client, "experiments.open", Json{{"path", path}})->body.dump(), made->body.dump());
        QCOMPARE(ask(*client, "experiments.list")->body["experiments"].size(), std::size_t{1});
    }
};

QTEST_GUILESS_MAIN(TestDaemon)
#include "tst_daemon.moc"
