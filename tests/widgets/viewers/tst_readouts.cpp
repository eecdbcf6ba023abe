// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

#include <cmath>
#include <set>

#include <QComboBox>
#include <QTabWidget>
#include <QTest>

#include <tests/support/picture.h>
#include <widgets/controls/theme.h>
#include <widgets/viewers/matrixview.h>
#include <widgets/viewers/resultview.h>
#include <widgets/viewers/tensorview.h>
#include <widgets/viewers/tokenview.h>
#include <widgets/viewers/vectorview.h>

using namespace gb;
using namespace gb::ui;

// What the viewers say of what they draw: legends, axes, the value that is pointed at; by mouse and keyboard.
class ReadOutsTest : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void initTestCase() { Theme::instance().apply({Scheme::Light}); }
    void tokensHaveALegend();
    void tokensAreReadOut();
    void vectorIsReadOut();
    void outlineKeepsItsPlaces();
    void anOutlierLeavesTheOthersTheirColours();
    void nearlyAllTheSame();

private:
    static void pictures(QWidget& view, const QString& name);
};

void ReadOutsTest::pictures(QWidget& view, const QString& name)
{
    for (const auto scheme : {Scheme::Dark, Scheme::Light}) {
        Theme::instance().apply({scheme});
        const auto file = QStringLiteral("viewer-%1-%2")
                              .arg(name, QLatin1String(scheme == Scheme::Dark ? "dark" : "light"));
        QVERIFY(test::colorsIn(test::picture(view, file)) > 8);
    }
}

namespace {

std::vector<Token> someTokens()
{
    return {{QStringLiteral("The"), -2.5, true}, {QStringLiteral(" cat"), 0.5, true},
        {QStringLiteral("\n"), 0, false}, {QStringLiteral(" <b>"), 1.25, true}};
}

// Different colours of the cells, without their surroundings.
std::size_t cellColors(MatrixView& view)
{
    const auto image = view.grab().toImage();
    std::set<QRgb> colors;
    for (int y = 24; y < image.height() - 28; ++y)
        for (int x = 24; x < image.width() - 132; ++x)
            colors.insert(image.pixel(x, y));
    return colors.size();
}

VectorCanvas* canvas(VectorView& view, const QString& what)
{
    for (auto* one : view.findChildren<VectorCanvas*>())
        if (one->accessibleName().endsWith(what))
            return one;
    return nullptr;
}

} // namespace

void ReadOutsTest::tokensHaveALegend()
{
    TokenView view;
    view.resize(720, 200);
    view.setTokens(someTokens(), QStringLiteral("log probability"));
    QCOMPARE(view.legend(),
        QStringLiteral(
            "The colour is the log probability, from -2.5 to 2.5, white at 0; 1 without one are plain"));
    QCOMPARE(view.accessibleDescription(), view.legend());
    pictures(view, QStringLiteral("tokens-legend"));
    // The bar has the colours of both ends of the scale, which no token of the middle has.
    const auto foot = view.grab(QRect(0, 170, 720, 30)).toImage();
    std::set<QRgb> colors;
    for (int x = 0; x < foot.width(); ++x)
        for (int y = 0; y < foot.height(); ++y)
            colors.insert(foot.pixel(x, y));
    QVERIFY(colors.contains(view.scale().color(view.scale().low)));
    QVERIFY(colors.contains(view.scale().color(view.scale().high)));
    view.setTokens({{QStringLiteral("plain"), 0, false}});
    QCOMPARE(view.legend(), QStringLiteral("1 tokens without a score"));
    // A function may name what its scores are.
    ResultView result;
    result.setResult(
        R"({"kind": "tokens", "scores": "surprise", "tokens": [{"text": "a", "score": 1}, {"text": "b", "score": 3}]})");
    QVERIFY(result.findChild<TokenView*>()->legend().startsWith(
        QStringLiteral("The colour is the surprise, from 0 to 3")));
}

void ReadOutsTest::tokensAreReadOut()
{
    TokenView view;
    view.resize(720, 200);
    view.setTokens(someTokens());
    view.show();
    QTest::keyClick(&view, Qt::Key_Right);
    QCOMPARE(view.accessibleDescription(), QStringLiteral("[0]  The  score -2.5"));
    QTest::keyClick(&view, Qt::Key_End);
    QCOMPARE(view.accessibleDescription(), QStringLiteral("[3]  ·<b>  score 1.25"));
    QTest::keyClick(&view, Qt::Key_Left);
    QCOMPARE(view.accessibleDescription(), QStringLiteral("[2]  ↵  no score"));
    QTest::keyClick(&view, Qt::Key_Home);
    QTest::keyClick(&view, Qt::Key_Left);
    QCOMPARE(view.accessibleDescription(), QStringLiteral("[0]  The  score -2.5"));
    // Lines above each other: down goes to the token below, and what it goes to comes into sight.
    std::vector<Token> many(400, Token{QStringLiteral("word"), 1, true});
    view.setTokens(many);
    QTest::keyClick(&view, Qt::Key_Home);
    QTest::keyClick(&view, Qt::Key_Down);
    const auto below = view.accessibleDescription();
    QVERIFY(!below.startsWith(QStringLiteral("[0]")) && !below.startsWith(QStringLiteral("[1] ")));
    QTest::keyClick(&view, Qt::Key_Up);
    QVERIFY(view.accessibleDescription().startsWith(QStringLiteral("[0]")));
    pictures(view, QStringLiteral("tokens-cursor"));
}

