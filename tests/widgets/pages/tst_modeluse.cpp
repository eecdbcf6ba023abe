// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

#include <QAction>
#include <QFile>
#include <QLabel>
#include <QPushButton>
#include <QTemporaryDir>
#include <QTest>
#include <QTreeView>

#include <tests/support/fakedaemon.h>
#include <tests/support/picture.h>
#include <widgets/controls/banner.h>
#include <widgets/controls/splitter.h>
#include <widgets/controls/theme.h>
#include <widgets/pages/models/modeldetails.h>
#include <widgets/pages/models/modelsitemmodel.h>
#include <widgets/pages/models/modelspage.h>

using namespace gb;
using namespace gb::ui;

namespace {

Json cachedModel(const char* repo)
{
    return {{"repo", repo}, {"bytes", 4'000'000}, {"last_used", 1}, {"state", "cached"},
        {"revisions", Json::array()}};
}

} // namespace

// Which sandbox uses a model is seen in its row, and before it is deleted.
class ModelUseTest : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void usedWhileTheSandboxLives();
    void aSilentHubIsSaidOnce();

private:
    bool waitFor(const std::function<bool()>& condition) { return QTest::qWaitFor(condition, 20'000); }
};

void ModelUseTest::usedWhileTheSandboxLives()
{
    QTemporaryDir folder;
    QFile::setPermissions(folder.path(), QFile::ReadOwner | QFile::WriteOwner | QFile::ExeOwner);
    setRememberedFile(folder.filePath(QStringLiteral("window.ini")));
    Theme::instance().apply({Scheme::Light});
    const fs::path data(folder.path().toStdString());
    test::FakeDaemon daemon(data);
    daemon.on("models.ls",
        Json{{"models", {cachedModel("org/base"), cachedModel("org/other")}}, {"bytes", 8'000'000},
            {"free", 1}});
    daemon.on("models.show", Json::object());
    daemon.on("sandboxes.get",
        Json{{"spec",
            {{"models", {{{"name", "org/adapter"}, {"is_peft", true}, {"base_model", "org/base"}}}}}}});
    api::Client client({data, "window", false, true, {}});
    client.open();
    ModelsPage page(client);
    page.resize(1196, 740);
    page.show();
    const auto* model = page.model();
    QVERIFY(waitFor([&] { return model->rowCount() == 2; }));
    const auto users = [model](
                           int row) { return model->index(row, ModelsItemModel::UsedBy).data().toString(); };
    QCOMPARE(users(0), QString());
    QVERIFY(page.view()->isColumnHidden(ModelsItemModel::UsedBy));
    const auto askToDelete = [&] {
        page.view()->setCurrentIndex(model->index(0, 0));
        for (auto* action : page.pageActions())
            if (action->text() == QStringLiteral("Delete…"))
                action->trigger();
        QString texts;
        for (const auto* label : page.findChild<Banner*>(QStringLiteral("page"))->findChildren<QLabel*>())
            texts += label->text() + QLatin1Char('\n');
        return texts;
    };
    QVERIFY(!askToDelete().contains(QStringLiteral("Sandboxes use it now")));

    const std::string id = "11111111-1111-4111-8111-111111111111";
    const Json sandbox{
        {"id", id}, {"name", "first one"}, {"provider", "local"}, {"state", "ready"}, {"since", 1}};
    daemon.setItem("sandboxes", id, sandbox);
    QVERIFY(waitFor([&] { return users(0) == QStringLiteral("first one"); }));
    QCOMPARE(users(1), QString());
    QVERIFY(waitFor([&] { return !page.view()->isColumnHidden(ModelsItemModel::UsedBy); }));
    QVERIFY(askToDelete().contains(QStringLiteral("Sandboxes use it now: first one.")));
    for (const auto scheme : {Scheme::Dark, Scheme::Light}) {
        Theme::instance().apply({scheme});
        const auto theme = scheme == Scheme::Dark ? QStringLiteral("dark") : QStringLiteral("light");
        QVERIFY(test::colorsIn(test::picture(page, QStringLiteral("models-used-") + theme)) > 8);
    }
    // Asked about, nothing was deleted.
    QCOMPARE(daemon.asked("models.rm"), 0);

    auto stopped = sandbox;
    stopped["state"] = "stopped";
    daemon.setItem("sandboxes", id, stopped);
    QVERIFY(waitFor([&] { return users(0).isEmpty(); }));
}

void ModelUseTest::aSilentHubIsSaidOnce()
{
    QTemporaryDir folder;
    QFile::setPermissions(folder.path(), QFile::ReadOwner | QFile::WriteOwner | QFile::ExeOwner);
    const fs::path data(folder.path().toStdString());
    test::FakeDaemon daemon(data);
    daemon.on("models.show", [](const Json&, const std::string&) -> Result<api::Answer> {
        return fail("network.unreachable", "no such host");
    });
    api::Client client({data, "window", false, true, {}});
    client.open();
    ModelDetails details(client);
    details.resize(400, 600);
    details.show();
    const auto lines = [&details](const QString& text) {
        int count = 0;
        for (const auto* label : details.findChildren<QLabel*>())
            count += label->isVisible() && label->text().contains(text) ? 1 : 0;
        return count;
    };
    QVERIFY(waitFor([&] { return client.state() == api::Client::State::Connected; }));
    details.look(QStringLiteral("org/name"));
    QVERIFY(waitFor([&] { return lines(QStringLiteral("The hub could not be asked: No such host")) == 1; }));
    ModelRow row;
    row.repo = QStringLiteral("org/name");
    row.state = QStringLiteral("stalled");
    row.reason = {{"code", "network.unreachable"}, {"message", "no such host"}};
    details.showRow(row, nullptr, {});
    QVERIFY(waitFor([&] { return details.settled() && lines(QStringLiteral("No such host")) == 1; }));
    QCOMPARE(details.findChild<Banner*>()->title(), QStringLiteral("Nothing comes; it goes on by itself"));
}

QTEST_MAIN(ModelUseTest)
#include "tst_modeluse.moc"
