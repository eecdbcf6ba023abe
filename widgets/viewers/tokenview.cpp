// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

#include "tokenview.h"

#include <algorithm>

#include <QHelpEvent>
#include <QPainter>
#include <QScrollBar>
#include <QToolTip>

#include <widgets/controls/theme.h>

#include "text.h"

namespace gb::ui {
namespace {

constexpr int tokenGap = 3;

} // namespace

TokenView::TokenView(QWidget* parent) : QAbstractScrollArea(parent)
{
    setFrameShape(QFrame::NoFrame);
    setFocusPolicy(Qt::StrongFocus);
    setAccessibleName(ViewersText::tr("Tokens"));
    connect(&Theme::instance(), &Theme::changed, this, [this] {
        layOut();
        viewport()->update();
    });
}

void TokenView::setTokens(std::vector<Token> list)
{
    m_tokens = std::move(list);
    double low = 0;
    double high = 0;
    for (const auto& token : m_tokens) {
        low = std::min(low, token.score);
        high = std::max(high, token.score);
    }
    m_scale = ColorScale::of(low, high);
    m_current = -1;
    layOut();
    viewport()->update();
}

QString TokenView::visibleText(const QString& token)
{
    auto text = token;
    text.replace(QLatin1Char(' '), QChar(0x00B7));
    text.replace(QLatin1Char('\n'), QChar(0x21B5));
    text.replace(QLatin1Char('\t'), QChar(0x21E5));
    return text.isEmpty() ? QString(QChar(0x2205)) : text;
}

void TokenView::layOut()
{
    const QFontMetrics metrics(Theme::instance().monospace(TextSize::Body));
    const auto tall = metrics.height() + space::s;
    m_boxes.clear();
    int x = space::m;
    int y = space::m;
    for (const auto& token : m_tokens) {
        const auto wide = metrics.horizontalAdvance(visibleText(token.text)) + 2 * space::xs;
        if (x + wide > viewport()->width() - space::m && x > space::m) {
            x = space::m;
            y += tall + tokenGap + 2;
        }
        m_boxes.emplace_back(x, y, wide, tall);
        x += wide + tokenGap;
    }
    verticalScrollBar()->setPageStep(viewport()->height());
    verticalScrollBar()->setRange(0, std::max(0, y + tall + space::m - viewport()->height()));
}

void TokenView::paintEvent(QPaintEvent*)
{
    QPainter painter(viewport());
    painter.setRenderHint(QPainter::Antialiasing);
    painter.fillRect(viewport()->rect(), tokens().sunken);
    painter.setFont(Theme::instance().monospace(TextSize::Body));
    painter.translate(0, -verticalScrollBar()->value());
    const auto visible = viewport()->rect().translated(0, verticalScrollBar()->value());
    for (std::size_t i = 0; i < m_boxes.size(); ++i) {
        if (!m_boxes[i].intersects(visible))
            continue;
        const auto color = m_tokens[i].scored ? QColor(m_scale.color(m_tokens[i].score)) : tokens().surface;
        painter.setBrush(color);
        painter.setPen(static_cast<int>(i) == m_current ? QPen(tokens().text, 2) : QPen(Qt::NoPen));
        painter.drawRoundedRect(m_boxes[i], 3, 3);
        painter.setPen(contrast(color, Qt::black) > contrast(color, Qt::white) ? Qt::black : Qt::white);
        painter.drawText(m_boxes[i], Qt::AlignCenter, visibleText(m_tokens[i].text));
    }
}

void TokenView::resizeEvent(QResizeEvent* event)
{
    QAbstractScrollArea::resizeEvent(event);
    layOut();
}

bool TokenView::viewportEvent(QEvent* event)
{
    if (event->type() == QEvent::ToolTip) {
        const auto* help = static_cast<QHelpEvent*>(event);
        const auto at = help->pos() + QPoint(0, verticalScrollBar()->value());
        for (std::size_t i = 0; i < m_boxes.size(); ++i)
            if (m_boxes[i].contains(at))
                QToolTip::showText(help->globalPos(),
                    QStringLiteral("[%1] %2  %3")
                        .arg(i)
                        .arg(visibleText(m_tokens[i].text).toHtmlEscaped())
                        .arg(m_tokens[i].scored ? QString::number(m_tokens[i].score, 'g', 5) : QString()));
        return true;
    }
    return QAbstractScrollArea::viewportEvent(event);
}

void TokenView::keyPressEvent(QKeyEvent* event)
{
    const auto step = event->key() == Qt::Key_Right ? 1 : event->key() == Qt::Key_Left ? -1 : 0;
    if (step == 0 || m_tokens.empty()) {
        QAbstractScrollArea::keyPressEvent(event);
        return;
    }
    m_current = std::clamp(m_current + step, 0, static_cast<int>(m_tokens.size()) - 1);
    const auto& token = m_tokens[static_cast<std::size_t>(m_current)];
    setAccessibleDescription(QStringLiteral("%1 %2").arg(token.text).arg(token.score));
    viewport()->update();
}

} // namespace gb::ui
