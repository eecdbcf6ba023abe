// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <QFont>
#include <QObject>
#include <QPalette>

#include "tokens.h"

namespace gb::ui {

enum class Scheme { System, Light, Dark };
enum class Density { Comfortable, Dense };
enum class TextSize { Caption, Small, Body, Heading, Title }; // 11 12 13 15 20 at 100 %

// What a person can choose about the look.
struct Look
{
    Scheme scheme = Scheme::System;
    Accent accent = Accent::Teal;
    int fontPercent = 100;
    Density density = Density::Comfortable;
    bool reducedMotion = false;

    bool operator==(const Look&) const = default;
};

// The theme in force, as QApplication::palette() is: one per process, changed only by the shell.
class Theme final : public QObject
{
    Q_OBJECT

public:
    static Theme& instance();

    // Sets palette, fonts, style and style sheet of the application.
    void apply(const Look& look);
    const Look& look() const { return m_look; }
    const Tokens& tokens() const { return m_tokens; }

    int pixels(TextSize size) const;
    QFont font(TextSize size, QFont::Weight weight = QFont::Normal) const;
    QFont monospace(TextSize size = TextSize::Small) const;
    int rowHeight() const { return m_look.density == Density::Dense ? 24 : 28; }

Q_SIGNALS:
    void changed();

private:
    Theme();
    bool systemIsDark() const;
    QPalette palette() const;

    bool m_styled = false;
    Look m_look;
    Tokens m_tokens;
    QString m_family;
    QString m_monospaceFamily;
    QPalette m_systemPalette;
};

inline const Tokens& tokens()
{
    return Theme::instance().tokens();
}

} // namespace gb::ui
