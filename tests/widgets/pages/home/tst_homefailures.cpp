// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

#include <QApplication>
#include <QFileDialog>
#include <QLineEdit>
#include <QPushButton>
#include <QSignalSpy>
#include <QTemporaryDir>
#include <QTest>
#include <QTimer>
#include <QToolButton>
#include <QVBoxLayout>

#include <tests/support/fakedaemon.h>
#include <tests/support/picture.h>
#include <widgets/controls/banner.h>
#include <widgets/controls/theme.h>
#include <widgets/pages/home/examplecard.h>

using namespace gb;
using namespace gb::ui;

namespace {

constexpr int dialogPatienceMs = 20'000;

} // namespace

// Whatever an example cannot do here is said in its card, with what can be done instead.
class HomeFailuresTest : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void initTestCase();
    void init();
    void cleanup();
    void isolationIsMissing();
    void servesWithoutIsolation_data();
    void servesWithoutIsolation();
    void modelIsMissing();
    void folderHasTheModel();
    void modulesAreMissing();
    void anotherPythonIsUsed();
    void comesFromElsewhere();
    void startFailsAndIsTakenDown();
    void cancelled();
    void focusStaysInTheCard();
    void commandsCanBeCopied();

private:
    void useExample(const char* about);
    void end();
    QPushButton* action(const QString& text) const;
    void offerSandboxes(bool available);
    // A sandbox whose start ends in this way.
    void endStart(const Json& outcome);

    // Types this into the file dialog that the next click opens.
    void answerDialog(const QString& path);

    QTemporaryDir m_folder;
    std::unique_ptr<test::FakeDaemon> m_daemon;
    std::unique_ptr<api::Client> m_client;
    std::unique_ptr<ExampleCard> m_card;
};

void HomeFailuresTest::initTestCase()
{
    qputenv("HOME", m_folder.path().toLocal8Bit());
    Theme::instance().apply({Scheme::Light});
}

void HomeFailuresTest::init()
{
    const fs::path data(m_folder.path().toStdString());
    m_daemon = std::make_unique<test::FakeDaemon>(data);
    m_daemon->on("experiments.new", [](const Json& params, const std::string&) -> Result<api::Answer> {
        return api::Answer{Json{{"id", "e1"}, {"path", stringOr(params, "path")}}, {}};
    });
    m_daemon->on("sandboxes.list", Json{{"sandboxes", Json::array()}});
    m_daemon->on("sandboxes.plan", Json{{"steps", Json::array()}});
    m_daemon->on("sandboxes.stop", Json{{"job", "j2"}});
    m_daemon->on("models.ls", Json{{"models", Json::array()}});
    offerSandboxes(true);
    m_client = std::make_unique<api::Client>(api::Client::Options{data, "window", false, true, {}});
    m_client->open();
}

void HomeFailuresTest::cleanup()
{
    m_card.reset();
    m_client.reset();
    m_daemon.reset();
}

void HomeFailuresTest::useExample(const char* about)
{
    m_card = std::make_unique<ExampleCard>(*m_client, QStringLiteral("hello"), Json::parse(about));
    m_card->resize(420, 260);
    m_card->show();
    m_card->start();
}

void HomeFailuresTest::end()
{
    QTRY_VERIFY(!m_card->isBusy());
}

QPushButton* HomeFailuresTest::action(const QString& text) const
{
    for (auto* button : m_card->banner()->findChildren<QPushButton*>())
        if (button->text() == text)
            return button;
    return nullptr;
}

void HomeFailuresTest::offerSandboxes(bool available)
{
    Json provider{{"id", "local"}, {"available", available},
        {"interpreters", Json::array({Json{{"path", "/usr/bin/python3"}, {"version", "3.11"}}})}};
    if (!available)
        provider["reason"] = "user namespaces are switched off";
    m_daemon->on("sandboxes.capabilities", Json{{"providers", Json::array({provider})}});
}

void HomeFailuresTest::endStart(const Json& outcome)
{
    m_daemon->on("sandboxes.start", Json{{"job", "j1"}, {"sandbox", "s1"}});
    Json ended{{"id", "j1"}, {"state", outcome.contains("error") ? "failed" : "done"}};
    ended.update(outcome);
    m_daemon->on("jobs.get", ended);
    m_daemon->setItem("jobs", "j1", ended);
}

