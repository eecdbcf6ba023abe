// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

#include <QTest>

#include <backend/api/answer.h>
#include <tests/support/fakedaemon.h>
#include <tests/support/temporary.h>
#include <widgets/itemmodels/callsitemmodel.h>

using namespace gb;
using namespace gb::ui;

// The daemon tells topics that somebody follows, so a model must follow those that it lives on.
class CallsItemModelTest : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void aCallIsListedOnceItIsStored()
    {
        const test::TemporaryFolder folder;
        test::FakeDaemon daemon(folder.path());
        Json stored = Json::array();
        daemon.on("calls.list", [&stored](const Json&, const std::string&) {
            return api::Answer{Json{{"calls", stored}}, {}};
        });
        api::Client client({.dataFolder = folder.path(),
            .name = "test",
            .startDaemon = false,
            .reconnect = false,
            .program = {}});
        CallsItemModel model(client);
        client.open();
        QVERIFY(waitFor([&] { return model.settled(); }));
        QCOMPARE(daemon.last("state.subscribe")["topics"].dump(), std::string(R"(["calls","runs"])"));

        daemon.setItem("calls", "one", Json{{"id", "one"}, {"fn", "steer"}, {"state", "running"}});
        QVERIFY(waitFor([&] { return model.rowCount() == 1; }));
        // It has ended; the list was asked, and did not have it yet.
        daemon.setItem("calls", "one", {});
        const int asked = daemon.asked("calls.list");
        QVERIFY(waitFor([&] { return daemon.asked("calls.list") > asked; }));
        QVERIFY(waitFor([&] { return model.rowCount() == 0; }));

        stored.push_back(Json{{"id", "one"}, {"fn", "steer"}, {"state", "ok"}});
        daemon.setItem("runs", "run", Json{{"id", "run"}, {"calls", 1}});
        QVERIFY(waitFor([&] { return model.rowCount() == 1 && !model.at(0).isRunning(); }));
    }

private:
    static bool waitFor(const std::function<bool()>& condition) { return QTest::qWaitFor(condition, 20'000); }
};

QTEST_GUILESS_MAIN(CallsItemModelTest)
#include "tst_callsitemmodel.moc"
