// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

#include <QApplication>
#include <QClipboard>
#include <QKeyEvent>
#include <QSignalSpy>
#include <QTest>

#include <tests/support/picture.h>
#include <widgets/controls/terminalview.h>
#include <widgets/controls/theme.h>

using namespace gb;
using namespace gb::ui;

// The grid a program's output becomes, and the bytes keys become.
class TerminalTest : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void sequences_data();
    void sequences();
    void anyCutGivesTheSame();
    void scrollsAndComesBack();
    void resizes();
    void answersWhereTheCursorIs();
    void hostileBytesEnd();
    void keys_data();
    void keys();
    void pasteIsTextOnly();
    void drawsBothThemes();

private:
    static QStringList shown(const TerminalScreen& screen)
    {
        QStringList lines;
        for (int i = screen.pastCount(); i < screen.lineCount(); ++i)
            lines += QString::fromStdString(screen.text(i));
        while (!lines.isEmpty() && lines.last().isEmpty())
            lines.removeLast();
        return lines;
    }
};

void TerminalTest::sequences_data()
{
    QTest::addColumn<QByteArray>("bytes");
    QTest::addColumn<QString>("screen");
    const auto row = [](const char* name, const QByteArray& bytes, const char* screen) {
        QTest::newRow(name) << bytes << QString::fromUtf8(screen);
    };
    row("lines", "one\r\ntwo", "one|two");
    row("progress bar", "10 %\r20 %\r\x1b[K100 %", "100 %");
    row("backspace", "abc\b\bX", "aXc");
    row("tab", "a\tb", "a       b");
    row("wrap", "0123456789ab", "0123456789|ab");
    row("no wrap", "\x1b[?7l0123456789ab", "012345678b");
    row("move", "\x1b[3;4Hx\x1b[1;1Hy\x1b[Bz", "y| z|   x");
    row("erase", "abc\r\ndef\x1b[1;2H\x1b[J", "a");
    row("erase in line", "abcdef\x1b[3G\x1b[1K", "   def");
    row("insert and delete", "abcdef\x1b[1G\x1b[2@XY\x1b[2P", "XYcdef");
    row("insert lines", "a\r\nb\r\nc\x1b[2;1H\x1b[1L", "a||b|c");
    row("delete lines", "a\r\nb\r\nc\x1b[1;1H\x1b[1M", "b|c");
    row("region", "\x1b[2;3r\x1b[1;1Ha\r\nb\r\nc\r\nd", "a|c|d");
    row("alternate", "shell\x1b[?1049heditor\x1b[?1049l", "shell");
    row("save",
        "ab\x1b"
        "7cd\x1b"
        "8X",
        "abXd");
    row("utf-8", "gr\xc3\xbc\xc3\x9f", "grüß");
    row("wide", "\xe4\xbd\xa0\xe5\xa5\xbd!", "你好!");
    row("title is dropped", "\x1b]0;rm -rf\x07ok\x1b]52;c;YWJj\x1b\\!", "ok!");
    row("repeat", "-\x1b[4b", "-----");
}

void TerminalTest::sequences()
{
    QFETCH(QByteArray, bytes);
    QFETCH(QString, screen);
    TerminalScreen terminal(5, 10);
    terminal.write({bytes.constData(), static_cast<std::size_t>(bytes.size())});
    QCOMPARE(shown(terminal).join(QLatin1Char('|')), screen);
}

void TerminalTest::anyCutGivesTheSame()
{
    const std::string bytes = "a\x1b[1;31mr\xc3\xbc\x1b[0m\x1b]0;t\x07\x1b[2;3Hx\x1b[38;2;1;2;3mY";
    TerminalScreen whole(4, 20);
    whole.write(bytes);
    for (std::size_t cut = 1; cut < bytes.size(); ++cut) {
        TerminalScreen parts(4, 20);
        parts.write(std::string_view(bytes).substr(0, cut));
        parts.write(std::string_view(bytes).substr(cut));
        for (int i = 0; i < whole.lineCount(); ++i)
            QVERIFY(parts.line(i) == whole.line(i));
    }
    QVERIFY(whole.line(0)[1].style.bold);
    QCOMPARE(whole.line(0)[1].style.foreground, 2U);
    QCOMPARE(whole.line(1)[3].style.foreground, 0x1010203U);
}