void HomeFailuresTest::answerDialog(const QString& path)
{
    QTimer::singleShot(0, this, [path] {
        auto* dialog = qobject_cast<QFileDialog*>(QApplication::activeModalWidget());
        QVERIFY(dialog);
        dialog->findChild<QLineEdit*>(QStringLiteral("fileNameEdit"))->setText(path);
        QMetaObject::invokeMethod(dialog, "accept");
        // A dialog that did not take it would keep the test for ever.
        QTimer::singleShot(dialogPatienceMs, dialog, &QDialog::reject);
    });
}

void HomeFailuresTest::isolationIsMissing()
{
    offerSandboxes(false);
    useExample(R"({"title": "Hello", "library": "hello", "modules": []})");
    end();
    QVERIFY(m_card->banner()->isVisible());
    QVERIFY2(m_card->banner()->accessibleName().contains(QStringLiteral("user namespaces are switched off")),
        qPrintable(m_card->banner()->accessibleName()));
    QVERIFY(action(QStringLiteral("Serve without isolation")));
    QCOMPARE(m_daemon->asked("sandboxes.start"), 0);
    test::picture(*m_card, QStringLiteral("home-failure"));
}

void HomeFailuresTest::servesWithoutIsolation_data()
{
    QTest::addColumn<QString>("state");
    QTest::newRow("served") << QStringLiteral("ready");
    QTest::newRow("does not load") << QStringLiteral("failed");
}

void HomeFailuresTest::servesWithoutIsolation()
{
    QFETCH(const QString, state);
    // In place of the program: it writes down what it was asked.
    const auto bin = m_folder.filePath(QStringLiteral("bin"));
    QVERIFY(QDir().mkpath(bin));
    const auto said = bin + QStringLiteral("/said");
    for (const auto* name : {"/glovebox", "/gloveboxd"}) {
        QFile program(bin + QLatin1String(name));
        QVERIFY(program.open(QIODevice::WriteOnly | QIODevice::Truncate));
        program.write("#!/bin/sh\necho \"$@\" > '" + said.toLocal8Bit() + "'\n");
        program.close();
        program.setPermissions(QFile::ReadOwner | QFile::WriteOwner | QFile::ExeOwner);
    }
    const auto before = qgetenv("GLOVEBOX_BIN");
    qputenv("GLOVEBOX_BIN", bin.toLocal8Bit());
    offerSandboxes(false);
    useExample(R"({"title": "Hello", "library": "hello", "modules": [], "by_hand": {"function": "greet"}})");
    end();
    QSignalSpy served(m_card.get(), &ExampleCard::served);
    action(QStringLiteral("Serve without isolation"))->click();
    qputenv("GLOVEBOX_BIN", before);
    QVERIFY(!m_card->banner()->isVisible());
    QVERIFY(m_card->isBusy());
    QTRY_VERIFY(QFile::exists(said) && QFileInfo(said).size() > 0);
    QFile written(said);
    QVERIFY(written.open(QIODevice::ReadOnly));
    const auto words = written.readAll().simplified().split(' ');
    QCOMPARE(words.size(), 4);
    QCOMPARE(words[0], QByteArray("serve"));
    QVERIFY2(words[1].endsWith("/interface.py"), words[1].constData());
    QCOMPARE(words[3], QByteArray("hello"));
    m_daemon->setItem("interfaces", "i7",
        Json{{"id", "i7"}, {"source", words[1].toStdString()}, {"state", state.toStdString()},
            {"error", {{"message", "line 3: no"}}}});
    QTRY_VERIFY(!m_card->isBusy());
    m_daemon->setItem("interfaces", "i7", Json());
    QFile::remove(said);
    if (state == QLatin1String("ready")) {
        QCOMPARE(served.size(), 1);
        QCOMPARE(served.first().first().toString(), QStringLiteral("i7/greet"));
        return;
    }
    QCOMPARE(served.size(), 0);
    QVERIFY(m_card->banner()->isVisible());
    QVERIFY(m_card->banner()->accessibleName().contains(QStringLiteral("ine 3: no")));
    QVERIFY(action(QStringLiteral("Try again")));
}

void HomeFailuresTest::modelIsMissing()
{
    useExample(R"({"title": "Scoped", "library": "m", "modules": ["torch"], "suggests": "org/small"})");
    end();
    // A window says what to click, not what to type.
    const auto said = m_card->banner()->accessibleName();
    QVERIFY2(said.contains(QStringLiteral("org/small")), qPrintable(said));
    QVERIFY2(!said.contains(QStringLiteral("glovebox ")) && !said.contains(QStringLiteral("--")),
        qPrintable(said));
    QSignalSpy led(m_card.get(), &ExampleCard::pageRequested);
    auto* fetch = action(QStringLiteral("Fetch a model"));
    QVERIFY(fetch);
    fetch->click();
    QCOMPARE(led.size(), 1);
    QCOMPARE(led.first().first().toString(), QStringLiteral("models"));
    QCOMPARE(led.first().at(1).toString(), QStringLiteral("org/small"));
}

