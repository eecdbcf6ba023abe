// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

#include <QAbstractButton>
#include <QApplication>
#include <QButtonGroup>
#include <QComboBox>
#include <QLineEdit>
#include <QMessageBox>
#include <QPushButton>
#include <QTemporaryDir>
#include <QTest>
#include <QTextBrowser>
#include <QTimer>

#include <widgets/controls/splitter.h>
#include <widgets/controls/theme.h>
#include <widgets/shell/closequestion.h>
#include <widgets/shell/commandpalette.h>
#include <widgets/shell/helppanel.h>
#include <widgets/shell/mainwindow.h>

using namespace gb;
using namespace gb::ui;

// No hand on the mouse.
class KeyboardTest : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void initTestCase();
    void tabReachesEverything_data();
    void tabReachesEverything();
    void ctrlNumbersAndPalette();
    void f1Helps();
    void closingKeepsUnlessToldOtherwise();

private:
    api::Client::Options options() const
    {
        return {fs::path(m_folder.path().toStdString()), "window", false, false, {}};
    }
    QTemporaryDir m_folder;
};

void KeyboardTest::initTestCase()
{
    setRememberedFile(m_folder.filePath(QStringLiteral("window.ini")));
    Theme::instance().apply({Scheme::Light});
}

void KeyboardTest::tabReachesEverything_data()
{
    QTest::addColumn<QString>("page");
    for (const auto* page : {"home", "sandbox", "models", "inspector", "settings"})
        QTest::newRow(page) << QString::fromLatin1(page);
}

void KeyboardTest::tabReachesEverything()
{
    QFETCH(QString, page);
    api::Client client(options());
    MainWindow window(client, page);
    window.resize(1280, 800);
    window.show();
    QVERIFY(QTest::qWaitForWindowActive(&window));
    QSet<const QWidget*> reached;
    // Once around is enough; where the focus stays, more does not help.
    for (int i = 0; i < 600; ++i) {
        QTest::keyClick(QApplication::focusWidget() ? QApplication::focusWidget() : &window, Qt::Key_Tab);
        reached += QApplication::focusWidget();
    }
    int expected = 0;
    for (const auto* widget : window.findChildren<QWidget*>()) {
        const auto* button = qobject_cast<const QAbstractButton*>(widget);
        if (!widget->isVisible() || !widget->isEnabled() || qobject_cast<QLineEdit*>(widget->parentWidget())
            || (button && button->property("gbKind") == QStringLiteral("chip")) // the arrows lead there
            || !(button || qobject_cast<const QComboBox*>(widget) || qobject_cast<const QLineEdit*>(widget)))
            continue;
        ++expected;
        bool found = reached.contains(widget) || reached.contains(widget->focusProxy());
        // Of buttons of which one is chosen, Tab goes to that one and the arrows to the others.
        if (button && button->group() && button->group()->exclusive())
            for (const auto* other : button->group()->buttons())
                found |= reached.contains(other);
        QVERIFY2(found,
            qPrintable(QStringLiteral("Tab does not reach %1 \"%2\"")
                           .arg(QLatin1String(widget->metaObject()->className()), widget->accessibleName())));
    }
    QVERIFY(expected > 8);
}

void KeyboardTest::ctrlNumbersAndPalette()
{
    api::Client client(options());
    MainWindow window(client);
    window.show();
    QVERIFY(QTest::qWaitForWindowActive(&window));
    const char* pages[] = {
        "home", "sandbox", "models", "inspector", "runs", "notebook", "snapshots", "settings"};
    for (int i = 0; i < 8; ++i) {
        QTest::keyClick(&window, static_cast<Qt::Key>(Qt::Key_1 + i), Qt::ControlModifier);
        QCOMPARE(window.currentPage()->id(), QLatin1String(pages[i]));
    }
    QTest::keyClick(&window, Qt::Key_K, Qt::ControlModifier);
    auto* palette = window.findChild<CommandPalette*>();
    QVERIFY(palette->isVisible());
    QTest::keyClicks(QApplication::focusWidget(), QStringLiteral("go to home"));
    QTest::keyClick(QApplication::focusWidget(), Qt::Key_Return);
    QCOMPARE(window.currentPage()->id(), QStringLiteral("home"));
}

void KeyboardTest::f1Helps()
{
    api::Client client(options());
    MainWindow window(client, QStringLiteral("settings"));
    window.show();
    QVERIFY(QTest::qWaitForWindowActive(&window));
    QTest::keyClick(&window, Qt::Key_F1);
    auto* help = window.findChild<HelpPanel*>();
    QVERIFY(help->isVisible());
    const auto text = help->findChild<QTextBrowser*>()->toPlainText();
    QVERIFY2(text.startsWith(QStringLiteral("Settings")), qPrintable(text));
    QVERIFY(text.contains(QStringLiteral("Ctrl+K")));
    QTest::keyClick(QApplication::focusWidget(), Qt::Key_Escape);
    QVERIFY(!help->isVisible());
}

void KeyboardTest::closingKeepsUnlessToldOtherwise()
{
    const QList<AliveItem> alive{{AliveItem::Kind::Sandbox, QStringLiteral("1"), QStringLiteral("box"),
        QStringLiteral("ready"), 0, 1, 2.5, true}};
    const auto answered = [&alive](const std::function<void(QMessageBox*)>& act) {
        QTimer::singleShot(0, [act] { act(qobject_cast<QMessageBox*>(QApplication::activeModalWidget())); });
        return askAboutAlive(nullptr, alive);
    };
    QString told;
    QCOMPARE(answered([&told](QMessageBox* box) {
        told = box->informativeText();
        QTest::keyClick(box, Qt::Key_Return);
    }),
        CloseAnswer::KeepRunning);
    QVERIFY2(told.contains(QStringLiteral("$2.50 per hour")), qPrintable(told));
    QCOMPARE(answered([](QMessageBox* box) { QTest::keyClick(box, Qt::Key_Escape); }), CloseAnswer::Cancel);
    QCOMPARE(answered([](QMessageBox* box) {
        for (auto* button : box->buttons())
            if (box->buttonRole(button) == QMessageBox::DestructiveRole)
                button->click();
    }),
        CloseAnswer::Stop);
}

QTEST_MAIN(KeyboardTest)
#include "tst_keyboard.moc"
