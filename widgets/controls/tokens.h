// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <QColor>
#include <QList>
#include <QString>

namespace gb::ui {

// The colours of one theme. Nothing outside this file and tokens.cpp names a colour by number.
struct Tokens
{
    QColor window, surface, sunken, border;
    QColor text, secondary, disabled;
    QColor accent, accentSoft, onAccent;
    QColor info, success, warning, error;
    bool dark = false;
};

enum class Tone { Neutral, Accent, Info, Success, Warning, Error };
enum class Accent { Teal, Blue, Violet };

Tokens lightTokens(Accent accent);
Tokens darkTokens(Accent accent);

QColor toneColor(const Tokens& tokens, Tone tone);
// A background on which text of the same tone is readable.
QColor toneBackground(const Tokens& tokens, Tone tone);

// Dots and edges only, never text. Agents get the Okabe–Ito colours in order of appearance.
QColor callerColor(const Tokens& tokens, const QString& kind, const QString& name);

double contrast(const QColor& a, const QColor& b); // WCAG 2, 1 … 21
QColor mixed(const QColor& a, const QColor& b, double share);

// Spacing, on a 4 px grid.
namespace space {
inline constexpr int xs = 4;
inline constexpr int s = 8;
inline constexpr int m = 12;
inline constexpr int l = 16;
inline constexpr int xl = 24;
inline constexpr int xxl = 32;
} // namespace space

inline constexpr int cornerRadius = 6;

} // namespace gb::ui
