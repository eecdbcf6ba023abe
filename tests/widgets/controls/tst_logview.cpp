// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

#include <QScrollBar>
#include <QSignalSpy>
#include <QTest>

#include <widgets/controls/logview.h>
#include <widgets/controls/theme.h>

#include <tests/support/picture.h>

using namespace gb::ui;

class LogViewTest : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void linesAndReturns();
    void colorsCutAnywhere();
    void hostileSequencesVanish();
    void millionLines();
    void followAndSearch();
    void looksRight();
};

void LogViewTest::linesAndReturns()
{
    LogDocument log;
    log.append("one\r\ntwo\n10 %\r20 %\r30 %\nopen");
    QCOMPARE(log.lineCount(), 4);
    QCOMPARE(log.text(0), std::string_view("one"));
    QCOMPARE(log.text(2), std::string_view("30 %"));
    QCOMPARE(log.text(3), std::string_view("open"));
    log.append(" end\n");
    QCOMPARE(log.lineCount(), 4);
    QCOMPARE(log.text(3), std::string_view("open end"));
    QVERIFY(log.text(4).empty());
    QVERIFY(log.text(-1).empty());
}

void LogViewTest::colorsCutAnywhere()
{
    const std::string text = "a\x1b[31;1mred\x1b[0mb\x1b[38;2;1;2;3mx\x1b[38;5;200my\n";
    for (std::size_t cut = 0; cut <= text.size(); ++cut) {
        LogDocument log;
        log.append(std::string_view(text).substr(0, cut));
        log.append(std::string_view(text).substr(cut));
        QCOMPARE(log.text(0), std::string_view("aredbxy"));
        const auto line = log.line(0);
        QCOMPARE(line.styles.size(), 4U);
        QCOMPARE(line.styles[0].offset, 1U);
        QCOMPARE(line.styles[0].style.foreground, 2U);
        QVERIFY(line.styles[0].style.bold);
        QVERIFY(line.styles[1].style == AnsiStyle{});
        QCOMPARE(line.styles[2].style.foreground, 0x1010203U);
        QCOMPARE(line.styles[3].style.foreground, 217U);
    }
}

void LogViewTest::hostileSequencesVanish()
{
    LogDocument log;
    log.append("a\x1b]0;title\x07"
               "b\x1b]52;c;ZXZpbA==\x1b\\c\x1b[2Jd\x1b[6ne\x07\x08");
    QCOMPARE(log.text(0), std::string_view("abcde"));
    LogDocument open;
    open.append("x\x1b]0;" + std::string(8192, 'y'));
    open.append("z\n");
    QCOMPARE(open.text(0), std::string_view("xz"));
}

void LogViewTest::millionLines()
{
    LogView view;
    view.resize(900, 400);
    view.show();
    std::string block;
    for (int i = 0; i < 10'000; ++i)
        block += "line " + std::to_string(i) + " of a block with some text in it\n";
    for (int i = 0; i < 100; ++i)
        view.append(block);
    view.append("the needle\n");
    view.append(block);
    QCoreApplication::processEvents();
    QCOMPARE(view.canvas()->document().lineCount(), 1'010'001);
    QCOMPARE(view.canvas()->verticalScrollBar()->value(), view.canvas()->verticalScrollBar()->maximum());
    view.canvas()->verticalScrollBar()->setValue(500'000);
    QVERIFY(!view.canvas()->follows());
    QSignalSpy ended(view.canvas(), &LogCanvas::searchEnded);
    view.canvas()->setNeedle(QStringLiteral("NEEDLE"));
    QTRY_COMPARE(ended.size(), 1);
    QVERIFY(ended[0][0].toBool());
    const auto at = view.canvas()->verticalScrollBar()->value();
    QVERIFY(at > 999'900 && at <= 1'000'000);
}

void LogViewTest::followAndSearch()
{
    LogView view;
    view.resize(400, 200);
    view.show();
    for (int i = 0; i < 100; ++i)
        view.append("line\n");
    QCoreApplication::processEvents();
    auto* bar = view.canvas()->verticalScrollBar();
    bar->setValue(10);
    view.append("more\n");
    QCoreApplication::processEvents();
    QCOMPARE(bar->value(), 10); // reading is not disturbed
    QTest::keyClick(view.canvas(), Qt::Key_End);
    QVERIFY(view.canvas()->follows());
    view.append("more\n");
    QCoreApplication::processEvents();
    QCOMPARE(bar->value(), bar->maximum());
    QSignalSpy ended(view.canvas(), &LogCanvas::searchEnded);
    view.canvas()->setNeedle(QStringLiteral("absent"));
    QTRY_COMPARE(ended.size(), 1);
    QVERIFY(!ended[0][0].toBool());
    QTest::keyClick(view.canvas(), Qt::Key_A, Qt::ControlModifier);
    QVERIFY(view.canvas()->selectedText().startsWith(QStringLiteral("line\nline\n")));
}

void LogViewTest::looksRight()
{
    for (const auto scheme : {Scheme::Light, Scheme::Dark}) {
        Theme::instance().apply({scheme});
        LogView view;
        view.resize(760, 260);
        view.append("\x1b[1mServing\x1b[0m model_tools from interface.py\n\x1b[32m✓\x1b[0m loaded in 84 ms\n"
                    "\x1b[33mwarning\x1b[0m: parameter n has no hint\n\x1b[31merror\x1b[0m: boom\n"
                    "\x1b[2mfaint\x1b[0m \x1b[36mcyan\x1b[0m \x1b[35mmagenta\x1b[0m \x1b[34mblue\x1b[0m "
                    "\x1b[41mback\x1b[0m \x1b[38;5;208m208\x1b[0m \x1b[38;2;250;240;200mpale\x1b[0m\n");
        for (int i = 0; i < 40; ++i)
            view.append("2026-01-31 12:00:00 request " + std::to_string(i) + " answered in 3 ms\n");
        view.show();
        QCoreApplication::processEvents();
        view.canvas()->verticalScrollBar()->setValue(0);
        const auto name = QStringLiteral("logview-%1").arg(scheme == Scheme::Dark ? "dark" : "light");
        QVERIFY(gb::test::colorsIn(gb::test::picture(view, name)) > 8);
    }
}

QTEST_MAIN(LogViewTest)
#include "tst_logview.moc"
