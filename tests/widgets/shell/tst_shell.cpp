// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

#include <algorithm>

#include <QAbstractButton>
#include <QApplication>
#include <QComboBox>
#include <QLabel>
#include <QLineEdit>
#include <QListWidget>
#include <QSettings>
#include <QTemporaryDir>
#include <QTest>

#include <tests/support/picture.h>
#include <widgets/controls/errortext.h>
#include <widgets/controls/splitter.h>
#include <widgets/controls/theme.h>
#include <widgets/shell/commandpalette.h>
#include <widgets/shell/mainwindow.h>

using namespace gb;
using namespace gb::ui;

// The window without a daemon: everything is there, reachable, and honest about what is not.
class ShellTest : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void initTestCase();
    void lettersFind();
    void everyPageOpens();
    void paletteRunsWhatIsChosen();
    void everythingWithFocusHasAName();
    void remembersItsPlace();
    void errorsSayWhatToDo();
    void errorsAreSentences_data();
    void errorsAreSentences();
    void pictures();

private:
    api::Client::Options options() const
    {
        return {fs::path(m_folder.path().toStdString()), "window", false, false, {}};
    }
    QTemporaryDir m_folder;
};

void ShellTest::initTestCase()
{
    setRememberedFile(m_folder.filePath(QStringLiteral("window.ini")));
    Theme::instance().apply({Scheme::Light});
}

void ShellTest::lettersFind()
{
    QCOMPARE(matchScore(QStringLiteral("xyz"), QStringLiteral("Go to Inspector")), -1);
    QVERIFY(matchScore(QStringLiteral("ins"), QStringLiteral("Go to Inspector"))
        > matchScore(QStringLiteral("ins"), QStringLiteral("Go in to see")));
    QVERIFY(matchScore(QStringLiteral("gi"), QStringLiteral("Go to Inspector"))
        > matchScore(QStringLiteral("gi"), QStringLiteral("Go to Settings")));
}

void ShellTest::everyPageOpens()
{
    api::Client client(options());
    MainWindow window(client);
    window.show();
    QVERIFY(QTest::qWaitForWindowActive(&window));
    for (int i = 1; i <= 8; ++i) {
        QTest::keyClick(&window, static_cast<Qt::Key>(Qt::Key_0 + i), Qt::ControlModifier);
        QVERIFY(window.currentPage());
    }
    QCOMPARE(window.currentPage()->id(), QStringLiteral("settings"));
    for (const auto* id :
        {"home", "sandbox", "models", "inspector", "runs", "notebook", "snapshots", "settings"})
        QVERIFY2(window.showPage(QLatin1String(id)), id);
    QVERIFY(!window.showPage(QStringLiteral("nonsense")));
}

void ShellTest::paletteRunsWhatIsChosen()
{
    api::Client client(options());
    MainWindow window(client);
    window.show();
    QVERIFY(window.commands().size() > 12);
    auto* palette = window.findChild<CommandPalette*>();
    palette->open(window.commands());
    auto* field = palette->findChild<QLineEdit*>();
    QTest::keyClicks(field, QStringLiteral("insp"));
    QVERIFY(palette->findChild<QListWidget*>()->count() >= 1);
    QTest::keyClick(field, Qt::Key_Return);
    QCOMPARE(window.currentPage()->id(), QStringLiteral("inspector"));
    QVERIFY(!palette->isVisible());
    palette->open(window.commands());
    const auto says = [palette] {
        const auto labels = palette->findChildren<QLabel*>();
        return std::ranges::any_of(labels, [](const QLabel* label) { return label->isVisible(); });
    };
    QVERIFY(!says());
    QTest::keyClicks(field, QStringLiteral("qqqqq"));
    QVERIFY(says());
    field->clear();
    QVERIFY(!says());
    QTest::keyClick(field, Qt::Key_Escape);
    QVERIFY(!palette->isVisible());
}

void ShellTest::everythingWithFocusHasAName()
{
    api::Client client(options());
    MainWindow window(client);
    window.show();
    int checked = 0;
    for (const auto* id : {"home", "sandbox", "models", "inspector", "settings"}) {
        QVERIFY(window.showPage(QLatin1String(id)));
        for (const auto* widget : window.findChildren<QWidget*>()) {
            // Whoever hands the focus on is spoken of by the one who gets it.
            if (!(widget->focusPolicy() & Qt::TabFocus) || widget->focusProxy()
                || !widget->isVisibleTo(&window) || widget->objectName().startsWith(QStringLiteral("qt_")))
                continue;
            const auto* button = qobject_cast<const QAbstractButton*>(widget);
            if (!widget->accessibleName().isEmpty() || (button && !button->text().isEmpty()))
                ++checked;
            else if (!widget->inherits("QTabBar") && !widget->inherits("QTabWidget")
                && !widget->inherits("QScrollArea"))
                QFAIL(qPrintable(QStringLiteral("%1: a %2 in a %3 takes the focus and has no name")
                                     .arg(QLatin1String(id), QLatin1String(widget->metaObject()->className()),
                                         QLatin1String(widget->parentWidget()->metaObject()->className()))));
        }
    }
    QVERIFY(checked > 20);
}

void ShellTest::remembersItsPlace()
{
    const QSize chosen(810, 640);
    api::Client client(options());
    {
        MainWindow window(client);
        QVERIFY(window.size() != chosen);
        window.resize(chosen);
        window.show();
        QVERIFY(window.close());
    }
    MainWindow window(client);
    window.show();
    QCOMPARE(window.size(), chosen);
    remembered().remove(QStringLiteral("window/geometry"));
}

void ShellTest::errorsSayWhatToDo()
{
    const auto details = errorDetails(Error{"presets.exists", "there is a preset \"x\" already"});
    QVERIFY2(details.endsWith(QStringLiteral("What to do: replace it, or choose another name")),
        qPrintable(details));
    QVERIFY(!errorDetails(Error{"no.such", "x"}).contains(QStringLiteral("What to do")));
}

void ShellTest::errorsAreSentences_data()
{
    QTest::addColumn<QByteArray>("message");
    QTest::addColumn<QByteArray>("sentence");
    const auto row = [](const char* message, const char* sentence) {
        QTest::newRow(message) << QByteArray(message) << QByteArray(sentence);
    };
    row("the sandbox is gone", "The sandbox is gone");
    row("there is no example called x", "There is no example called x");
    row("nothing is served", "Nothing is served");
    row("cannot remove it", "Cannot remove it");
    // A name is spelled one way.
    row("numpi was not found", "numpi was not found");
    row("uv is not installed", "uv is not installed");
    row("count_slowly is busy", "count_slowly is busy");
}

void ShellTest::errorsAreSentences()
{
    QFETCH(QByteArray, message);
    QFETCH(QByteArray, sentence);
    QCOMPARE(errorSentence(Error{"some.code", message.toStdString()}).toUtf8(), sentence);
}

void ShellTest::pictures()
{
    for (const auto scheme : {Scheme::Light, Scheme::Dark}) {
        Theme::instance().apply({scheme});
        api::Client client(options());
        MainWindow window(client);
        window.resize(1280, 800);
        window.show();
        window.findChild<CommandPalette*>()->open(window.commands());
        const auto name =
            QStringLiteral("palette-%1").arg(QLatin1String(scheme == Scheme::Dark ? "dark" : "light"));
        QVERIFY(gb::test::colorsIn(gb::test::picture(window, name)) > 16);
    }
}

QTEST_MAIN(ShellTest)
#include "tst_shell.moc"