void ReadOutsTest::vectorIsReadOut()
{
    std::vector<double> wave(300);
    for (std::size_t i = 0; i < wave.size(); ++i)
        wave[i] = std::sin(static_cast<double>(i) / 20) * static_cast<double>(i);
    VectorView view;
    view.resize(720, 360);
    view.setValues(wave);
    view.show();
    auto* line = canvas(view, QStringLiteral("line"));
    QVERIFY(line);
    QTest::keyClick(line, Qt::Key_End);
    QVERIFY2(line->accessibleDescription().startsWith(QStringLiteral("[299]  ")),
        qPrintable(line->accessibleDescription()));
    for (int i = 0; i < 3; ++i)
        QTest::keyClick(line, Qt::Key_PageUp);
    QCOMPARE(line->current(), 299 - 3 * 15);
    QCOMPARE(line->readOut(10), QStringLiteral("[10]  ") + QString::number(wave[10], 'g', 6));
    pictures(view, QStringLiteral("vector-cursor"));
    // Under the mouse: at the right end the last one.
    QTest::mouseMove(line, QPoint(line->width() - 12, 60));
    QTRY_COMPARE(line->current(), 299);
    // The bars of the histogram count all values.
    view.findChild<QTabWidget*>()->setCurrentIndex(1);
    auto* histogram = canvas(view, QStringLiteral("histogram"));
    QTest::keyClick(histogram, Qt::Key_Home);
    QVERIFY2(histogram->accessibleDescription().contains(QStringLiteral("of 300")),
        qPrintable(histogram->accessibleDescription()));
    pictures(view, QStringLiteral("histogram-cursor"));
    // Numbers that are none, and one number alone.
    view.setValues({std::nan(""), 2, INFINITY});
    QCOMPARE(line->readOut(0), QStringLiteral("[0]  nan"));
    view.setValues({7});
    QCOMPARE(line->readOut(0), QStringLiteral("[0]  7"));
    pictures(view, QStringLiteral("vector-one"));
    view.setValues({});
    QTest::keyClick(line, Qt::Key_Right);
    QCOMPARE(line->readOut(0), QString());
}

void ReadOutsTest::outlineKeepsItsPlaces()
{
    // The host reduces a million numbers to the least and the greatest of each stretch.
    VectorView view;
    view.resize(720, 360);
    view.setOutline({0, 1, -5, 5, 0, 2, 0, 3}, 1'000'000);
    auto* line = canvas(view, QStringLiteral("line"));
    QCOMPARE(line->readOut(2), QStringLiteral("[250000 … 499999]  least -5, greatest 5"));
    QCOMPARE(line->readOut(3), line->readOut(2));
    auto* histogram = canvas(view, QStringLiteral("histogram"));
    // What is not known is not drawn; the host's own counting is.
    QCOMPARE(histogram->readOut(0), QString());
    view.setHistogram({600'000, 400'000}, -5, 5);
    QVERIFY(histogram->readOut(1).startsWith(QStringLiteral("0 … 5: 400")));
    pictures(view, QStringLiteral("vector-outline"));
}

void ReadOutsTest::anOutlierLeavesTheOthersTheirColours()
{
    Matrix matrix;
    matrix.rows = 20;
    matrix.columns = 30;
    for (int i = 0; i < 600; ++i)
        matrix.values.push_back(static_cast<float>(i % 30) / 30);
    matrix.values[215] = 4000;
    MatrixView view;
    view.resize(720, 360);
    view.setMatrix(matrix);
    view.show();
    const auto flat = cellColors(view);
    QVERIFY2(flat <= 4, qPrintable(QString::number(flat)));
    QVERIFY(view.colorNote().contains(QStringLiteral("R spans 1–99 %")));
    pictures(view, QStringLiteral("matrix-outlier"));
    QTest::keyClick(&view, Qt::Key_R);
    QCOMPARE(view.cut(), 1);
    QCOMPARE(view.findChild<QComboBox*>()->currentText(), QStringLiteral("1–99 %"));
    const auto spread = cellColors(view);
    QVERIFY2(spread >= 25, qPrintable(QString::number(spread)));
    QVERIFY(view.scale().high <= 1);
    QVERIFY2(view.colorNote().contains(QStringLiteral("values reach from 0 to 4000")),
        qPrintable(view.colorNote()));
    pictures(view, QStringLiteral("matrix-robust"));
    // The numbers stay what they are.
    QVERIFY(view.readOut(7, 5).endsWith(QStringLiteral(": 4000")));
    // It stays chosen for the next result, and there is a way back.
    view.setMatrix(matrix);
    QVERIFY(view.scale().high <= 1);
    QTest::keyClick(&view, Qt::Key_R);
    QCOMPARE(view.cut(), 5);
    QTest::keyClick(&view, Qt::Key_R);
    QCOMPARE(view.scale().high, 4000.0);
}

void ReadOutsTest::nearlyAllTheSame()
{
    Matrix matrix;
    matrix.rows = 20;
    matrix.columns = 30;
    matrix.values.assign(600, 0);
    matrix.values[3] = 2;
    MatrixView view;
    view.setMatrix(matrix);
    view.setCut(1);
    // Colours that span one value would hide the only thing there is to see.
    QCOMPARE(view.scale().high, 2.0);
    QCOMPARE(view.colorNote(), QStringLiteral("colours span all values"));
    matrix.values.assign(600, std::nanf(""));
    view.setMatrix(matrix);
    QCOMPARE(view.scale().high, 1.0);
}

QTEST_MAIN(ReadOutsTest)
#include "tst_readouts.moc"
