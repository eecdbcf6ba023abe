// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

#include <backend/service/daemon.h>
#include <backend/service/redact.h>

#include "daemonhome.h"

using namespace gb;
using test::ask;
using test::codeOf;

// What is easier to see from inside the daemon's process.
class TestService : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void everyRowOfTheTableHasItsHandler()
    {
        const test::DaemonHome home;
        const auto daemon = service::Daemon::create({home.path(), "build", 60'000});
        QVERIFY2(daemon.has_value(), daemon ? "" : daemon.error().message.c_str());
        const auto& handlers = (*daemon)->dispatcher().binder().all();
        for (const api::Method& method : api::methods()) {
            const auto bound = handlers.find(method.name);
            QVERIFY2(bound != handlers.end(), std::string(method.name).c_str());
            QCOMPARE(QString::fromStdString(bound->second.params.dump()),
                QString::fromStdString(toJson(method)["params"].dump()));
        }
        QCOMPARE(handlers.size(), api::methods().size());
    }

    void theDoctorIsAJob()
    {
        const test::DaemonHome home;
        const auto daemon = service::Daemon::create({home.path(), "build", 60'000});
        const auto client = home.client("test", false);
        client->watch({"jobs"});
        const auto started = ask(*client, "doctor.run");
        QCOMPARE(codeOf(started), std::string("ok"));
        const std::string id = stringOr(started->body, "job");
        const auto state = [&] {
            const Json& jobs = client->items("jobs");
            return jobs.contains(id) ? stringOr(jobs[id], "state") : std::string();
        };
        QTRY_COMPARE_WITH_TIMEOUT(state(), std::string("done"), test::patience);
        const auto job = ask(*client, "jobs.get", Json{{"job", id}});
        QCOMPARE(codeOf(job), std::string("ok"));
        QVERIFY(!job->body["result"]["checks"].empty());
        QCOMPARE(codeOf(ask(*client, "jobs.cancel", Json{{"job", id}})), std::string("ok"));
        QCOMPARE(codeOf(ask(*client, "jobs.get", Json{{"job", "none"}})), std::string("jobs.unknown"));
    }

    void diagnosticsMayBePasted()
    {
        const test::DaemonHome home;
        const auto daemon = service::Daemon::create({home.path(), "build", 60'000});
        const auto client = home.client("test", false);
        const auto answer = ask(*client, "diagnostics.get");
        QCOMPARE(codeOf(answer), std::string("ok"));
        const std::string text = stringOr(answer->body, "text");
        QVERIFY(text.find("window.theme = \"system\"") != std::string::npos);
    }

    void secretsAndNamesAreTakenOut()
    {
        qputenv("HOME", "/somewhere/private");
        const std::string token(43, 'Q');
        const std::string before =
            "key sk-abcdefghij0123456789 Authorization: Bearer abcdefgh https://me:pass@host/ "
            "/somewhere/private/x "
            + token + " hf_abcdefghijk";
        const std::string after = service::redacted(before + " kept", "/no/such/folder");
        for (const char* secret : {"sk-abc", "abcdefgh", "me:pass", "/somewhere/private", "QQQ", "hf_abc"}) {
            QVERIFY2(before.find(secret) != std::string::npos, secret); // it would be seen
            QVERIFY2(after.find(secret) == std::string::npos, secret);
        }
        QVERIFY(after.find("~/x") != std::string::npos);
        QVERIFY(after.ends_with(" kept"));
    }
};

QTEST_GUILESS_MAIN(TestService)
#include "tst_service.moc"
