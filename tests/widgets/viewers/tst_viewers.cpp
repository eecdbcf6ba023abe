// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

#include <cmath>

#include <QAbstractItemModelTester>
#include <QBuffer>
#include <QPlainTextEdit>
#include <QTest>
#include <QTextEdit>

#include <tests/support/picture.h>
#include <widgets/controls/theme.h>
#include <widgets/viewers/compareview.h>
#include <widgets/viewers/imageview.h>
#include <widgets/viewers/jsonslice.h>
#include <widgets/viewers/jsontreemodel.h>
#include <widgets/viewers/matrixview.h>
#include <widgets/viewers/resultshape.h>
#include <widgets/viewers/resultview.h>
#include <widgets/viewers/tablemodel.h>
#include <widgets/viewers/tensorview.h>
#include <widgets/viewers/textview.h>
#include <widgets/viewers/vectorview.h>

using namespace gb;
using namespace gb::ui;
using Form = ResultView::Form;

class ViewersTest : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void slices();
    void brokenTextEnds();
    void treeShowsPathsAndGroups();
    void treeFindsTheValueAtAByte();
    void largeTextStaysText();
    void formFollowsShape_data();
    void formFollowsShape();
    void tableSortsAndExports();
    void statisticsOfAVector();
    void colorsAreSymmetricAroundZero();
    void tensorsComeByTiles();
    void pictureBeforeStatistics();
    void tensorsThatAreGone();
    void imagesComeByHandle();
    void comparesResults();
    void textsAreHarmless();
    void pictures_data();
    void pictures();
};

namespace {

QStringList treeText(
    const QAbstractItemModel& model, const QModelIndex& parent = {}, const QString& indent = {})
{
    QStringList lines;
    for (int row = 0; row < model.rowCount(parent); ++row) {
        const auto index = model.index(row, 0, parent);
        lines += indent + index.data().toString() + QStringLiteral(": ")
            + index.siblingAtColumn(1).data().toString();
        lines += treeText(model, index, indent + QLatin1Char(' '));
    }
    return lines;
}

} // namespace

void ViewersTest::slices()
{
    const std::string text = R"( {"a": [1, 2.5, -3e2], "b\n": "x\"y\\", "c": {"$gb": "nan"}, "d": null} )";
    const auto children = jsonChildren(text, wholeJson(text));
    QCOMPARE(children.size(), 4U);
    QCOMPARE(jsonKey(text, children[1]), QStringLiteral("b\n"));
    QCOMPARE(jsonString(text, children[1]), QStringLiteral("x\"y\\"));
    QVERIFY(std::isnan(*jsonNumber(text, children[2])));
    QVERIFY(jsonKind(text, children[3]) == JsonKind::Null);
    const auto numbers = jsonNumbers(text, children[0]);
    QVERIFY(numbers && *numbers == (std::vector<double>{1, 2.5, -300}));
    QVERIFY(!jsonNumbers("[1, \"2\"]", wholeJson("[1, \"2\"]")));
}

void ViewersTest::brokenTextEnds()
{
    for (const std::string_view text :
        {"", "[", "{\"a", "{\"a\":", "[1,", "[[[[", "\"abc", "{\"a\":}", "]"}) {
        const auto whole = wholeJson(text);
        for (const auto& child : jsonChildren(text, whole))
            QVERIFY(child.end <= text.size());
    }
}