void HomeFailuresTest::folderHasTheModel()
{
    useExample(R"({"title": "Scoped", "library": "m", "modules": ["torch"]})");
    end();
    endStart(Json::object());
    m_daemon->on("sandboxes.serve", Json{{"id", "i1"}});
    m_daemon->setItem("interfaces", "i1", Json::parse(R"({"id": "i1", "state": "ready"})"));
    const auto model = m_folder.filePath(QStringLiteral("tiny"));
    QVERIFY(QDir().mkpath(model));
    answerDialog(model);
    QSignalSpy served(m_card.get(), &ExampleCard::served);
    action(QStringLiteral("Use a folder…"))->click();
    QTRY_COMPARE(served.size(), 1);
    const auto given = objectOr(m_daemon->last("sandboxes.start"), "spec").at("models").at(0);
    QCOMPARE(stringOr(given, "name"), std::string("local/tiny"));
    QCOMPARE(stringOr(given, "path"), model.toStdString());
}

void HomeFailuresTest::anotherPythonIsUsed()
{
    m_daemon->on("models.ls",
        Json::parse(R"({"models": [{"repo": "a/small", "revisions": [{"complete": true, "bytes": 3}]}]})"));
    endStart(Json::object());
    m_daemon->on("sandboxes.serve", Json{{"id", "i1"}});
    m_daemon->setItem("interfaces", "i1",
        Json::parse(R"({"id": "i1", "state": "failed", "error": {"message": "No module named 'torch'"}})"));
    useExample(R"({"title": "Scoped", "library": "m", "modules": ["torch"]})");
    end();
    QTRY_COMPARE(m_daemon->asked("sandboxes.stop"), 1);
    m_daemon->setItem("interfaces", "i1", Json::parse(R"({"id": "i1", "state": "ready"})"));
    const auto python = m_folder.filePath(QStringLiteral("python3"));
    QFile file(python);
    QVERIFY(file.open(QIODevice::WriteOnly));
    file.close();
    answerDialog(python);
    QSignalSpy served(m_card.get(), &ExampleCard::served);
    action(QStringLiteral("Another Python…"))->click();
    QTRY_COMPARE(served.size(), 1);
    QCOMPARE(
        stringOr(objectOr(m_daemon->last("sandboxes.start"), "spec"), "interpreter"), python.toStdString());
}

void HomeFailuresTest::comesFromElsewhere()
{
    m_daemon->on("sandboxes.start", [](const Json&, const std::string&) -> Result<api::Answer> {
        return fail("experiment.untrusted", "it was not made here");
    });
    useExample(R"({"title": "Hello", "library": "hello", "modules": []})");
    end();
    QSignalSpy made(m_card.get(), &ExampleCard::made);
    QSignalSpy led(m_card.get(), &ExampleCard::pageRequested);
    action(QStringLiteral("Look at what it reaches"))->click();
    QCOMPARE(made.size(), 1);
    QVERIFY(made.first().first().toString().endsWith(QStringLiteral("/hello")));
    QCOMPARE(led.size(), 1);
    QCOMPARE(led.first().first().toString(), QStringLiteral("sandbox"));
}

void HomeFailuresTest::modulesAreMissing()
{
    m_daemon->on("models.ls",
        Json::parse(
            R"({"models": [{"repo": "a/big", "revisions": [{"complete": true, "bytes": 9}]},
                {"repo": "a/small", "revisions": [{"complete": true, "bytes": 3}]},
                {"repo": "a/broken", "revisions": [{"complete": false, "bytes": 1}]}]})"));
    endStart(Json::object());
    m_daemon->on("sandboxes.serve", Json{{"id", "i1"}});
    m_daemon->setItem("interfaces", "i1",
        Json::parse(R"({"id": "i1", "state": "failed", "error": {"message": "No module named 'torch'"}})"));
    useExample(R"({"title": "Scoped", "library": "m", "modules": ["torch"]})");
    end();
    QCOMPARE(stringOr(objectOr(m_daemon->last("sandboxes.start"), "spec")["models"][0], "name"),
        std::string("a/small"));
    QVERIFY2(m_card->banner()->accessibleName().contains(QStringLiteral("No module named 'torch'")),
        qPrintable(m_card->banner()->accessibleName()));
    QVERIFY(action(QStringLiteral("Another Python…")));
    QTRY_COMPARE(m_daemon->asked("sandboxes.stop"), 1);
}

