// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

#include <cmath>
#include <cstring>

#include <QBuffer>
#include <QSignalSpy>
#include <QTest>

#include <tests/support/picture.h>
#include <widgets/controls/labels.h>
#include <widgets/controls/theme.h>
#include <widgets/viewers/compareview.h>
#include <widgets/viewers/imagecompare.h>
#include <widgets/viewers/tensorcompare.h>

using namespace gb;
using namespace gb::ui;

namespace {

// A host that holds one tensor of float32 whose values a function of the place gives.
struct TensorHost
{
    std::vector<std::int64_t> shape;
    std::function<float(std::int64_t)> value;
    int asked = 0;
    std::size_t largest = 0;

    TensorFetch fetch()
    {
        return [this](const Json& wanted, const api::AnswerHandler& handler) {
            ++asked;
            std::vector<std::int64_t> places{0};
            const auto parts = QString::fromStdString(stringOr(wanted, "slice")).split(QLatin1Char(','));
            for (std::size_t i = 0; i < shape.size(); ++i) {
                auto range = parts.value(static_cast<int>(i)).split(QLatin1Char(':'));
                const auto begin = range.size() == 2 ? range[0].toLongLong() : 0;
                const auto end = range.size() == 2 ? range[1].toLongLong() : shape[i];
                std::vector<std::int64_t> next;
                for (const auto place : places)
                    for (auto at = begin; at < end; ++at)
                        next.push_back(place * shape[i] + at);
                places = std::move(next);
            }
            std::string bytes(places.size() * sizeof(float), '\0');
            for (std::size_t i = 0; i < places.size(); ++i) {
                const float number = value(places[i]);
                std::memcpy(bytes.data() + i * sizeof number, &number, sizeof number);
            }
            largest = std::max(largest, bytes.size());
            handler(api::Answer{Json{{"dtype", "f32"}}, std::move(bytes)});
        };
    }
    HandleField field() const
    {
        return {QStringLiteral("$.act"), QStringLiteral("t"), QStringLiteral("f32"), shape, {}, 0};
    }
};

QByteArray pngOf(const QImage& image)
{
    QByteArray bytes;
    QBuffer buffer(&bytes);
    buffer.open(QIODevice::WriteOnly);
    image.save(&buffer, "png");
    return bytes;
}

TensorFetch imageHost(const QImage& image)
{
    return [bytes = pngOf(image).toStdString()](const Json&, const api::AnswerHandler& handler) {
        handler(api::Answer{Json{{"dtype", "u8"}}, bytes});
    };
}

QStringList textsIn(const QWidget& widget)
{
    QStringList texts;
    for (const auto* label : widget.findChildren<ElidedLabel*>())
        texts += label->fullText();
    return texts;
}

} // namespace

class CompareTest : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void numbersOfEveryType();
    void tensorsByPieces_data();
    void tensorsByPieces();
    void otherShapesAreSaid();
    void goneTensorsAreSaid();
    void notFiniteCountsApart();
    void imagesAndTheirDifference();
    void imagesOfOtherSizes();
    void resultsWithHandles();
};

void CompareTest::numbersOfEveryType()
{
    const auto numbers = [](const char* dtype, std::string bytes) { return numbersOf(dtype, bytes).value(); };
    QCOMPARE(numbers("u8", "\x01\xff"), (std::vector<double>{1, 255}));
    QCOMPARE(numbers("i8", "\x01\xff"), (std::vector<double>{1, -1}));
    QCOMPARE(numbers("i16", std::string("\x00\x80", 2)), (std::vector<double>{-32768}));
    // One, minus two, the smallest subnormal, infinity.
    QCOMPARE(numbers("f16", std::string("\x00\x3c\x00\xc0\x01\x00\x00\x7c", 8)),
        (std::vector<double>{1, -2, std::ldexp(1, -24), HUGE_VAL}));
    QCOMPARE(numbers("bf16", std::string("\x80\x3f\x00\xc0", 4)), (std::vector<double>{1, -2}));
    QVERIFY(!numbersOf("c64", "xxxxxxxx"));
}

