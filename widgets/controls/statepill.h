// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>

#include <QWidget>

#include "tokens.h"

namespace gb::ui {

// A dot, a word and since when: "● ready · 12 min".
class StatePill final : public QWidget
{
    Q_OBJECT

public:
    explicit StatePill(QWidget* parent = nullptr);

    void setState(const QString& word, Tone tone, std::int64_t sinceMs = 0);
    // The tone that goes with a state word of the API (ready, running, failed, loading …).
    static Tone toneOf(const QString& state);

    QString text() const;
    QSize sizeHint() const override;
    QSize minimumSizeHint() const override { return sizeHint(); }

protected:
    void paintEvent(QPaintEvent* event) override;
    void timerEvent(QTimerEvent* event) override;

private:
    QString m_word;
    Tone m_tone = Tone::Neutral;
    std::int64_t m_sinceMs = 0;
};

} // namespace gb::ui
