// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

#include <algorithm>

#include <QFile>
#include <QTemporaryDir>
#include <QTest>
#include <QToolButton>

#include <tests/support/fakedaemon.h>
#include <tests/support/picture.h>
#include <widgets/controls/progressrow.h>
#include <widgets/controls/theme.h>
#include <widgets/shell/tray.h>

using namespace gb;
using namespace gb::ui;

// Whatever takes long has a row at the bottom of the window, with what stops it.
class TrayTest : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void jobsAndDownloadsHaveRows();
};

void TrayTest::jobsAndDownloadsHaveRows()
{
    QTemporaryDir folder;
    QFile::setPermissions(folder.path(), QFile::ReadOwner | QFile::WriteOwner | QFile::ExeOwner);
    Theme::instance().apply({Scheme::Light});
    const fs::path data(folder.path().toStdString());
    test::FakeDaemon daemon(data);
    daemon.on("models.pause", Json::object());
    daemon.on("jobs.cancel", Json::object());
    daemon.setItem("jobs", "j",
        Json{{"id", "j"}, {"kind", "sandboxes.start"}, {"title", "Starting probe"}, {"state", "running"},
            {"progress", {{"done", 1}, {"total", 4}}}, {"cancellable", true}, {"started_at", 1}});
    Json download{{"id", "d"}, {"repo", "org/a-model"}, {"state", "downloading"}, {"done", 25'000'000},
        {"total", 100'000'000}, {"rate", 5'000'000}, {"remaining_s", 15}};
    daemon.setItem("models", "d", download);
    api::Client client({data, "window", false, true, {}});
    client.watch({"jobs", "models"});
    client.open();
    Tray tray(client);
    tray.resize(900, 300);
    tray.setOpen(true);
    tray.show();
    const auto rows = [&tray] { return tray.findChildren<ProgressRow*>(); };
    // The line's own, and two above it.
    QVERIFY(QTest::qWaitFor([&] {
        const auto all = rows();
        return all.size() == 3 && std::ranges::all_of(all, [](auto* row) { return row->isVisible(); });
    }));
    QTest::qWait(0); // laid out
    test::picture(tray, QStringLiteral("tray-light"));

    // What stops it is for the one it stands beside.
    for (auto* row : rows())
        row->findChild<QToolButton*>()->click();
    QVERIFY(
        QTest::qWaitFor([&] { return daemon.asked("models.pause") > 0 && daemon.asked("jobs.cancel") > 0; }));
    QCOMPARE(stringOr(daemon.last("models.pause"), "download"), std::string("d"));
    QCOMPARE(stringOr(daemon.last("jobs.cancel"), "job"), std::string("j"));

    download["state"] = "paused";
    daemon.setItem("models", "d", download);
    QVERIFY(QTest::qWaitFor([&] { return rows().size() == 2; }));
}

QTEST_MAIN(TrayTest)
#include "tst_tray.moc"
