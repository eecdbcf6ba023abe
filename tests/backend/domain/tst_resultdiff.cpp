// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

#include <QTest>

#include <backend/domain/resultdiff.h>

using namespace gb;

class ResultDiffTest : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void structure();
    void tolerance();
    void numbers();
    void words();
    void refusals();
};

namespace {

std::string linesOf(const ResultDiff& diff)
{
    std::string text;
    for (const auto& line : diff.lines)
        text += (line.kind == ResultDiff::Kind::Added            ? "+"
                        : line.kind == ResultDiff::Kind::Removed ? "-"
                                                                 : "~")
            + line.path + " " + line.left + ">" + line.right + "\n";
    return text;
}

} // namespace

void ResultDiffTest::structure()
{
    const auto diff = diffResults(std::string_view(R"({"a": 1, "b": [1, {"c": "x"}], "gone": null})"),
        std::string_view(R"({"b": [1, {"c": "y"}, true], "a": "1"})"));
    QVERIFY(diff);
    QCOMPARE(
        linesOf(*diff), std::string("~$.a 1>\"1\"\n~$.b[1].c \"x\">\"y\"\n+$.b[2] >true\n-$.gone null>\n"));
    QCOMPARE(diff->total, 4U);
    const auto order =
        diffResults(std::string_view(R"({"a": 1, "b": 2})"), std::string_view(R"({"b": 2, "a": 1})"));
    QVERIFY(order && order->same());
    const auto handles = diffResults(std::string_view(R"({"$gb": "tensor", "handle": "1", "shape": [2]})"),
        std::string_view(R"({"$gb": "tensor", "handle": "2", "shape": [2]})"));
    QVERIFY(handles && linesOf(*handles) == "~$.handle \"1\">\"2\"\n");
}

void ResultDiffTest::tolerance()
{
    const Json left = {1.0, 1e-9};
    const Json right = {1.0 + 1e-8, 2e-9};
    QCOMPARE(diffResults(left, right).total, 1U); // the second differs by its own size
    QVERIFY(diffResults(left, right, {1e-8, 1e-6}).same());
    QCOMPARE(diffResults(left, right, {0, 0}).total, 2U);
}

void ResultDiffTest::numbers()
{
    const auto diff = diffResults(Json{1, 0, 2}, Json{0, 1, 2.5});
    QVERIFY(diff.numbers);
    QCOMPARE(diff.numbers->count, 3U);
    QCOMPARE(diff.numbers->greatest, 1.0);
    QCOMPARE(diff.numbers->mean, 2.5 / 3);
    QCOMPARE(diff.numbers->cosine, 5.0 / (std::sqrt(5.0) * std::sqrt(7.25)));
    QVERIFY(!diffResults(Json("a"), Json("b")).numbers);
}

void ResultDiffTest::words()
{
    const auto diff = diffResults(Json("the cat sat"), Json("the black cat stood"));
    std::string text;
    for (const auto& part : diff.words)
        text += (!part.kind ? "=" : *part.kind == ResultDiff::Kind::Added ? "+" : "-") + part.text + "|";
    QCOMPARE(text, std::string("=the |+black |=cat |-sat|+stood|"));
    // Long texts end: the comparison is bounded.
    std::string many;
    for (int i = 0; i < 20'000; ++i)
        many += std::to_string(i) + " ";
    QVERIFY(!diffResults(Json(many), Json("x " + many)).same());
}

void ResultDiffTest::refusals()
{
    QVERIFY(!diffResults(std::string_view("{"), std::string_view("1")));
    const std::string large(17U << 20U, ' ');
    const auto refused = diffResults(std::string_view(large), std::string_view("1"));
    QVERIFY(!refused);
    QCOMPARE(refused.error().code, std::string("diff.large"));
}

QTEST_GUILESS_MAIN(ResultDiffTest)
#include "tst_resultdiff.moc"
