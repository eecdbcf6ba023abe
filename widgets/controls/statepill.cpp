// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

#include "statepill.h"

#include <QPainter>

#include <backend/base/clock.h>

#include "numbers.h"
#include "theme.h"

namespace gb::ui {

StatePill::StatePill(QWidget* parent) : QWidget(parent)
{
    setSizePolicy(QSizePolicy::Fixed, QSizePolicy::Fixed);
}

void StatePill::setState(const QString& word, Tone tone, std::int64_t sinceMs)
{
    if (word == m_word && tone == m_tone && sinceMs == m_sinceMs)
        return;
    m_word = word;
    m_tone = tone;
    if (m_sinceMs == 0 && sinceMs != 0)
        startTimer(5000, Qt::VeryCoarseTimer);
    m_sinceMs = sinceMs;
    setToolTip(sinceMs ? exactTimeText(sinceMs) : QString());
    setAccessibleName(text());
    updateGeometry();
    update();
}

Tone StatePill::toneOf(const QString& state)
{
    static const QHash<QString, Tone> tones = {{QStringLiteral("ready"), Tone::Success},
        {QStringLiteral("ok"), Tone::Success}, {QStringLiteral("done"), Tone::Success},
        {QStringLiteral("live"), Tone::Success}, {QStringLiteral("running"), Tone::Accent},
        {QStringLiteral("loading"), Tone::Info}, {QStringLiteral("queued"), Tone::Info},
        {QStringLiteral("planned"), Tone::Info}, {QStringLiteral("building"), Tone::Info},
        {QStringLiteral("starting"), Tone::Info}, {QStringLiteral("stopping"), Tone::Warning},
        {QStringLiteral("restarting"), Tone::Warning}, {QStringLiteral("warning"), Tone::Warning},
        {QStringLiteral("cancelled"), Tone::Warning}, {QStringLiteral("failed"), Tone::Error},
        {QStringLiteral("error"), Tone::Error}, {QStringLiteral("killed"), Tone::Error},
        {QStringLiteral("lost"), Tone::Error}};
    return tones.value(state, Tone::Neutral);
}

QString StatePill::text() const
{
    return m_sinceMs ? m_word + QStringLiteral(" · ") + sinceText(m_sinceMs, wallMs()) : m_word;
}

QSize StatePill::sizeHint() const
{
    const QFontMetrics metrics(Theme::instance().font(TextSize::Small));
    return {metrics.horizontalAdvance(text()) + 8 + 6 + 2 * space::s + 2, metrics.height() + 6};
}

void StatePill::paintEvent(QPaintEvent*)
{
    QPainter painter(this);
    painter.setRenderHint(QPainter::Antialiasing);
    painter.setPen(Qt::NoPen);
    painter.setBrush(toneBackground(tokens(), m_tone));
    painter.drawRoundedRect(rect(), height() / 2.0, height() / 2.0);
    painter.setBrush(toneColor(tokens(), m_tone));
    painter.drawEllipse(QPointF(space::s + 4, height() / 2.0), 4, 4);
    painter.setPen(m_tone == Tone::Neutral ? tokens().secondary : tokens().text);
    painter.setFont(Theme::instance().font(TextSize::Small));
    painter.drawText(rect().adjusted(space::s + 8 + 6, 0, -space::s + 4, 0), Qt::AlignVCenter, text());
}

void StatePill::timerEvent(QTimerEvent*)
{
    setAccessibleName(text());
    updateGeometry();
    update();
}

} // namespace gb::ui
