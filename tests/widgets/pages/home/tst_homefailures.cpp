// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

#include <QPushButton>
#include <QSignalSpy>
#include <QTemporaryDir>
#include <QTest>
#include <QToolButton>

#include <tests/support/fakedaemon.h>
#include <tests/support/picture.h>
#include <widgets/controls/banner.h>
#include <widgets/controls/theme.h>
#include <widgets/pages/home/examplecard.h>

using namespace gb;
using namespace gb::ui;

// Whatever an example cannot do here is said in its card, with what can be done instead.
class HomeFailuresTest : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void initTestCase();
    void init();
    void cleanup();
    void isolationIsMissing();
    void modelIsMissing();
    void modulesAreMissing();
    void startFailsAndIsTakenDown();
    void cancelled();

private:
    void useExample(const char* about);
    void end();
    QPushButton* action(const QString& text) const;
    void offerSandboxes(bool available);
    // A sandbox whose start ends in this way.
    void endStart(const Json& outcome);

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

void HomeFailuresTest::modelIsMissing()
{
    useExample(R"({"title": "Scoped", "library": "m", "modules": ["torch"]})");
    end();
    QSignalSpy led(m_card.get(), &ExampleCard::pageRequested);
    auto* fetch = action(QStringLiteral("Fetch a model"));
    QVERIFY(fetch);
    fetch->click();
    QCOMPARE(led.size(), 1);
    QCOMPARE(led.first().first().toString(), QStringLiteral("models"));
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

QTEST_MAIN(HomeFailuresTest)
#include "tst_homefailures.moc"
