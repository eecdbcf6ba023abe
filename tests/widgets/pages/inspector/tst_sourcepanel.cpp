// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

#include <QAction>
#include <QTest>

#include <tests/support/fakedaemon.h>
#include <tests/support/picture.h>
#include <tests/support/temporary.h>
#include <widgets/controls/banner.h>
#include <widgets/controls/codeeditor.h>
#include <widgets/controls/theme.h>
#include <widgets/pages/inspector/callrecords.h>
#include <widgets/pages/inspector/sourcepanel.h>

using namespace gb;
using namespace gb::ui;

namespace {

const char* const sourceText = "@expose\ndef add(a: int, b) -> int:\n    return a + b\n";

} // namespace

class SourcePanelTest : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void init();
    void cleanup();
    void showsTheLineWithItsFindings();
    void savesAndLoadsAgain();
    void keepsWhatSomebodyElseWrote();
    void goesToTheLineThatDoesNotLoad();
    void keepsWhatIsTypedWhenTheFileIsLoadedAgain();
    void findsTheLineOfAnError();
    void pictures_data();
    void pictures();

private:
    void show(int line)
    {
        m_panel->showSource("i1", line);
        QTRY_VERIFY(m_panel->settled());
        QTRY_COMPARE(m_panel->editor()->toPlainText(), QString::fromUtf8(sourceText));
    }
    void saveTyped(const QString& typed)
    {
        m_panel->editor()->moveCursor(QTextCursor::End);
        QTest::keyClicks(m_panel->editor(), typed);
        QVERIFY(m_panel->saveAction()->isEnabled());
        m_panel->saveAction()->trigger();
        QTRY_COMPARE(m_daemon->asked("interfaces.save"), 1);
    }

    std::unique_ptr<test::TemporaryFolder> m_folder;
    std::unique_ptr<test::FakeDaemon> m_daemon;
    std::unique_ptr<api::Client> m_client;
    std::unique_ptr<SourcePanel> m_panel;
};

void SourcePanelTest::init()
{
    m_folder = std::make_unique<test::TemporaryFolder>();
    m_daemon = std::make_unique<test::FakeDaemon>(m_folder->path());
    m_daemon->on("interfaces.source", Json{{"path", "/x/sums.py"}, {"text", sourceText}, {"etag", "one"}});
    m_daemon->on("interfaces.check",
        Json{{"findings",
            Json::array({{{"line", 2}, {"severity", "warning"}, {"message", "b has no annotation"},
                {"fix", "write b: int"}}})}});
    m_daemon->on("interfaces.save",
        Json{{"path", "/x/sums.py"}, {"etag", "two"}, {"reload", {{"how", "fresh"}, {"ms", 3}}}});
    m_client =
        std::make_unique<api::Client>(api::Client::Options{m_folder->path(), "test", false, false, {}});
    m_client->open();
    QTRY_COMPARE(int(m_client->state()), int(api::Client::State::Connected));
    m_panel = std::make_unique<SourcePanel>(*m_client);
    m_panel->resize(720, 420);
}

void SourcePanelTest::cleanup()
{
    m_panel.reset();
    m_client.reset();
    m_daemon.reset();
    m_folder.reset();
}

void SourcePanelTest::showsTheLineWithItsFindings()
{
    show(3);
    QCOMPARE(m_panel->editor()->currentLine(), 3);
    QVERIFY(!m_panel->isChanged() && !m_panel->saveAction()->isEnabled());
    QTRY_COMPARE(m_panel->editor()->findingsAt(2), QString::fromUtf8("b has no annotation — write b: int"));
    // Another line of the same file asks for nothing.
    m_panel->showSource("i1", 1);
    QCOMPARE(m_panel->editor()->currentLine(), 1);
    QCOMPARE(m_daemon->asked("interfaces.source"), 1);
}

void SourcePanelTest::savesAndLoadsAgain()
{
    show(1);
    saveTyped(QStringLiteral("# more"));
    QCOMPARE(stringOr(m_daemon->last("interfaces.save"), "etag"), std::string("one"));
    QCOMPARE(stringOr(m_daemon->last("interfaces.save"), "text"), std::string(sourceText) + "# more");
    QTRY_VERIFY(!m_panel->isChanged());
    // The next save goes on from the text that was saved.
    QTest::keyClicks(m_panel->editor(), QStringLiteral("!"));
    m_panel->saveAction()->trigger();
    QTRY_COMPARE(stringOr(m_daemon->last("interfaces.save"), "etag"), std::string("two"));
}

