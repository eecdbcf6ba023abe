// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

#include "tensorcompare.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <utility>

#include <QPointer>
#include <QStringList>

#include "text.h"

namespace gb::ui {
namespace {

constexpr std::int64_t pieceValues = 1 << 18; // a few milliseconds of work, then the window gets its turn

template <typename Number>
std::vector<double> plainNumbers(const std::string& bytes)
{
    std::vector<double> values(bytes.size() / sizeof(Number));
    for (std::size_t i = 0; i < values.size(); ++i) {
        Number one{};
        std::memcpy(&one, bytes.data() + i * sizeof(Number), sizeof(Number));
        values[i] = static_cast<double>(one);
    }
    return values;
}

double halfNumber(std::uint16_t bits)
{
    const double sign = (bits & 0x8000U) != 0 ? -1.0 : 1.0;
    const auto exponent = static_cast<int>((static_cast<unsigned>(bits) >> 10U) & 0x1FU);
    const double fraction = static_cast<double>(bits & 0x3FFU) / 1024.0;
    if (exponent == 31)
        return fraction == 0 ? sign * HUGE_VAL : std::nan("");
    return exponent == 0 ? sign * std::ldexp(fraction, -14) : sign * std::ldexp(1 + fraction, exponent - 15);
}

double brainNumber(std::uint16_t bits)
{
    const std::uint32_t wide = static_cast<std::uint32_t>(bits) << 16U;
    float value = 0;
    std::memcpy(&value, &wide, sizeof value);
    return static_cast<double>(value);
}

std::vector<double> shortNumbers(const std::string& bytes, double (*read)(std::uint16_t))
{
    std::vector<double> values(bytes.size() / sizeof(std::uint16_t));
    for (std::size_t i = 0; i < values.size(); ++i) {
        std::uint16_t bits = 0;
        std::memcpy(&bits, bytes.data() + i * sizeof bits, sizeof bits);
        values[i] = read(bits);
    }
    return values;
}

bool isSameOdd(double a, double b)
{
    return (std::isnan(a) && std::isnan(b)) || a == b;
}

std::int64_t product(const std::vector<std::int64_t>& shape, std::size_t from, std::size_t to)
{
    std::int64_t all = 1;
    for (std::size_t i = from; i < to; ++i)
        all *= shape[i];
    return all;
}

} // namespace

std::optional<std::vector<double>> numbersOf(const std::string& dtype, const std::string& bytes)
{
    using Reader = std::vector<double> (*)(const std::string&);
    static constexpr std::pair<const char*, Reader> readers[] = {{"f32", plainNumbers<float>},
        {"f64", plainNumbers<double>}, {"i64", plainNumbers<std::int64_t>},
        {"i32", plainNumbers<std::int32_t>}, {"i16", plainNumbers<std::int16_t>},
        {"i8", plainNumbers<std::int8_t>}, {"u64", plainNumbers<std::uint64_t>},
        {"u32", plainNumbers<std::uint32_t>}, {"u16", plainNumbers<std::uint16_t>},
        {"u8", plainNumbers<std::uint8_t>}, {"bool", plainNumbers<std::uint8_t>}};
    for (const auto& [name, read] : readers)
        if (dtype == name)
            return read(bytes);
    if (dtype == "f16")
        return shortNumbers(bytes, halfNumber);
    if (dtype == "bf16")
        return shortNumbers(bytes, brainNumber);
    return {};
}

TensorCompare::TensorCompare(Side left, Side right, QObject* parent)
    : QObject(parent), m_left(std::move(left)), m_right(std::move(right))
{ }

void TensorCompare::start()
{
    const auto& shape = m_left.tensor.shape;
    if (shape != m_right.tensor.shape)
        return end(Error{"compare.shape",
            ViewersText::tr("the shapes differ: %1 and %2")
                .arg(shapeText(shape), shapeText(m_right.tensor.shape))
                .toStdString()});
    if (!m_left.fetch || !m_right.fetch)
        return end(
            Error{"tensor.gone", ViewersText::tr("its values are no longer held by the host").toStdString()});
    while (m_axis + 1 < shape.size() && product(shape, m_axis + 1, shape.size()) > pieceValues)
        ++m_axis;
    const std::int64_t along = shape.empty() ? 1 : shape[m_axis];
    const std::int64_t below = shape.empty() ? 1 : product(shape, m_axis + 1, shape.size());
    m_step = std::clamp<std::int64_t>(
        pieceValues / std::max<std::int64_t>(below, 1), 1, std::max<std::int64_t>(along, 1));
    m_pieces = product(shape, 0, std::min(m_axis, shape.size())) * ((along + m_step - 1) / m_step);
    if (below == 0)
        m_pieces = 0;
    askNext();
}

QString TensorCompare::sliceAt(std::int64_t piece) const
{
    const auto& shape = m_left.tensor.shape;
    if (shape.empty())
        return {};
    const std::int64_t ranges = (shape[m_axis] + m_step - 1) / m_step;
    const std::int64_t begin = piece % ranges * m_step;
    QStringList parts{QStringLiteral("%1:%2").arg(begin).arg(std::min(begin + m_step, shape[m_axis]))};
    std::int64_t lead = piece / ranges;
    for (std::size_t i = m_axis; i-- > 0; lead /= shape[i])
        parts.prepend(QStringLiteral("%1:%2").arg(lead % shape[i]).arg(lead % shape[i] + 1));
    return parts.join(QLatin1Char(','));
}

void TensorCompare::askNext()
{
    if (m_piece == m_pieces)
        return end();
    m_leftNumbers.reset();
    m_rightNumbers.reset();
    const auto slice = sliceAt(m_piece).toStdString();
    for (const bool isLeft : {true, false}) {
        const auto& side = isLeft ? m_left : m_right;
        Json wanted{{"handle", side.tensor.handle.toStdString()}, {"what", "slice"}};
        if (!slice.empty())
            wanted["slice"] = slice;
        side.fetch(std::move(wanted), [guard = QPointer(this), isLeft](Result<api::Answer> answer) {
            if (guard)
                guard->take(isLeft, std::move(answer));
        });
    }
}

void TensorCompare::take(bool isLeft, Result<api::Answer> answer)
{
    if (m_ended)
        return;
    if (!answer)
        return end(answer.error());
    auto numbers = numbersOf(stringOr(answer->body, "dtype"), answer->attachment);
    if (!numbers)
        return end(Error{"compare.dtype",
            ViewersText::tr("values of type %1 are not compared")
                .arg(QString::fromStdString(stringOr(answer->body, "dtype")))
                .toStdString()});
    (isLeft ? m_leftNumbers : m_rightNumbers) = std::move(numbers);
    if (!m_leftNumbers || !m_rightNumbers)
        return;
    if (m_leftNumbers->size() != m_rightNumbers->size())
        return end(Error{
            "compare.shape", ViewersText::tr("the hosts sent slices of different sizes").toStdString()});
    addUp();
    ++m_piece;
    Q_EMIT progressed(static_cast<double>(m_piece) / static_cast<double>(m_pieces));
    // Answers may come at once; the window gets its turn in between.
    QMetaObject::invokeMethod(this, &TensorCompare::askNext, Qt::QueuedConnection);
}

void TensorCompare::addUp()
{
    for (std::size_t i = 0; i < m_leftNumbers->size(); ++i) {
        const double a = (*m_leftNumbers)[i];
        const double b = (*m_rightNumbers)[i];
        if (!std::isfinite(a) || !std::isfinite(b)) {
            m_difference.odd += isSameOdd(a, b) ? 0 : 1;
            continue;
        }
        const double apart = std::abs(a - b);
        ++m_difference.count;
        m_difference.greatest = std::max(m_difference.greatest, apart);
        m_sum += apart;
        m_dot += a * b;
        m_leftSquares += a * a;
        m_rightSquares += b * b;
    }
}

void TensorCompare::end(std::optional<Error> error)
{
    if (std::exchange(m_ended, true))
        return;
    m_error = std::move(error);
    if (m_difference.count > 0)
        m_difference.mean = m_sum / static_cast<double>(m_difference.count);
    const double lengths = std::sqrt(m_leftSquares) * std::sqrt(m_rightSquares);
    // Without a length there is no angle.
    m_difference.cosine = lengths > 0 ? m_dot / lengths : std::nan("");
    Q_EMIT finished();
}

} // namespace gb::ui