void HomeFailuresTest::startFailsAndIsTakenDown()
{
    endStart(Json::parse(R"({"error": {"code": "sandbox.start", "message": "the disk is full"}})"));
    useExample(R"({"title": "Hello", "library": "hello", "modules": []})");
    end();
    QVERIFY(m_card->banner()->accessibleName().contains(QStringLiteral("disk is full")));
    QTRY_COMPARE(m_daemon->asked("sandboxes.stop"), 1);
    // The way out is to try again once there is room.
    endStart(Json::object());
    m_daemon->on("sandboxes.serve", Json{{"id", "i1"}});
    m_daemon->setItem("interfaces", "i1", Json::parse(R"({"id": "i1", "state": "ready"})"));
    QSignalSpy served(m_card.get(), &ExampleCard::served);
    action(QStringLiteral("Try again"))->click();
    QTRY_COMPARE(served.size(), 1);
    QVERIFY(!m_card->banner()->isVisible());
}

void HomeFailuresTest::cancelled()
{
    m_daemon->on("sandboxes.start", Json{{"job", "j1"}, {"sandbox", "s1"}});
    m_daemon->setItem("jobs", "j1", Json::parse(R"({"id": "j1", "state": "running", "title": "Start"})"));
    m_daemon->on("jobs.cancel", [this](const Json&, const std::string&) -> Result<api::Answer> {
        endStart(Json::parse(R"({"error": {"code": "cancelled", "message": ""}})"));
        return api::Answer{Json::object(), {}};
    });
    useExample(R"({"title": "Hello", "library": "hello", "modules": []})");
    QTRY_COMPARE(m_daemon->asked("sandboxes.start"), 1);
    QToolButton* cancel = nullptr;
    QTRY_VERIFY(([&] {
        for (auto* button : m_card->findChildren<QToolButton*>())
            if (button->isVisible() && button->accessibleName().startsWith(QStringLiteral("Cancel")))
                cancel = button;
        return cancel != nullptr;
    })());
    cancel->click();
    end();
    QVERIFY(!m_card->banner()->isVisible());
}

void HomeFailuresTest::focusStaysInTheCard()
{
    m_daemon->on("sandboxes.start", Json{{"job", "j1"}, {"sandbox", "s1"}});
    m_daemon->setItem("jobs", "j1", Json::parse(R"({"id": "j1", "state": "running", "title": "Start"})"));
    QWidget window;
    auto* layout = new QVBoxLayout(&window);
    const auto about = Json::parse(R"({"title": "Hello", "library": "hello", "modules": []})");
    auto* card = new ExampleCard(*m_client, QStringLiteral("hello"), about);
    layout->addWidget(card);
    layout->addWidget(new QPushButton(QStringLiteral("Start of the next")));
    window.show();
    window.activateWindow();
    QVERIFY(QTest::qWaitForWindowActive(&window, 60'000));
    auto* start = card->findChild<QPushButton*>();
    start->setFocus();
    start->click();
    QVERIFY(card->isBusy());
    QVERIFY(card->isAncestorOf(QApplication::focusWidget()));
    QTRY_COMPARE_WITH_TIMEOUT(m_daemon->asked("sandboxes.start"), 1, 60'000);
    QVERIFY(card->isAncestorOf(QApplication::focusWidget()));
    endStart(Json::parse(R"({"error": {"code": "cancelled", "message": ""}})"));
    QTRY_VERIFY_WITH_TIMEOUT(!card->isBusy(), 60'000);
    QCOMPARE(QApplication::focusWidget(), start);
}

void HomeFailuresTest::commandsCanBeCopied()
{
    QCOMPARE(ExampleCard::serveCommand(QStringLiteral("/home/ada/hello")),
        QStringLiteral("glovebox serve /home/ada/hello/interface.py"));
    QCOMPARE(ExampleCard::serveCommand(QStringLiteral("/home/ada/My Documents")),
        QStringLiteral("glovebox serve '/home/ada/My Documents/interface.py'"));
}

QTEST_MAIN(HomeFailuresTest)
#include "tst_homefailures.moc"
