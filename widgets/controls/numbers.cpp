// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

#include "numbers.h"

#include <QDateTime>
#include <QLocale>
#include <cmath>

#include "text.h"

namespace gb::ui {
namespace {

// Three significant digits, no exponent.
QString shortNumber(double value)
{
    const auto digits = value < 9.995 ? (value < 0.9995 ? 2 : 1) : (value < 99.95 ? 1 : 0);
    auto text = QLocale().toString(value, 'f', digits);
    while (digits > 0 && text.endsWith(QLatin1Char('0')))
        text.chop(1);
    if (text.endsWith(QLocale().decimalPoint()))
        text.chop(1);
    return text;
}

QString scaled(double value, const char* const* units, int count)
{
    int unit = 0;
    while (value >= 999.5 && unit + 1 < count) {
        value /= 1000;
        ++unit;
    }
    return shortNumber(value) + QChar(0x00A0) + QString::fromUtf8(units[unit]);
}

QString span(std::int64_t seconds)
{
    if (seconds < 60)
        return ControlsText::tr("%1 s").arg(seconds);
    if (seconds < 3600)
        return ControlsText::tr("%1 min").arg(seconds / 60);
    if (seconds < 48 * 3600)
        return ControlsText::tr("%1 h").arg(seconds / 3600);
    return ControlsText::tr("%1 d").arg(seconds / 86400);
}

} // namespace

QString bytesText(double bytes)
{
    static const char* const units[] = {"B", "kB", "MB", "GB", "TB"};
    return scaled(bytes, units, 5);
}

QString rateText(double bytesPerSecond)
{
    return bytesText(bytesPerSecond) + QStringLiteral("/s");
}

QString durationText(std::int64_t nanoseconds)
{
    if (nanoseconds < 60'000'000'000) {
        static const char* const units[] = {"ns", "µs", "ms", "s"};
        return scaled(static_cast<double>(nanoseconds), units, 4);
    }
    const auto seconds = nanoseconds / 1'000'000'000;
    return ControlsText::tr("%1 min %2 s").arg(seconds / 60).arg(seconds % 60, 2, 10, QLatin1Char('0'));
}

QString clockText(double seconds)
{
    const auto whole = static_cast<std::int64_t>(std::llround(seconds));
    const auto two = [](std::int64_t n) { return QStringLiteral("%1").arg(n, 2, 10, QLatin1Char('0')); };
    if (whole >= 3600)
        return QStringLiteral("%1:%2:%3").arg(whole / 3600).arg(two(whole / 60 % 60), two(whole % 60));
    return QStringLiteral("%1:%2").arg(whole / 60).arg(two(whole % 60));
}

QString countText(std::int64_t count)
{
    return QLocale().toString(static_cast<qlonglong>(count));
}

QString moneyText(double dollars)
{
    return QStringLiteral("$") + QLocale().toString(dollars, 'f', dollars != 0 && dollars < 0.1 ? 3 : 2);
}

QString agoText(std::int64_t thenMs, std::int64_t nowMs)
{
    const auto seconds = (nowMs - thenMs) / 1000;
    return seconds < 5 ? ControlsText::tr("just now") : ControlsText::tr("%1 ago").arg(span(seconds));
}

QString sinceText(std::int64_t thenMs, std::int64_t nowMs)
{
    return span(qMax<std::int64_t>(0, (nowMs - thenMs) / 1000));
}

QString exactTimeText(std::int64_t ms)
{
    return QDateTime::fromMSecsSinceEpoch(ms).toString(QStringLiteral("yyyy-MM-dd HH:mm:ss"));
}

} // namespace gb::ui
