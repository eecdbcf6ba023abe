// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

#include <csignal>

#include <QAction>
#include <QDir>
#include <QFile>
#include <QLabel>
#include <QPlainTextEdit>
#include <QPushButton>
#include <QTemporaryDir>
#include <QTest>

#include <tests/support/livedaemon.h>
#include <tests/support/picture.h>
#include <widgets/controls/banner.h>
#include <widgets/controls/splitter.h>
#include <widgets/controls/theme.h>
#include <widgets/pages/sandboxes/filepane.h>
#include <widgets/pages/sandboxes/sandboxespage.h>

using namespace gb;
using namespace gb::ui;

// The set-up page and the experiment's file, through a real daemon that others' editors and kill -9 meet.
class SandboxFileTest : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void initTestCase();
    void init();
    void cleanup();
    void cleanupTestCase();
    void anOutsideEditAppears();
    void aCommentAloneIsSaved();
    void nobodyIsOverwritten();
    void typedTextAndTheirsAreAskedAbout();
    void aFileThatCannotBeReadIsNotReplaced();
    void aFileThatIsGoneComesBack();
    void namesInEnvAppear();
    void theDaemonDiesWhileItSaves();
    void draftsOutliveTheDaemon();

private:
    bool waitFor(const std::function<bool()>& condition) { return QTest::qWaitFor(condition, 60'000); }
    QString path() const { return m_experiment + QStringLiteral("/experiment.toml"); }
    QByteArray onDisk() const;
    void edit(const QByteArray& text, const QString& name = QStringLiteral("experiment.toml")) const;
    void replace(const QByteArray& text) const; // as most editors do
    QAction* action(const QString& text) const;
    QPushButton* button(const QString& text) const;
    QString bannerText() const;
    QPlainTextEdit* editor() const { return m_page->filePane()->editor(); }
    std::string value(const char* field) const { return m_page->draft().value(field).dump(); }
    bool save();
    void killDaemon();

    QTemporaryDir m_folder;
    QString m_experiment;
    std::unique_ptr<api::Client> m_client;
    std::unique_ptr<SandboxesPage> m_page;
};

void SandboxFileTest::initTestCase()
{
    m_client = test::liveClient(m_folder.path());
    setRememberedFile(m_folder.filePath(QStringLiteral("window.ini")));
    Theme::instance().apply({Scheme::Light});
    m_client->open();
    QVERIFY(waitFor([this] { return m_client->state() == api::Client::State::Connected; }));
}

void SandboxFileTest::init()
{
    m_experiment = m_folder.filePath(QLatin1String(QTest::currentTestFunction()));
    QVERIFY(QDir().mkpath(m_experiment));
    edit("# mine\n[sandbox]\nname = \"one\"\ncpu = 2\n");
    m_page = std::make_unique<SandboxesPage>(*m_client);
    m_page->resize(1224, 740);
    m_page->show();
    m_page->setExperiment(m_experiment);
    action(QStringLiteral("Show file"))->trigger();
    QVERIFY(waitFor([this] { return m_page->settled() && value("name") == "\"one\""; }));
}

void SandboxFileTest::cleanup()
{
    m_page.reset();
}

void SandboxFileTest::cleanupTestCase()
{
    QVERIFY(test::endLive(m_client));
}

QByteArray SandboxFileTest::onDisk() const
{
    QFile file(path());
    return file.open(QIODevice::ReadOnly) ? file.readAll() : QByteArray();
}

void SandboxFileTest::edit(const QByteArray& text, const QString& name) const
{
    QFile file(m_experiment + QLatin1Char('/') + name);
    QVERIFY(file.open(QIODevice::WriteOnly | QIODevice::Truncate));
    QCOMPARE(file.write(text), text.size());
}

void SandboxFileTest::replace(const QByteArray& text) const
{
    edit(text, QStringLiteral("experiment.toml.new"));
    QCOMPARE(::rename(qPrintable(path() + QStringLiteral(".new")), qPrintable(path())), 0);
}

QAction* SandboxFileTest::action(const QString& text) const
{
    for (auto* each : m_page->pageActions())
        if (each->text() == text)
            return each;
    return nullptr;
}

QPushButton* SandboxFileTest::button(const QString& text) const
{
    for (auto* each : m_page->findChildren<QPushButton*>())
        if (each->text() == text && each->isVisible())
            return each;
    return nullptr;
}

QString SandboxFileTest::bannerText() const
{
    QString all;
    for (const auto* banner : m_page->findChildren<Banner*>(QString(), Qt::FindDirectChildrenOnly))
        for (const auto* label : banner->findChildren<QLabel*>())
            if (label->isVisible())
                all += label->text() + QLatin1Char('\n');
    return all;
}

bool SandboxFileTest::save()
{
    auto* const saving = action(QStringLiteral("Save"));
    if (!saving->isEnabled())
        return false;
    saving->trigger();
    return waitFor([this, saving] { return m_page->settled() && !saving->isEnabled(); });
}

void SandboxFileTest::killDaemon()
{
    const auto pid = static_cast<pid_t>(integerOr(m_client->daemonInfo(), "pid", 1));
    QVERIFY(pid > 1);
    QCOMPARE(::kill(pid, SIGKILL), 0);
}

void SandboxFileTest::anOutsideEditAppears()
{
    edit("# mine\n[sandbox]\nname = \"two\"\ncpu = 2\n");
    QVERIFY(waitFor([this] { return value("name") == "\"two\""; }));
    // A file that is put in its place, twice: the watch has to be on the new one.
    replace("# theirs\n[sandbox]\nname = \"three\"\ncpu = 2\n");
    QVERIFY(waitFor([this] { return value("name") == "\"three\""; }));
    edit("# theirs again\n[sandbox]\nname = \"four\"\ncpu = 2\n");
    QVERIFY(waitFor([this] { return value("name") == "\"four\""; }));
    QVERIFY(editor()->toPlainText().startsWith(QStringLiteral("# theirs again\n")));
    QVERIFY(!m_page->draft().isDirty());
}

void SandboxFileTest::aCommentAloneIsSaved()
{
    QVERIFY(!action(QStringLiteral("Save"))->isEnabled());
    editor()->setPlainText(QStringLiteral("# more of mine\n") + editor()->toPlainText());
    QVERIFY(waitFor([this] { return action(QStringLiteral("Save"))->isEnabled(); }));
    QFile::setPermissions(path(), QFile::ReadOwner | QFile::WriteOwner);
    QVERIFY(save());
    QCOMPARE(onDisk(), QByteArray("# more of mine\n# mine\n[sandbox]\nname = \"one\"\ncpu = 2\n"));
    QVERIFY(!QFile::permissions(path()).testFlag(QFile::ReadOther));
    // Discarded, the text is the file's again.
    editor()->setPlainText(QStringLiteral("# not wanted\n") + editor()->toPlainText());
    QVERIFY(waitFor([this] { return action(QStringLiteral("Discard changes"))->isEnabled(); }));
    action(QStringLiteral("Discard changes"))->trigger();
    QCOMPARE(editor()->toPlainText().toUtf8(), onDisk());
}

void SandboxFileTest::nobodyIsOverwritten()
{
    m_page->draft().set("cpu", 8);
    // The window has not heard of it when it saves.
    const QByteArray theirs("# theirs\n[sandbox]\nname = \"other\"\ncpu = 4\n");
    edit(theirs);
    action(QStringLiteral("Save"))->trigger();
    QVERIFY(waitFor([this] { return button(QStringLiteral("Keep mine")) != nullptr; }));
    QCOMPARE(onDisk(), theirs);
    QCOMPARE(value("cpu"), std::string("8"));
    QCOMPARE(value("name"), std::string("\"other\""));
    test::picture(*m_page, QStringLiteral("file-conflict"));
    button(QStringLiteral("Keep mine"))->click();
    QVERIFY(save());
    QCOMPARE(onDisk(), QByteArray("# theirs\n[sandbox]\nname = \"other\"\ncpu = 8.0\n"));
}

void SandboxFileTest::typedTextAndTheirsAreAskedAbout()
{
    editor()->setPlainText(QStringLiteral("# typed\n") + editor()->toPlainText());
    QVERIFY(waitFor([this] { return action(QStringLiteral("Save"))->isEnabled(); }));
    const QByteArray theirs("# theirs\n[sandbox]\nname = \"other\"\ncpu = 2\n");
    edit(theirs);
    QVERIFY(waitFor([this] { return button(QStringLiteral("Take theirs")) != nullptr; }));
    QVERIFY(editor()->toPlainText().startsWith(QStringLiteral("# typed\n")));
    QCOMPARE(value("name"), std::string("\"other\""));
    button(QStringLiteral("Take theirs"))->click();
    QCOMPARE(editor()->toPlainText().toUtf8(), theirs);
    QVERIFY(!action(QStringLiteral("Save"))->isEnabled());
}

void SandboxFileTest::aFileThatCannotBeReadIsNotReplaced()
{
    const QByteArray latin("# caf\xe9\n[sandbox]\nname = \"one\"\n");
    edit(latin);
    QVERIFY(waitFor([this] { return bannerText().contains(QStringLiteral("UTF-8")); }));
    m_page->draft().set("cpu", 8);
    action(QStringLiteral("Save"))->trigger();
    QVERIFY(waitFor([this] { return bannerText().contains(QStringLiteral("not saved")); }));
    QCOMPARE(onDisk(), latin);
    // Repaired, it is followed again, and what was typed meanwhile is still here.
    edit("[sandbox]\nname = \"repaired\"\ncpu = 2\n");
    QVERIFY(waitFor([this] { return value("name") == "\"repaired\""; }));
    QCOMPARE(value("cpu"), std::string("8"));
    QVERIFY(save());
    QCOMPARE(onDisk(), QByteArray("[sandbox]\nname = \"repaired\"\ncpu = 8.0\n"));
}

void SandboxFileTest::aFileThatIsGoneComesBack()
{
    QVERIFY(QFile::remove(path()));
    QVERIFY(waitFor([this] { return bannerText().contains(QStringLiteral("no experiment.toml")); }));
    QCOMPARE(value("name"), std::string("\"one\""));
    QVERIFY(save());
    QCOMPARE(onDisk(), QByteArray("# mine\n[sandbox]\nname = \"one\"\ncpu = 2\n"));
}

void SandboxFileTest::namesInEnvAppear()
{
    m_page->draft().set("secrets", {"GB_IN_FILE"});
    const auto chip = [this](const QString& text) { return button(text) != nullptr; };
    QVERIFY(waitFor([&] { return chip(QString::fromUtf8("GB_IN_FILE · not found")); }));
    edit("export GB_IN_FILE=secret-value\n", QStringLiteral(".env"));
    QVERIFY(waitFor([&] { return chip(QString::fromUtf8("GB_IN_FILE · in .env")); }));
}

void SandboxFileTest::theDaemonDiesWhileItSaves()
{
    for (int round = 0; round < 8; ++round) {
        const auto name = "round-" + std::to_string(round);
        m_page->draft().set("name", name);
        action(QStringLiteral("Save"))->trigger();
        QTest::qWait(round); // before the request, within it, after it
        killDaemon();
        QVERIFY(waitFor([this] {
            return m_client->state() == api::Client::State::Connected && m_page->settled()
                && !m_page->draft().isDirty();
        }));
        QCOMPARE(
            onDisk(), QByteArray::fromStdString("# mine\n[sandbox]\nname = \"" + name + "\"\ncpu = 2\n"));
        QVERIFY2(bannerText().isEmpty(), qPrintable(bannerText()));
    }
    // Nothing is left lying about.
    QCOMPARE(QDir(m_experiment).entryList(QDir::Files | QDir::Hidden).join(' '), QString("experiment.toml"));
}

void SandboxFileTest::draftsOutliveTheDaemon()
{
    m_page->draft().set("cpu", 8);
    killDaemon();
    edit("# while nobody looked\n[sandbox]\nname = \"other\"\ncpu = 2\n");
    QVERIFY(waitFor([this] { return value("name") == "\"other\""; }));
    QCOMPARE(value("cpu"), std::string("8"));
    // The new daemon follows the file as well.
    edit("# now\n[sandbox]\nname = \"again\"\ncpu = 2\n");
    QVERIFY(waitFor([this] { return value("name") == "\"again\""; }));
    QVERIFY(save());
    QCOMPARE(onDisk(), QByteArray("# now\n[sandbox]\nname = \"again\"\ncpu = 8.0\n"));
}

QTEST_MAIN(SandboxFileTest)
#include "tst_sandboxfile.moc"
