// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

#include "toast.h"

#include <QEvent>
#include <QHBoxLayout>
#include <QPainter>
#include <QTimer>

#include "buttons.h"
#include "icons.h"
#include "labels.h"
#include "text.h"
#include "theme.h"

namespace gb::ui {

Toast::Toast(QWidget* over) : QFrame(over)
{
    m_icon = new QLabel;
    m_text = makeLabel({});
    m_undo = makeButton(ControlsText::tr("Undo"), ButtonKind::Link, QStringLiteral("undo"));
    m_undo->setFocusPolicy(Qt::TabFocus);
    connect(m_undo, &QPushButton::clicked, this, [this] {
        hide();
        m_timer->stop();
        if (auto act = std::exchange(m_act, {}))
            act();
    });
    auto* close = makeIconButton(QStringLiteral("close"), ControlsText::tr("Dismiss"));
    auto* layout = new QHBoxLayout(this);
    layout->setContentsMargins(space::m, space::s, space::s, space::s);
    layout->setSpacing(space::s);
    layout->addWidget(m_icon);
    layout->addWidget(m_text);
    layout->addWidget(m_undo);
    layout->addWidget(close);
    m_timer = new QTimer(this);
    m_timer->setSingleShot(true);
    const auto end = [this] {
        hide();
        m_timer->stop();
        m_act = {};
        Q_EMIT expired();
    };
    connect(m_timer, &QTimer::timeout, this, end);
    connect(close, &QToolButton::clicked, this, end);
    over->installEventFilter(this);
    hide();
}

void Toast::show(Tone tone, const QString& text, int milliseconds)
{
    if (m_act)
        Q_EMIT expired();
    m_act = {};
    m_undo->hide();
    const auto name = tone == Tone::Error ? "error"
        : tone == Tone::Warning           ? "warning"
        : tone == Tone::Success           ? "success"
                                          : "info";
    m_icon->setPixmap(iconPixmap(QLatin1String(name), 20, toneColor(tokens(), tone), devicePixelRatioF()));
    m_text->setText(m_text->fontMetrics().elidedText(text, Qt::ElideRight, 600));
    setAccessibleName(text);
    m_timer->start(milliseconds);
    QFrame::show();
    raise();
    place();
}

void Toast::showUndo(const QString& text, std::function<void()> undo, int milliseconds)
{
    show(Tone::Success, text, milliseconds);
    m_act = std::move(undo);
    m_undo->show();
    place();
}

bool Toast::eventFilter(QObject* watched, QEvent* event)
{
    if (event->type() == QEvent::Resize && isVisible())
        place();
    return QFrame::eventFilter(watched, event);
}

void Toast::enterEvent(QEnterEvent* event)
{
    QFrame::enterEvent(event);
    m_timer->stop();
}

void Toast::leaveEvent(QEvent* event)
{
    QFrame::leaveEvent(event);
    if (isVisible())
        m_timer->start(3000);
}

void Toast::paintEvent(QPaintEvent*)
{
    QPainter painter(this);
    painter.setRenderHint(QPainter::Antialiasing);
    painter.setPen(mixed(tokens().border, tokens().secondary, 0.3));
    painter.setBrush(tokens().surface);
    painter.drawRoundedRect(QRectF(rect()).adjusted(0.5, 0.5, -0.5, -0.5), 8, 8);
}

void Toast::place()
{
    adjustSize();
    const auto* over = parentWidget();
    move((over->width() - width()) / 2, over->height() - height() - space::xxl - space::l);
}

} // namespace gb::ui
