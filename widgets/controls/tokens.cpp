// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

#include "tokens.h"

#include <array>
#include <cmath>

namespace gb::ui {
namespace {

void applyAccent(Tokens& t, Accent accent)
{
    switch (accent) {
    case Accent::Teal:
        t.accent = t.dark ? QColor(0x2DD4BF) : QColor(0x0A716C);
        t.accentSoft = t.dark ? QColor(0x12312F) : QColor(0xE0F2F1);
        t.onAccent = t.dark ? QColor(0x06201E) : QColor(0xFFFFFF);
        break;
    case Accent::Blue:
        t.accent = t.dark ? QColor(0x7AB4FF) : QColor(0x1D5BE0);
        t.accentSoft = t.dark ? QColor(0x16294A) : QColor(0xE6EDFC);
        t.onAccent = t.dark ? QColor(0x071A36) : QColor(0xFFFFFF);
        break;
    case Accent::Violet:
        t.accent = t.dark ? QColor(0xB9A1FF) : QColor(0x6A3FCB);
        t.accentSoft = t.dark ? QColor(0x292147) : QColor(0xEEE9FB);
        t.onAccent = t.dark ? QColor(0x180C36) : QColor(0xFFFFFF);
        break;
    }
}

double channel(double value)
{
    return value <= 0.03928 ? value / 12.92 : std::pow((value + 0.055) / 1.055, 2.4);
}

double luminance(const QColor& color)
{
    return 0.2126 * channel(color.redF()) + 0.7152 * channel(color.greenF())
        + 0.0722 * channel(color.blueF());
}

} // namespace

Tokens lightTokens(Accent accent)
{
    Tokens t;
    t.window = QColor(0xF7F8FA);
    t.surface = QColor(0xFFFFFF);
    t.sunken = QColor(0xEEF1F4);
    t.border = QColor(0xDDE2E8);
    t.text = QColor(0x1B2330);
    t.secondary = QColor(0x5B6675);
    t.disabled = QColor(0x9AA4B2);
    t.info = QColor(0x1D5BE0);
    t.success = QColor(0x13743A);
    t.warning = QColor(0xA34A08);
    t.error = QColor(0xB91C1C);
    applyAccent(t, accent);
    return t;
}

Tokens darkTokens(Accent accent)
{
    Tokens t;
    t.dark = true;
    t.window = QColor(0x14181F);
    t.surface = QColor(0x1B2029);
    t.sunken = QColor(0x10141A);
    t.border = QColor(0x2C3440);
    t.text = QColor(0xE6EAF0);
    t.secondary = QColor(0x9AA6B5);
    t.disabled = QColor(0x5D6877);
    t.info = QColor(0x60A5FA);
    t.success = QColor(0x4ADE80);
    t.warning = QColor(0xFBBF24);
    t.error = QColor(0xF87171);
    applyAccent(t, accent);
    return t;
}

QColor toneColor(const Tokens& tokens, Tone tone)
{
    switch (tone) {
    case Tone::Neutral:
        return tokens.secondary;
    case Tone::Accent:
        return tokens.accent;
    case Tone::Info:
        return tokens.info;
    case Tone::Success:
        return tokens.success;
    case Tone::Warning:
        return tokens.warning;
    case Tone::Error:
        return tokens.error;
    }
    return tokens.text;
}

QColor toneBackground(const Tokens& tokens, Tone tone)
{
    if (tone == Tone::Neutral)
        return tokens.sunken;
    if (tone == Tone::Accent)
        return tokens.accentSoft;
    return mixed(tokens.surface, toneColor(tokens, tone), tokens.dark ? 0.12 : 0.07);
}

QColor callerColor(const Tokens& tokens, const QString& kind, const QString& name)
{
    if (kind == QLatin1String("person"))
        return tokens.accent;
    if (kind == QLatin1String("script"))
        return QColor(0x6366F1);
    static constexpr std::array<QRgb, 7> okabeIto = {
        0xE69F00, 0x56B4E9, 0x009E73, 0xF0E442, 0x0072B2, 0xD55E00, 0xCC79A7};
    static QList<QString> seen;
    auto index = seen.indexOf(name);
    if (index < 0) {
        index = seen.size();
        seen.append(name);
    }
    return QColor(okabeIto.at(static_cast<std::size_t>(index) % okabeIto.size()));
}

double contrast(const QColor& a, const QColor& b)
{
    const auto la = luminance(a);
    const auto lb = luminance(b);
    return (std::max(la, lb) + 0.05) / (std::min(la, lb) + 0.05);
}

QColor mixed(const QColor& a, const QColor& b, double share)
{
    const auto blend = [share](double x, double y) { return static_cast<float>(x + (y - x) * share); };
    return QColor::fromRgbF(
        blend(a.redF(), b.redF()), blend(a.greenF(), b.greenF()), blend(a.blueF(), b.blueF()));
}

} // namespace gb::ui