void ViewersTest::treeShowsPathsAndGroups()
{
    JsonTreeModel model;
    const QAbstractItemModelTester tester(&model);
    model.setText(R"({"layers": [{"name": "mlp"}, 7], "ok": true, "empty": []})");
    QCOMPARE(treeText(model).join(QLatin1Char('\n')),
        QStringLiteral("result: {3}\n layers: [2]\n  0: {1}\n   name: mlp\n  1: 7\n"
                       " ok: true\n empty: [0]"));
    model.setText(R"(["", " ", 0])"); // a text without a letter is still a value
    QCOMPARE(treeText(model).join(QLatin1Char('|')), QStringLiteral("result: [3]| 0: \"\"| 1:  | 2: 0"));
    model.setText(R"({"layers": [{"name": "mlp"}, 7]})");
    const auto layers = model.index(0, 0, model.index(0, 0));
    QCOMPARE(model.path(model.index(0, 0, model.index(0, 0, layers))), QStringLiteral("$.layers[0].name"));
    std::string many = "[";
    for (int i = 0; i < 2500; ++i)
        many += (i ? "," : "") + std::to_string(i);
    model.setText(many + "]");
    const auto root = model.index(0, 0);
    QCOMPARE(model.rowCount(root), 3);
    const auto last = model.index(2, 0, root);
    QCOMPARE(last.data().toString(), QString::fromUtf8("[2000 … 2499]"));
    QCOMPARE(model.rowCount(last), 500);
    QCOMPARE(model.path(model.index(499, 0, last)), QStringLiteral("$[2499]"));
}

void ViewersTest::treeFindsTheValueAtAByte()
{
    JsonTreeModel model;
    std::string text = "{\"rows\": [";
    for (int i = 0; i < 3000; ++i)
        text += (i ? ",{\"n\":" : "{\"n\":") + std::to_string(i) + "}";
    text += "]}";
    model.setText(text);
    QCOMPARE(model.path(model.indexAt(text.find("2345"))), QStringLiteral("$.rows[2345].n"));
    QVERIFY(model.indexAt(text.size() + 10).isValid());
}

