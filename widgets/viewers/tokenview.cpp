// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

#include "tokenview.h"

#include <algorithm>
#include <cmath>

#include <QHelpEvent>
#include <QPainter>
#include <QScrollBar>
#include <QToolTip>

#include <widgets/controls/numbers.h>
#include <widgets/controls/theme.h>

#include "colorlegend.h"
#include "text.h"

namespace gb::ui {
namespace {

constexpr int tokenGap = 3;
constexpr int tokenLegendWide = 220;
constexpr int tokenLegendBar = 8;

} // namespace

TokenView::TokenView(QWidget* parent) : QAbstractScrollArea(parent)
{
    setFrameShape(QFrame::NoFrame);
    setFocusPolicy(Qt::StrongFocus);
    setAccessibleName(ViewersText::tr("Tokens"));
    viewport()->setMouseTracking(true);
    connect(&Theme::instance(), &Theme::changed, this, [this] {
        layOut();
        viewport()->update();
    });
}

void TokenView::setTokens(std::vector<Token> list, const QString& scoreName)
{
    m_tokens = std::move(list);
    m_scoreName = scoreName.isEmpty() ? ViewersText::tr("score") : scoreName;
    double low = 0;
    double high = 0;
    m_scored = 0;
    for (const auto& token : m_tokens) {
        if (!token.scored || !std::isfinite(token.score))
            continue;
        ++m_scored;
        low = std::min(low, token.score);
        high = std::max(high, token.score);
    }
    m_scale = ColorScale::of(low, high);
    m_current = -1;
    m_hover = -1;
    layOut();
    setAccessibleDescription(legend());
    viewport()->update();
}

QString TokenView::legend() const
{
    if (m_scored == 0)
        return ViewersText::tr("%1 tokens without a score").arg(countText(std::ssize(m_tokens)));
    auto text =
        ViewersText::tr("The colour is the %1, from %2 to %3")
            .arg(m_scoreName, QString::number(m_scale.low, 'g', 4), QString::number(m_scale.high, 'g', 3));
    if (m_scale.diverging)
        text += ViewersText::tr(", white at 0");
    if (const auto plain = std::ssize(m_tokens) - m_scored; plain > 0)
        text += ViewersText::tr("; %1 without one are plain").arg(countText(plain));
    return text;
}

QString TokenView::readOut(int token) const
{
    if (token < 0 || token >= std::ssize(m_tokens))
        return {};
    const auto& at = m_tokens[static_cast<std::size_t>(token)];
    return QStringLiteral("[%1]  %2  %3")
        .arg(countText(token), visibleText(at.text),
            at.scored ? m_scoreName + QLatin1Char(' ') + QString::number(at.score, 'g', 6)
                      : ViewersText::tr("no %1").arg(m_scoreName));
}

int TokenView::footHeight() const
{
    return lyingLegendHeight(tokenLegendBar) + 2 * space::xs;
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
    const auto room = std::max(1, viewport()->height() - footHeight());
    verticalScrollBar()->setPageStep(room);
    verticalScrollBar()->setSingleStep(tall + tokenGap + 2);
    verticalScrollBar()->setRange(0, std::max(0, y + tall + space::m - room));
}

void TokenView::paintEvent(QPaintEvent*)
{
    QPainter painter(viewport());
    painter.setRenderHint(QPainter::Antialiasing);
    painter.fillRect(viewport()->rect(), tokens().sunken);
    painter.setFont(Theme::instance().monospace(TextSize::Body));
    painter.save();
    painter.setClipRect(viewport()->rect().adjusted(0, 0, 0, -footHeight()));
    painter.translate(0, -verticalScrollBar()->value());
    const auto visible = viewport()->rect().translated(0, verticalScrollBar()->value());
    for (std::size_t i = 0; i < m_boxes.size(); ++i) {
        if (!m_boxes[i].intersects(visible))
            continue;
        const auto at = static_cast<int>(i);
        const auto color = m_tokens[i].scored ? QColor(m_scale.color(m_tokens[i].score)) : tokens().surface;
        painter.setBrush(color);
        painter.setPen(at == m_current ? QPen(tokens().accent, 2)
                : at == m_hover        ? QPen(tokens().secondary, 1)
                                       : QPen(Qt::NoPen));
        painter.drawRoundedRect(m_boxes[i], 3, 3);
        painter.setPen(contrast(color, Qt::black) > contrast(color, Qt::white) ? Qt::black : Qt::white);
        painter.drawText(m_boxes[i], Qt::AlignCenter, visibleText(m_tokens[i].text));
    }
    painter.restore();
    paintFoot(painter);
}

// What the colours mean, and the token that is pointed at.
void TokenView::paintFoot(QPainter& painter)
{
    const QRect foot(0, viewport()->height() - footHeight(), viewport()->width(), footHeight());
    painter.setRenderHint(QPainter::Antialiasing, false);
    painter.setPen(tokens().border);
    painter.drawLine(foot.topLeft(), foot.topRight());
    painter.setFont(Theme::instance().font(TextSize::Caption));
    auto words = foot.adjusted(space::m, 0, -space::m, 0);
    if (m_scored > 0) {
        const auto wide = std::min(tokenLegendWide, foot.width() / 3);
        const QRect bar(foot.right() - space::m - wide, foot.top() + space::xs, wide, tokenLegendBar);
        paintColorLegend(painter, bar, Qt::Horizontal, m_scale);
        const auto named = painter.fontMetrics().horizontalAdvance(m_scoreName);
        const QRect name(bar.left() - named - space::s, foot.top(), named, foot.height());
        painter.drawText(name, Qt::AlignVCenter, m_scoreName);
        words.setRight(name.left() - space::m);
    }
    const auto pointed = m_hover >= 0 ? m_hover : m_current;
    painter.setPen(pointed >= 0 ? tokens().text : tokens().secondary);
    const auto text = pointed >= 0 ? readOut(pointed)
        : m_scored == 0            ? legend()
                                   : ViewersText::tr("%1 tokens · point at one, or use the arrow keys")
                              .arg(countText(std::ssize(m_tokens)));
    painter.drawText(words, Qt::AlignVCenter,
        painter.fontMetrics().elidedText(text, Qt::ElideRight, std::max(0, words.width())));
}

void TokenView::resizeEvent(QResizeEvent* event)
{
    QAbstractScrollArea::resizeEvent(event);
    layOut();
}

int TokenView::tokenAt(QPoint point) const
{
    if (point.y() >= viewport()->height() - footHeight())
        return -1;
    const auto at = point + QPoint(0, verticalScrollBar()->value());
    const auto found = std::ranges::find_if(m_boxes, [at](const QRect& box) { return box.contains(at); });
    return found == m_boxes.end() ? -1 : static_cast<int>(found - m_boxes.begin());
}

bool TokenView::viewportEvent(QEvent* event)
{
    if (event->type() == QEvent::ToolTip) {
        const auto* help = static_cast<QHelpEvent*>(event);
        const auto token = tokenAt(help->pos());
        const auto text = token >= 0                                 ? readOut(token)
            : help->pos().y() >= viewport()->height() - footHeight() ? legend()
                                                                     : QString();
        QToolTip::showText(help->globalPos(), text.toHtmlEscaped(), viewport());
        return true;
    }
    if (event->type() == QEvent::MouseMove || event->type() == QEvent::Leave) {
        const auto token = event->type() == QEvent::Leave
            ? -1
            : tokenAt(static_cast<QMouseEvent*>(event)->position().toPoint());
        if (token != m_hover) {
            m_hover = token;
            viewport()->update();
        }
    }
    if (event->type() == QEvent::MouseButtonPress)
        if (const auto token = tokenAt(static_cast<QMouseEvent*>(event)->position().toPoint()); token >= 0)
            moveTo(token);
    return QAbstractScrollArea::viewportEvent(event);
}

int TokenView::tokenInLine(int lines) const
{
    if (m_current < 0)
        return 0;
    const auto from = m_boxes[static_cast<std::size_t>(m_current)];
    const auto step = from.height() + tokenGap + 2;
    const auto line = from.top() + lines * step;
    int best = m_current;
    int least = viewport()->width() + 1;
    for (int i = 0; i < static_cast<int>(m_boxes.size()); ++i) {
        const auto& box = m_boxes[static_cast<std::size_t>(i)];
        if (const auto off = std::abs(box.center().x() - from.center().x());
            box.top() == line && off < least) {
            least = off;
            best = i;
        }
    }
    return best;
}

void TokenView::moveTo(int token)
{
    m_current = std::clamp(token, 0, static_cast<int>(m_tokens.size()) - 1);
    setAccessibleDescription(readOut(m_current));
    const auto& box = m_boxes[static_cast<std::size_t>(m_current)];
    auto* bar = verticalScrollBar();
    if (box.top() < bar->value())
        bar->setValue(box.top() - tokenGap);
    else if (box.bottom() > bar->value() + bar->pageStep())
        bar->setValue(box.bottom() + tokenGap - bar->pageStep());
    viewport()->update();
}

void TokenView::keyPressEvent(QKeyEvent* event)
{
    if (m_tokens.empty())
        return QAbstractScrollArea::keyPressEvent(event);
    switch (event->key()) {
    case Qt::Key_Right:
        return moveTo(m_current + 1);
    case Qt::Key_Left:
        return moveTo(m_current - 1);
    case Qt::Key_Down:
        return moveTo(tokenInLine(1));
    case Qt::Key_Up:
        return moveTo(tokenInLine(-1));
    case Qt::Key_Home:
        return moveTo(0);
    case Qt::Key_End:
        return moveTo(static_cast<int>(m_tokens.size()) - 1);
    default:
        QAbstractScrollArea::keyPressEvent(event);
    }
}

} // namespace gb::ui