void SourcePanelTest::keepsWhatSomebodyElseWrote()
{
    m_daemon->on("interfaces.save", [](const Json&, const std::string&) -> Result<api::Answer> {
        return fail("interfaces.changed", "changed by somebody else");
    });
    show(1);
    saveTyped(QStringLiteral("# mine"));
    QTRY_VERIFY(!m_panel->findChild<Banner*>()->title().isEmpty());
    QVERIFY(m_panel->isChanged() && m_panel->editor()->toPlainText().endsWith(QStringLiteral("# mine")));
}

void SourcePanelTest::goesToTheLineThatDoesNotLoad()
{
    const Json frames = Json::array({{{"file", "/x/sums.py"}, {"line", 2}, {"user", true}},
        {{"file", "/usr/lib/python3/json.py"}, {"line", 77}, {"user", false}}});
    m_daemon->on("interfaces.save",
        Json{{"path", "/x/sums.py"}, {"etag", "two"},
            {"error",
                {{"code", "load_failed"}, {"message", "no such name"}, {"data", {{"frames", frames}}}}}});
    show(1);
    saveTyped(QStringLiteral("oops"));
    QTRY_COMPARE(m_panel->editor()->currentLine(), 2);
    QVERIFY(!m_panel->isChanged()); // saved all the same
    QVERIFY(m_panel->editor()->findingsAt(2).contains(QStringLiteral("no such name")));
}

void SourcePanelTest::keepsWhatIsTypedWhenTheFileIsLoadedAgain()
{
    show(1);
    QTest::keyClicks(m_panel->editor(), QStringLiteral("# typed"));
    m_daemon->on("interfaces.source", Json{{"path", "/x/sums.py"}, {"text", "other"}, {"etag", "three"}});
    m_panel->refresh();
    QTest::qWait(50);
    QVERIFY(m_panel->editor()->toPlainText().contains(QStringLiteral("# typed")));
    QCOMPARE(m_daemon->asked("interfaces.source"), 1);
    m_panel->editor()->document()->setModified(false);
    m_panel->refresh();
    QTRY_COMPARE(m_panel->editor()->toPlainText(), QStringLiteral("other"));
}

void SourcePanelTest::findsTheLineOfAnError()
{
    const Json interfaces{{"i1", {{"source", "/home/me/sums.py"}}}};
    const auto frame = [](const char* file, int line, bool user) {
        return Json{{"file", file}, {"line", line}, {"user", user}};
    };
    const Json error{{"frames",
        Json::array({frame("/run/glovebox/interface/1/sums.py", 4, true),
            frame("/run/glovebox/interface/1/sums.py", 9, true), frame("/usr/lib/sums.py", 50, false)})}};
    QCOMPARE(lineInSource(error, interfaces, "i1"), 9);
    QCOMPARE(lineInSource(error, interfaces, "other"), 0);
    QCOMPARE(lineInSource(Json::object(), interfaces, "i1"), 0);
}

void SourcePanelTest::pictures_data()
{
    QTest::addColumn<bool>("dark");
    QTest::newRow("light") << false;
    QTest::newRow("dark") << true;
}

void SourcePanelTest::pictures()
{
    QFETCH(const bool, dark);
    Look look;
    look.scheme = dark ? Scheme::Dark : Scheme::Light;
    Theme::instance().apply(look);
    m_daemon->on("interfaces.save", [](const Json&, const std::string&) -> Result<api::Answer> {
        return fail("interfaces.changed", "/x/sums.py was changed by somebody else since it was read");
    });
    show(2);
    saveTyped(QStringLiteral("x"));
    QTRY_VERIFY(!m_panel->findChild<Banner*>()->title().isEmpty());
    const auto image =
        gb::test::picture(*m_panel, dark ? QStringLiteral("source-dark") : QStringLiteral("source-light"));
    QVERIFY(gb::test::colorsIn(image) > 10);
}

QTEST_MAIN(SourcePanelTest)
#include "tst_sourcepanel.moc"