void ViewersTest::largeTextStaysText()
{
    std::string text = "[";
    for (int i = 0; i < 200'000; ++i)
        text +=
            (i ? ",{\"id\":" : "{\"id\":") + std::to_string(i) + ",\"text\":\"some words\",\"list\":[1,2,3]}";
    text += "]";
    JsonTreeModel model;
    model.setText(text);
    const auto root = model.index(0, 0);
    QCOMPARE(model.rowCount(root), 200);
    QCOMPARE(model.rowCount(model.index(199, 0, root)), 1000);
}

void ViewersTest::formFollowsShape_data()
{
    QTest::addColumn<QByteArray>("json");
    QTest::addColumn<int>("form");
    const auto row = [](const char* name, const char* json, Form form) {
        QTest::newRow(name) << QByteArray(json) << int(form);
    };
    row("text", R"("hello")", Form::Text);
    row("vector", "[1, 2, 3.5]", Form::Vector);
    row("matrix", "[[1, 2], [3, 4]]", Form::Matrix);
    row("said matrix", R"({"kind": "matrix", "rows": "q", "data": [[1]]})", Form::Matrix);
    row("ragged", "[[1, 2], [3]]", Form::Table);
    row("table", R"([{"a": 1}, {"a": 2, "b": 3}])", Form::Table);
    row("frame",
        R"({"$gb": "table", "columns": [{"name": "a", "dtype": "i64"}], "rows": [[1]], "total_rows": 1})",
        Form::Table);
    row("tokens", R"({"kind": "tokens", "tokens": [{"text": " a", "score": 0.5}]})", Form::Tokens);
    row("html", R"({"kind": "html", "text": "<b>x</b>"})", Form::Text);
    row("tensor", R"({"a": [{"$gb": "tensor", "handle": "t1", "dtype": "f32", "shape": [2]}]})",
        Form::Tensor);
    row("image", R"({"$gb": "image", "handle": "i1", "format": "png"})", Form::Image);
    row("object", R"({"a": 1})", Form::Tree);
    row("number", "7", Form::Tree);
    row("empty list", "[]", Form::Tree);
    row("tensors", R"([{"$gb": "tensor", "shape": [2]}])", Form::Tree);
}

void ViewersTest::formFollowsShape()
{
    QFETCH(const QByteArray, json);
    QFETCH(const int, form);
    const auto forms = ResultView::formsFor(json.toStdString());
    QCOMPARE(int(forms.first()), form);
    QVERIFY(forms.contains(Form::Raw));
}

void ViewersTest::tableSortsAndExports()
{
    TableModel model;
    const QAbstractItemModelTester tester(&model);
    QVERIFY(model.setText(std::make_shared<const std::string>(
        R"([{"name": "b", "n": 10}, {"name": "a, \"x\"", "n": 9}, {"n": "none"}])")));
    QCOMPARE(model.rowCount(), 3);
    model.sort(1, Qt::AscendingOrder);
    QCOMPARE(model.asCsv(), QStringLiteral("name,n\n\"a, \"\"x\"\"\",9\nb,10\n,none\n"));
    QVERIFY(!model.setText(std::make_shared<const std::string>("7")));
    QCOMPARE(model.rowCount(), 0);
}

void ViewersTest::statisticsOfAVector()
{
    const auto text = VectorView::statistics({1, 2, 3, 4, std::nan("")});
    QVERIFY(text.contains(QStringLiteral("mean 2.5")));
    QVERIFY(text.contains(QStringLiteral("1 not finite")));
}

void ViewersTest::colorsAreSymmetricAroundZero()
{
    const auto scale = ColorScale::of(-1, 3);
    QVERIFY(scale.diverging);
    QCOMPARE(scale.low, -3.0);
    QCOMPARE(scale.color(0), QRgb(0xFFF7F7F7));
    QVERIFY(!ColorScale::of(0, 3).diverging);
    QCOMPARE(qAlpha(ColorScale::of(0, 1).color(std::nan(""))), 0);
}

namespace {

// A host that holds one tensor, whose value is known from the place: lead + row/1000 - column/1000.
struct FakeHost
{
    std::vector<Json> asked;

    TensorFetch fetch()
    {
        return [this](const Json& wanted, const gb::api::AnswerHandler& handler) {
            asked.push_back(wanted);
            if (stringOr(wanted, "handle") != "t1")
                return handler(gb::fail("handle_gone", "gone"));
            if (stringOr(wanted, "what") == "stats")
                return handler(gb::api::Answer{
                    Json{{"stats", {{"min", -20.0}, {"max", 27.0}, {"mean", 3.5}, {"std", 1.0}, {"nan", 2}}}},
                    {}});
            handler(tile(objectOr(wanted, "tile")));
        };
    }
    static gb::api::Answer tile(const Json& wanted)
    {
        const auto row0 = integerOr(wanted, "row0");
        const auto col0 = integerOr(wanted, "col0");
        const auto row1 = integerOr(wanted, "row1", 10'000);
        const auto col1 = integerOr(wanted, "col1", 20'000);
        const auto rows = integerOr(wanted, "rows");
        const auto cols = integerOr(wanted, "cols");
        std::vector<float> plane;
        for (std::int64_t r = 0; r < rows; ++r)
            for (std::int64_t c = 0; c < cols; ++c)
                plane.push_back(static_cast<float>(integerOr(wanted, "lead"))
                    + static_cast<float>(row0 + (row1 - row0) * r / rows) / 1000
                    - static_cast<float>(col0 + (col1 - col0) * c / cols) / 1000);
        std::string bytes;
        for (int i = 0; i < 3; ++i)
            bytes.append(reinterpret_cast<const char*>(plane.data()), plane.size() * sizeof(float));
        return {Json{{"dtype", "f32"}, {"shape", {3, rows, cols}}}, std::move(bytes)};
    }
};

constexpr auto bigTensor =
    R"({"act": {"$gb":"tensor","handle":"t1","dtype":"bf16","shape":[3,6,10000,20000],"bytes":7200000000}})";

} // namespace

void ViewersTest::tensorsComeByTiles()
{
    FakeHost host;
    ResultView view;
    view.resize(720, 420);
    view.setFetch(host.fetch());
    view.setResult(bigTensor);
    QCOMPARE(int(view.form()), int(Form::Tensor));
    auto* tensor = view.findChild<TensorView*>();
    QVERIFY2(tensor->statistics().contains(QStringLiteral("mean 3.5")), qPrintable(tensor->statistics()));
    QCOMPARE(host.asked.size(), 2U);
    tensor->setSlice(0, 2);
    tensor->setSlice(1, 4);
    QCOMPARE(integerOr(objectOr(host.asked.back(), "tile"), "lead"), 2 * 6 + 4);
    auto* matrix = view.findChild<MatrixView*>();
    QVERIFY(matrix->readOut(5000, 0).contains(QStringLiteral("mean around")));
    QCOMPARE(gb::test::colorsIn(gb::test::picture(view, QStringLiteral("viewer-tensor"))), 64);
    // Looking closer asks for what is looked at, no more than there are pixels.
    view.show();
    QTest::keyClick(matrix, Qt::Key_0);
    for (int i = 0; i < 20; ++i)
        QTest::keyClick(matrix, Qt::Key_Plus);
    Json last;
    QTRY_VERIFY((last = objectOr(host.asked.back(), "tile"),
        integerOr(last, "row1", -1) - integerOr(last, "row0") == integerOr(last, "rows")));
    QVERIFY(integerOr(last, "rows") * integerOr(last, "cols") <= 720 * 420);
    const auto exact = matrix->readOut(
        static_cast<int>(integerOr(last, "row0")) + 1, static_cast<int>(integerOr(last, "col0")) + 1);
    QVERIFY2(!exact.contains(QStringLiteral("mean")), qPrintable(exact));
}

void ViewersTest::pictureBeforeStatistics()
{
    FakeHost host;
    gb::api::AnswerHandler later;
    ResultView view;
    view.resize(720, 420);
    view.setFetch([&](const Json& wanted, const gb::api::AnswerHandler& handler) {
        if (stringOr(wanted, "what") == "stats")
            later = handler;
        else
            host.fetch()(wanted, handler);
    });
    view.setResult(bigTensor);
    auto* matrix = view.findChild<MatrixView*>();
    QVERIFY(matrix->matrix().rows > 0);
    const auto slice = matrix->scale();
    QVERIFY(slice.low < 0 && slice.high > 0 && slice.high < 27);
    // Then the colours span all of it.
    QVERIFY(later);
    later(gb::api::Answer{Json{{"stats", {{"min", -20.0}, {"max", 27.0}}}}, {}});
    QCOMPARE(matrix->scale().high, 27.0);
    QVERIFY(view.findChild<TensorView*>()->statistics().contains(QStringLiteral("max 27")));
}

void ViewersTest::tensorsThatAreGone()
{
    FakeHost host;
    ResultView view;
    view.setFetch(host.fetch());
    view.setResult(R"([{"$gb":"tensor","handle":"old","dtype":"f32","shape":[2,2]}])");
    QVERIFY(!view.findChild<TensorView*>()->problem().isEmpty());
    ResultView offline;
    offline.setResult(bigTensor);
    QVERIFY(!offline.findChild<TensorView*>()->problem().isEmpty());
}

void ViewersTest::imagesComeByHandle()
{
    QImage made(40, 30, QImage::Format_RGB32);
    made.fill(Qt::red);
    QByteArray png;
    QBuffer buffer(&png);
    QVERIFY(buffer.open(QIODevice::WriteOnly) && made.save(&buffer, "png"));
    std::string bytes = png.toStdString();
    ResultView view;
    view.setFetch([&bytes](const Json&, const gb::api::AnswerHandler& handler) {
        handler(gb::api::Answer{Json{{"dtype", "u8"}}, bytes});
    });
    const std::string image = R"({"$gb":"image","handle":"i1","format":"png","width":40,"height":30})";
    view.setResult(image);
    QCOMPARE(view.findChild<ImageView*>()->image().size(), QSize(40, 30));
    bytes = "not a picture";
    view.setResult(image);
    QVERIFY(view.findChild<ImageView*>()->image().isNull());
}

void ViewersTest::comparesResults()
{
    const auto both = [](QWidget& shown, const char* name) {
        for (const auto scheme : {Scheme::Dark, Scheme::Light}) {
            Theme::instance().apply({scheme});
            gb::test::picture(shown,
                QStringLiteral("viewer-%1-%2")
                    .arg(QLatin1String(name), QLatin1String(scheme == Scheme::Dark ? "dark" : "light")));
        }
    };
    CompareView view;
    view.resize(720, 300);
    const auto numbers = diffResults(std::string_view(R"({"a": [1, 2, 3], "b": "x"})"),
        std::string_view(R"({"a": [1, 2, 4], "c": null})"));
    QVERIFY(numbers);
    view.setDiff(*numbers, QStringLiteral("older"), QStringLiteral("newer"));
    QVERIFY2(view.summary().contains(QStringLiteral("greatest difference 1")), qPrintable(view.summary()));
    both(view, "compare");
    const auto words = diffResults(
        std::string_view(R"("the <b>cat</b> sat")"), std::string_view(R"("the <b>cat</b> stood")"));
    view.setDiff(*words, {}, {});
    QCOMPARE(view.findChild<QPlainTextEdit*>()->toPlainText(), QStringLiteral("the <b>cat</b> satstood"));
    both(view, "compare-words");
    // The colours of words follow the theme.
    Theme::instance().apply({Scheme::Dark});
    auto first = view.findChild<QPlainTextEdit*>()->textCursor();
    first.movePosition(QTextCursor::Start);
    first.movePosition(QTextCursor::NextCharacter);
    QCOMPARE(first.charFormat().foreground().color(), tokens().text);
    Theme::instance().apply({Scheme::Light});
}

void ViewersTest::textsAreHarmless()
{
    TextView view;
    view.setText(QStringLiteral("\x1b[31mred\x1b[0m \u202egnp"), TextKind::Plain);
    const auto shown = view.findChild<QPlainTextEdit*>()->toPlainText();
    QCOMPARE(shown, QStringLiteral("red \ufffdgnp"));
    // HTML stays its source, also inside Markdown.
    view.setText(QStringLiteral("<b>x</b>"), TextKind::Html);
    QCOMPARE(view.findChild<QPlainTextEdit*>()->toPlainText(), QStringLiteral("<b>x</b>"));
    view.setText(QStringLiteral("**bold** <b>x</b> ![i](https://example.org/x.png)"), TextKind::Markdown);
    const auto laidOut = view.findChild<QTextEdit*>()->toPlainText();
    QVERIFY2(laidOut.startsWith(QStringLiteral("bold <b>x</b>")), qPrintable(laidOut));
}

void ViewersTest::pictures_data()
{
    QTest::addColumn<QByteArray>("json");
    QByteArray wave = "[";
    QByteArray matrix = "[";
    for (int i = 0; i < 500; ++i)
        wave += (i ? "," : "") + QByteArray::number(std::sin(i / 20.0) * i);
    for (int i = 0; i < 20; ++i) {
        matrix += i ? ",[" : "[";
        for (int j = 0; j < 30; ++j)
            matrix += (j ? "," : "") + QByteArray::number(std::sin(i / 3.0) * std::cos(j / 4.0));
        matrix += "]";
    }
    QTest::newRow("vector") << wave + "]";
    QTest::newRow("matrix") << matrix + "]";
    QTest::newRow("tree") << QByteArray(
        R"({"model": "gpt2", "layers": [{"name": "mlp", "norm": 3.25, "on": true}], "none": null})");
    QTest::newRow("table") << QByteArray(
        R"([{"token": "cat", "score": 0.5, "rank": 3}, {"token": "dog", "score": 0.25, "rank": 11}])");
    QTest::newRow("tokens") << QByteArray(
        R"({"kind": "tokens", "tokens": [{"text": "the", "score": -0.5}, {"text": " cat", "score": 0.5}, {"text": "\n", "score": 0.1}]})");
    QByteArray tokens = R"({"kind": "tokens", "tokens": [)";
    QByteArray table = "[";
    for (int i = 0; i < 120; ++i) {
        tokens += (i ? R"(,{"text": " word)" : R"({"text": "word)") + QByteArray::number(i)
            + R"(", "score": )" + QByteArray::number(std::sin(i / 5.0)) + "}";
        table += (i ? R"(,{"token": " some longer token )" : R"({"token": "the first )")
            + QByteArray::number(i) + R"(", "logit": )" + QByteArray::number(i * 1234.5678) + R"(, "rank": )"
            + QByteArray::number(i) + R"(, "note": null, "kept": true})";
    }
    QTest::newRow("tokens-long") << tokens + "]}";
    QTest::newRow("table-long") << table + "]";
    QTest::newRow("text") << QByteArray(
        R"("Hello, Ada!\nA second line, and a long one that goes on and on until it has to be broken at the edge of the view, which is somewhere about here or a little later.")");
    QTest::newRow("markdown") << QByteArray(
        R"md({"kind": "markdown", "text": "# Probing layer 6\n\nThe direction is **stable** over *12* prompts:\n\n* first\n* second with `code`\n\n| layer | norm |\n|---|---|\n| 5 | 0.31 |\n| 6 | 0.94 |\n\n> quoted\n\n```\nx = 1\n```\n![leak](https://example.org/x.png) [a link](https://example.org)"
})md");
    QTest::newRow("ansi") << QByteArray(
        R"("\u001b[1mepoch 3\u001b[0m  loss \u001b[32m0.41\u001b[0m  \u001b[31mwarning: gradient clipped\u001b[0m\n\u001b[33mstep 40\u001b[0m plain \u001b[44mon blue\u001b[0m")");
    QTest::newRow("html") << QByteArray(
        R"({"kind": "html", "text": "<html>\n  <body onload=\"alert(1)\">\n    <img src=\"https://example.org/x.png\">\n  </body>\n</html>"})");
    QTest::newRow("tree-long") << QByteArray(R"({"text": ")") + QByteArray(3000, 'x')
            + R"(", "deep": {"a": {"b": {"c": {"d": [1, 2, {"e": null}]}}}}, "list": )" + wave + R"(]})";
    QTest::newRow("empty-object") << QByteArray("{}");
    QTest::newRow("null") << QByteArray("null");
    QTest::newRow("tensor-3d") << QByteArray(
        R"({"act": {"$gb":"tensor","handle":"t1","dtype":"bf16","shape":[12,64,128],"bytes":196608}})");
    QTest::newRow("tensor-vector") << QByteArray(
        R"({"$gb":"tensor","handle":"t1","dtype":"f32","shape":[512],"bytes":2048})");
    QTest::newRow("tensor-gone") << QByteArray(
        R"({"$gb":"tensor","handle":"old","dtype":"f32","shape":[4,4],"bytes":64})");
    QTest::newRow("image") << QByteArray(
        R"({"$gb":"image","handle":"i1","format":"png","width":320,"height":200})");
}

void ViewersTest::pictures()
{
    QFETCH(const QByteArray, json);
    FakeHost host;
    QImage painted(320, 200, QImage::Format_RGB32);
    for (int y = 0; y < painted.height(); ++y)
        for (int x = 0; x < painted.width(); ++x)
            painted.setPixel(x, y, qRgb(x * 255 / 320, y * 255 / 200, 120));
    QByteArray png;
    QBuffer buffer(&png);
    QVERIFY(buffer.open(QIODevice::WriteOnly) && painted.save(&buffer, "png"));
    for (const auto scheme : {Scheme::Light, Scheme::Dark}) {
        Theme::instance().apply({scheme});
        ResultView view;
        view.setFetch([fetch = host.fetch(), bytes = png.toStdString()](
                          const Json& wanted, const gb::api::AnswerHandler& handler) {
            if (stringOr(wanted, "handle") == "i1")
                return handler(gb::api::Answer{Json{{"dtype", "u8"}}, bytes});
            fetch(wanted, handler);
        });
        view.resize(720, 360);
        view.setResult(json.toStdString());
        view.show();
        QCoreApplication::processEvents();
        const auto name = QStringLiteral("viewer-%1-%2")
                              .arg(QLatin1String(QTest::currentDataTag()),
                                  QLatin1String(scheme == Scheme::Dark ? "dark" : "light"));
        QVERIFY(gb::test::colorsIn(gb::test::picture(view, name)) > 8);
    }
}

QTEST_MAIN(ViewersTest)
#include "tst_viewers.moc"