void TerminalTest::scrollsAndComesBack()
{
    TerminalScreen terminal(3, 10);
    for (int i = 0; i < 20'000; ++i)
        terminal.write(std::to_string(i) + "\r\n");
    QCOMPARE(terminal.pastCount(), 10'000);
    QCOMPARE(terminal.text(terminal.lineCount() - 2), std::string("19999"));
    terminal.write("\x1b[3J");
    QCOMPARE(terminal.pastCount(), 0);
}

void TerminalTest::resizes()
{
    TerminalScreen terminal(4, 10);
    terminal.write("1\r\n2\r\n3\r\n4");
    terminal.resize(2, 5);
    QCOMPARE(shown(terminal), QStringList({QStringLiteral("3"), QStringLiteral("4")}));
    QCOMPARE(terminal.pastCount(), 2);
    terminal.write("56789");
    QCOMPARE(shown(terminal).last(), QStringLiteral("9"));
    terminal.resize(1, 2);
    terminal.resize(5, 200);
    terminal.write("ok");
}

void TerminalTest::answersWhereTheCursorIs()
{
    TerminalScreen terminal(4, 10);
    terminal.write("ab\r\nc\x1b[6n");
    QCOMPARE(terminal.takeReplies(), std::string("\x1b[2;2R"));
    QVERIFY(terminal.takeReplies().empty());
}

void TerminalTest::hostileBytesEnd()
{
    // Every sequence with numbers that are too large, and noise.
    TerminalScreen terminal(5, 7);
    for (int c = 0x40; c < 0x7f; ++c)
        for (const char* numbers : {"", "0", "99999999999", "5;99999", "?99999", ";;;;;;;;;;;;", "-3", ">4"})
            terminal.write(std::string("\x1b[") + numbers + static_cast<char>(c) + "x");
    unsigned seed = 7;
    for (int i = 0; i < 50'000; ++i) {
        seed = seed * 1'103'515'245U + 12'345U;
        const char byte = static_cast<char>(i % 5 == 0 ? 0x1b : seed >> 16U);
        terminal.write({&byte, 1});
        if (i % 1000 == 0)
            terminal.resize(static_cast<int>(seed % 30), static_cast<int>((seed >> 8U) % 40));
    }
    terminal.takeReplies();
    QVERIFY(terminal.cursorRow() < terminal.rows());
}

void TerminalTest::keys_data()
{
    QTest::addColumn<int>("key");
    QTest::addColumn<int>("modifiers");
    QTest::addColumn<QString>("text");
    QTest::addColumn<QByteArray>("bytes");
    const int none = Qt::NoModifier;
    const int ctrl = Qt::ControlModifier;
    QTest::newRow("letter") << int(Qt::Key_A) << none << QStringLiteral("a") << QByteArray("a");
    QTest::newRow("interrupt") << int(Qt::Key_C) << ctrl << QString() << QByteArray("\x03");
    QTest::newRow("end of file") << int(Qt::Key_D) << ctrl << QString() << QByteArray("\x04");
    QTest::newRow("up") << int(Qt::Key_Up) << none << QString() << QByteArray("\x1b[A");
    QTest::newRow("word left") << int(Qt::Key_Left) << ctrl << QString() << QByteArray("\x1b[1;5D");
    QTest::newRow("enter") << int(Qt::Key_Return) << none << QStringLiteral("\r") << QByteArray("\r");
    QTest::newRow("tab") << int(Qt::Key_Tab) << none << QStringLiteral("\t") << QByteArray("\t");
    QTest::newRow("backspace") << int(Qt::Key_Backspace) << none << QStringLiteral("\b")
                               << QByteArray("\x7f");
    QTest::newRow("alt") << int(Qt::Key_B) << int(Qt::AltModifier) << QStringLiteral("b")
                         << QByteArray("\x1b"
                                       "b");
    QTest::newRow("not for it") << int(Qt::Key_1) << ctrl << QStringLiteral("1") << QByteArray();
}

void TerminalTest::keys()
{
    QFETCH(int, key);
    QFETCH(int, modifiers);
    QFETCH(QString, text);
    QFETCH(QByteArray, bytes);
    const QKeyEvent event(QEvent::KeyPress, key, Qt::KeyboardModifiers(modifiers), text);
    QCOMPARE(terminalKey(event, false), bytes);
}

void TerminalTest::pasteIsTextOnly()
{
    TerminalView view;
    QSignalSpy typed(&view, &TerminalView::typed);
    QApplication::clipboard()->setText(QStringLiteral("a\x1b[201~\nb\x03"));
    view.paste();
    QCOMPARE(typed.takeFirst().first().toByteArray(), QByteArray("a[201~\rb"));
    view.write("\x1b[?2004h");
    view.paste();
    QCOMPARE(typed.takeFirst().first().toByteArray(), QByteArray("\x1b[200~a[201~\rb\x1b[201~"));
}

void TerminalTest::drawsBothThemes()
{
    TerminalView view;
    view.resize(640, 240);
    view.show();
    view.write(
        "\x1b[1;32mroot@box\x1b[0m:\x1b[34m/workspace\x1b[0m# ls --color\r\n\x1b[34mdata\x1b[0m  "
        "\x1b[7minverse\x1b[0m \x1b[31merror\x1b[0m gr\xc3\xbc\xc3\x9f \xe4\xbd\xa0\xe5\xa5\xbd\r\n$ ");
    for (const auto scheme : {Scheme::Light, Scheme::Dark}) {
        Theme::instance().apply({scheme});
        const auto image = test::picture(
            view, scheme == Scheme::Dark ? QStringLiteral("terminal-dark") : QStringLiteral("terminal"));
        QVERIFY(test::colorsIn(image) > 6);
    }
}

QTEST_MAIN(TerminalTest)
#include "tst_terminal.moc"
