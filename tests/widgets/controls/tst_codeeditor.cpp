// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

#include <QAbstractItemView>
#include <QCompleter>
#include <QTest>
#include <QTextBlock>
#include <QTextLayout>

#include <tests/support/picture.h>
#include <widgets/controls/codeeditor.h>
#include <widgets/controls/theme.h>

using namespace gb;
using namespace gb::ui;

class CodeEditorTest : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void colours();
    void indentsLikePython();
    void commentsLines();
    void findingsStayWithTheirLine();
    void completesNames();
    void hugeAndOddText();
    void pictures_data();
    void pictures();
};

namespace {

const char* const sample = R"(import torch


@expose
def steer(layer: int, scale: float = 1.5) -> dict:
    """Adds a vector.

    At one layer, 'quoted' # no comment
    """
    if scale > 1e3:  # too much
        raise ValueError(f"no: {scale}")
    return {"norm": 0.5, "text": r'\d'}
)";

QColor colorAt(CodeEditor& editor, int line, int column)
{
    const auto block = editor.document()->findBlockByNumber(line - 1);
    for (const auto& range : block.layout()->formats())
        if (column >= range.start && column < range.start + range.length)
            return range.format.foreground().color();
    return {};
}

} // namespace

void CodeEditorTest::colours()
{
    CodeEditor editor;
    editor.setPlainText(QString::fromUtf8(sample));
    const auto& t = tokens();
    QCOMPARE(colorAt(editor, 1, 0), t.accent);
    QCOMPARE(colorAt(editor, 4, 1), t.warning);
    QCOMPARE(colorAt(editor, 5, 5), t.text);
    QCOMPARE(colorAt(editor, 7, 0), QColor()); // an empty line of the docstring
    QCOMPARE(colorAt(editor, 8, 10), t.success);
    QCOMPARE(colorAt(editor, 8, 30), t.success); // "#" in a string begins no comment
    QCOMPARE(colorAt(editor, 10, 4), t.accent);
    QCOMPARE(colorAt(editor, 10, 25), t.secondary);
    QCOMPARE(colorAt(editor, 11, 27), t.success);
    QCOMPARE(colorAt(editor, 12, 21), t.info);
    QCOMPARE(colorAt(editor, 12, 35), t.success);
}

void CodeEditorTest::indentsLikePython()
{
    CodeEditor editor;
    QTest::keyClicks(&editor, QStringLiteral("def f():"));
    QTest::keyClick(&editor, Qt::Key_Return);
    QTest::keyClicks(&editor, QStringLiteral("x"));
    QTest::keyClick(&editor, Qt::Key_Return);
    QTest::keyClick(&editor, Qt::Key_Tab);
    QTest::keyClicks(&editor, QStringLiteral("y"));
    QCOMPARE(editor.toPlainText(), QStringLiteral("def f():\n    x\n        y"));
    editor.selectAll();
    QTest::keyClick(&editor, Qt::Key_Backtab, Qt::ShiftModifier);
    QCOMPARE(editor.toPlainText(), QStringLiteral("def f():\nx\n    y"));
    QTest::keyClick(&editor, Qt::Key_Tab);
    QCOMPARE(editor.toPlainText(), QStringLiteral("    def f():\n    x\n        y"));
    editor.undo();
    QCOMPARE(editor.toPlainText(), QStringLiteral("def f():\nx\n    y"));
}

void CodeEditorTest::commentsLines()
{
    CodeEditor editor;
    const auto text = QStringLiteral("a\n\n    b\n");
    editor.setPlainText(text);
    editor.selectAll();
    QTest::keyClick(&editor, Qt::Key_Slash, Qt::ControlModifier);
    QCOMPARE(editor.toPlainText(), QStringLiteral("# a\n\n    # b\n"));
    QTest::keyClick(&editor, Qt::Key_Slash, Qt::ControlModifier);
    QCOMPARE(editor.toPlainText(), text);
}

void CodeEditorTest::findingsStayWithTheirLine()
{
    CodeEditor editor;
    editor.setPlainText(QString::fromUtf8(sample));
    editor.setFindings({{5, Tone::Warning, QStringLiteral("no <b>")},
        {5, Tone::Error, QStringLiteral("twice")}, {500, Tone::Error, QStringLiteral("behind the end")}});
    QCOMPARE(editor.findingsAt(5), QStringLiteral("no <b>\ntwice"));
    QVERIFY(editor.findingsAt(4).isEmpty());
    editor.goToLine(11);
    QCOMPARE(editor.currentLine(), 11);
    editor.goToLine(100'000);
    QCOMPARE(editor.currentLine(), editor.blockCount());
}

void CodeEditorTest::completesNames()
{
    CodeEditor editor;
    editor.show();
    editor.setNames({QStringLiteral("get_model_path")});
    editor.setPlainText(QStringLiteral("my_own_name = 1\n"));
    editor.moveCursor(QTextCursor::End);
    QTest::keyClicks(&editor, QStringLiteral("get"));
    auto* popup = editor.findChild<QCompleter*>()->popup();
    QTRY_VERIFY(popup->isVisible());
    QTest::keyClick(popup, Qt::Key_Return);
    QCOMPARE(editor.toPlainText(), QStringLiteral("my_own_name = 1\nget_model_path"));
    QTest::keyClicks(&editor, QStringLiteral("(my"));
    QTRY_VERIFY(popup->isVisible());
    QTest::keyClick(popup, Qt::Key_Escape);
    QVERIFY(editor.toPlainText().endsWith(QStringLiteral("(my")));
}

void CodeEditorTest::hugeAndOddText()
{
    CodeEditor editor;
    editor.resize(600, 400);
    editor.show();
    QString text = QStringLiteral("'''open\n\u202eodd\u0000\n");
    for (int i = 0; i < 20'000; ++i)
        text += QStringLiteral("x = \"\"\"a\"\"\" # %1\n").arg(i);
    text += QString(200'000, QLatin1Char('('));
    editor.setPlainText(text);
    editor.goToLine(15'000);
    QVERIFY(gb::test::colorsIn(gb::test::picture(editor, QStringLiteral("editor-odd"))) > 2);
}

void CodeEditorTest::pictures_data()
{
    QTest::addColumn<bool>("dark");
    QTest::newRow("light") << false;
    QTest::newRow("dark") << true;
}

void CodeEditorTest::pictures()
{
    QFETCH(const bool, dark);
    Look look;
    look.scheme = dark ? Scheme::Dark : Scheme::Light;
    Theme::instance().apply(look);
    CodeEditor editor;
    editor.resize(640, 360);
    editor.setPlainText(QString::fromUtf8(sample));
    editor.setFindings({{5, Tone::Warning, QStringLiteral("x")}, {12, Tone::Error, QStringLiteral("y")}});
    editor.goToLine(10);
    const auto image =
        gb::test::picture(editor, dark ? QStringLiteral("editor-dark") : QStringLiteral("editor-light"));
    QVERIFY(gb::test::colorsIn(image) > 10);
}

QTEST_MAIN(CodeEditorTest)
#include "tst_codeeditor.moc"