void CompareTest::tensorsByPieces_data()
{
    QTest::addColumn<QList<qlonglong>>("shape");
    QTest::newRow("one number") << QList<qlonglong>{};
    QTest::newRow("empty") << QList<qlonglong>{3, 0};
    QTest::newRow("vector") << QList<qlonglong>{600'001};
    QTest::newRow("matrix") << QList<qlonglong>{1000, 700};
    QTest::newRow("wide rows") << QList<qlonglong>{2, 3, 300'000};
}

void CompareTest::tensorsByPieces()
{
    QFETCH(const QList<qlonglong>, shape);
    const std::vector<std::int64_t> sides(shape.begin(), shape.end());
    std::int64_t count = 1;
    for (const auto side : sides)
        count *= side;
    // The last place differs by 3; everything else is the same.
    TensorHost left{sides, [](std::int64_t at) { return static_cast<float>(at % 7 + 1); }};
    TensorHost right{sides,
        [count](std::int64_t at) { return static_cast<float>(at % 7 + 1 + (at == count - 1 ? 3 : 0)); }};
    TensorCompare compare({left.field(), left.fetch()}, {right.field(), right.fetch()});
    QSignalSpy finished(&compare, &TensorCompare::finished);
    compare.start();
    QTRY_COMPARE(finished.size(), 1);
    QVERIFY2(!compare.error(), compare.error() ? compare.error()->message.c_str() : "");
    const auto& difference = compare.difference();
    QCOMPARE(difference.count, count);
    QCOMPARE(difference.greatest, count > 0 ? 3.0 : 0.0);
    QCOMPARE(difference.mean, count > 0 ? 3.0 / static_cast<double>(count) : 0.0);
    QVERIFY(count == 0 || (difference.cosine > 0.99 && difference.cosine <= 1.0000001));
    QVERIFY(left.largest <= (1U << 20U) + 4);
}

void CompareTest::otherShapesAreSaid()
{
    TensorHost left{{2, 3}, [](std::int64_t) { return 0.0F; }};
    TensorHost right{{3, 2}, [](std::int64_t) { return 0.0F; }};
    TensorCompare compare({left.field(), left.fetch()}, {right.field(), right.fetch()});
    compare.start();
    QVERIFY(compare.error());
    QCOMPARE(compare.error()->message, std::string("the shapes differ: 2 × 3 and 3 × 2"));
    QCOMPARE(left.asked, 0);
}

void CompareTest::goneTensorsAreSaid()
{
    TensorHost left{{2}, [](std::int64_t) { return 0.0F; }};
    TensorCompare compare(
        {left.field(), left.fetch()}, {left.field(), [](const Json&, const api::AnswerHandler& handler) {
                                           handler(fail("handle_gone", "it is gone"));
                                       }});
    compare.start();
    QVERIFY(compare.error());
    QCOMPARE(compare.error()->code, std::string("handle_gone"));
}

void CompareTest::notFiniteCountsApart()
{
    const float nan = std::nanf("");
    TensorHost left{{4}, [nan](std::int64_t at) { return at == 0 ? nan : at == 1 ? nan : 2.0F; }};
    TensorHost right{{4}, [nan](std::int64_t at) { return at == 0 ? nan : 2.0F; }};
    TensorCompare compare({left.field(), left.fetch()}, {right.field(), right.fetch()});
    QSignalSpy finished(&compare, &TensorCompare::finished);
    compare.start();
    QTRY_COMPARE(finished.size(), 1);
    QCOMPARE(compare.difference().odd, std::int64_t(1));
    QCOMPARE(compare.difference().count, std::int64_t(2));
    QVERIFY(!compare.difference().same());
}

void CompareTest::imagesAndTheirDifference()
{
    QImage left(60, 40, QImage::Format_RGB32);
    left.fill(Qt::white);
    auto right = left;
    for (int x = 0; x < 10; ++x)
        right.setPixelColor(x, 5, QColor(255, 155, 255));
    for (const auto scheme : {Scheme::Light, Scheme::Dark}) {
        Theme::instance().apply({scheme});
        ImageCompare view;
        view.resize(760, 320);
        view.setImages({}, imageHost(left), {}, imageHost(right));
        QVERIFY2(view.summary().contains(QStringLiteral("10 of 2\u202f400 pixels differ"))
                || view.summary().startsWith(QStringLiteral("10 of 2")),
            qPrintable(view.summary()));
        QVERIFY(view.summary().contains(QStringLiteral("100")));
        QCOMPARE(qGray(view.difference().pixel(3, 5)), 255); // the greatest difference is the brightest
        QCOMPARE(qGray(view.difference().pixel(20, 5)), 0);
        view.show();
        test::picture(view,
            scheme == Scheme::Dark ? QStringLiteral("compare-images-dark")
                                   : QStringLiteral("compare-images-light"));
        view.setLook(ImageCompare::Look::Difference);
        QCOMPARE(test::colorsIn(test::picture(view, QStringLiteral("compare-images-difference"))) > 2, true);
    }
}

void CompareTest::imagesOfOtherSizes()
{
    QImage left(60, 40, QImage::Format_RGB32);
    left.fill(Qt::red);
    ImageCompare view;
    view.setImages({}, imageHost(left), {}, imageHost(left.scaled(30, 20)));
    QCOMPARE(view.summary(), QStringLiteral("The sizes differ: 60 × 40 and 30 × 20 pixels."));
    QVERIFY(view.difference().isNull());
}

void CompareTest::resultsWithHandles()
{
    TensorHost left{{8, 8}, [](std::int64_t at) { return static_cast<float>(at); }};
    TensorHost right{{8, 8}, [](std::int64_t at) { return static_cast<float>(at) + 0.5F; }};
    const auto result = [](const char* handle, int layer) {
        return Json{{"layer", layer},
            {"act", {{"$gb", "tensor"}, {"handle", handle}, {"dtype", "f32"}, {"shape", {8, 8}}}}}
            .dump();
    };
    for (const auto scheme : {Scheme::Light, Scheme::Dark}) {
        Theme::instance().apply({scheme});
        CompareView view;
        view.resize(760, 360);
        view.show();
        view.setResults({QStringLiteral("older"), result("t1", 3), left.fetch()},
            {QStringLiteral("newer"), result("t2", 4), right.fetch()});
        // That the handles differ is no difference; the layer and the values are.
        QVERIFY2(view.summary().startsWith(QStringLiteral("Differences: 1")), qPrintable(view.summary()));
        QTRY_VERIFY2(textsIn(view).filter(QStringLiteral("greatest difference 0.5")).size() == 1,
            qPrintable(textsIn(view).join(QLatin1Char('|'))));
        test::picture(view,
            scheme == Scheme::Dark ? QStringLiteral("compare-tensors-dark")
                                   : QStringLiteral("compare-tensors-light"));
    }
}

QTEST_MAIN(CompareTest)
#include "tst_compare.moc"
