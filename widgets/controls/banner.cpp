// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

#include "banner.h"

#include <QHBoxLayout>
#include <QLabel>
#include <QPainter>
#include <QPlainTextEdit>

#include "buttons.h"
#include "errortext.h"
#include "frames.h"
#include "icons.h"
#include "labels.h"
#include "text.h"
#include "theme.h"

namespace gb::ui {
namespace {

// Below this the actions stand under the words, which would otherwise be a column of syllables.
constexpr int bannerNarrow = 480;
constexpr int besideActions = 96; // icon, buttons at the right and margins

QString toneIconName(Tone tone)
{
    switch (tone) {
    case Tone::Success:
        return QStringLiteral("success");
    case Tone::Warning:
        return QStringLiteral("warning");
    case Tone::Error:
        return QStringLiteral("error");
    default:
        return QStringLiteral("info");
    }
}

// Actions that do not fit beside each other stand below each other.
void placeActions(QBoxLayout* actions, int room)
{
    int wanted = 0;
    for (int i = 0; i < actions->count(); ++i)
        wanted += actions->itemAt(i)->sizeHint().width() + actions->spacing();
    actions->setDirection(wanted > room ? QBoxLayout::TopToBottom : QBoxLayout::LeftToRight);
}

} // namespace

Banner::Banner(QWidget* parent) : QFrame(parent)
{
    m_icon = new QLabel(this);
    m_icon->setFixedWidth(20);
    m_title = makeLabel({}, TextRole::Strong);
    m_title->setWordWrap(true);
    m_why = makeLabel({});
    m_why->setWordWrap(true);
    m_why->setTextInteractionFlags(Qt::TextSelectableByMouse);
    m_more = makeIconButton(QStringLiteral("chevron-down"), ControlsText::tr("Details"));
    connect(m_more, &QToolButton::clicked, this, &Banner::toggleDetails);
    m_close = makeIconButton(QStringLiteral("close"), ControlsText::tr("Dismiss"));
    connect(m_close, &QToolButton::clicked, this, &Banner::dismiss);
    m_details = new QPlainTextEdit;
    m_details->setReadOnly(true);
    m_details->setAccessibleName(ControlsText::tr("Details"));

    auto* words = new QVBoxLayout;
    words->setSpacing(2);
    words->addWidget(m_title);
    words->addWidget(m_why);
    m_actions = new QHBoxLayout;
    m_actions->setSpacing(space::s);
    m_body = new QBoxLayout(QBoxLayout::LeftToRight);
    m_body->setSpacing(space::s);
    m_body->addLayout(words, 1);
    m_body->addLayout(m_actions);
    auto* top = new QHBoxLayout;
    top->setSpacing(space::s);
    top->addWidget(m_icon, 0, Qt::AlignTop);
    top->addLayout(m_body, 1);
    top->addWidget(m_more, 0, Qt::AlignTop);
    top->addWidget(m_close, 0, Qt::AlignTop);
    auto* layout = new QVBoxLayout(this);
    layout->setContentsMargins(space::m, space::s, space::s, space::s);
    layout->addLayout(top);
    layout->addWidget(m_details);
    setVisible(false);
    connect(&Theme::instance(), &Theme::changed, this, [this] {
        m_icon->setPixmap(
            iconPixmap(toneIconName(m_tone), 20, toneColor(tokens(), m_tone), devicePixelRatioF()));
        m_details->setFont(Theme::instance().monospace());
    });
}

void Banner::show(Tone tone, const QString& title, const QString& why, const QString& details)
{
    m_tone = tone;
    m_icon->setPixmap(iconPixmap(toneIconName(tone), 20, toneColor(tokens(), tone), devicePixelRatioF()));
    m_title->setText(title);
    m_why->setText(why);
    m_why->setVisible(!why.isEmpty());
    m_details->setFont(Theme::instance().monospace());
    m_details->setPlainText(details);
    constexpr int mostHeight = 160;
    constexpr int fewestLines = 3; // where there is no room for more
    const auto spacing = m_details->fontMetrics().lineSpacing();
    const auto lines = static_cast<int>(details.count(QLatin1Char('\n'))) + 2;
    m_details->setMaximumHeight(qMin(mostHeight, lines * spacing + space::m));
    m_details->setMinimumHeight(qMin(lines, fewestLines) * spacing + space::m);
    m_details->setVisible(false);
    m_more->setVisible(!details.isEmpty());
    m_more->setIcon(icon(QStringLiteral("chevron-down")));
    clearLayout(m_actions);
    setAccessibleName(title + QLatin1Char(' ') + why);
    setVisible(true);
    update();
}

void Banner::showError(const QString& what, const Error& error)
{
    show(Tone::Error, what, errorSentence(error), errorDetails(error));
}

void Banner::addAction(const QString& text, std::function<void()> act)
{
    auto* button = makeButton(text);
    connect(button, &QPushButton::clicked, this, std::move(act));
    m_actions->addWidget(button, 0, Qt::AlignTop | Qt::AlignLeft);
    button->show();
    placeActions(m_actions, width() - besideActions);
}

void Banner::dismiss()
{
    setVisible(false);
}

void Banner::enter()
{
    if (auto* first = m_actions->itemAt(0))
        first->widget()->setFocus(Qt::ShortcutFocusReason);
    else
        m_close->setFocus(Qt::ShortcutFocusReason);
}

QString Banner::title() const
{
    return m_title->text();
}

void Banner::paintEvent(QPaintEvent*)
{
    QPainter painter(this);
    painter.setRenderHint(QPainter::Antialiasing);
    const auto color = toneColor(tokens(), m_tone);
    painter.setPen(mixed(toneBackground(tokens(), m_tone), color, 0.35));
    painter.setBrush(toneBackground(tokens(), m_tone));
    painter.drawRoundedRect(QRectF(rect()).adjusted(0.5, 0.5, -0.5, -0.5), cornerRadius, cornerRadius);
}

void Banner::resizeEvent(QResizeEvent* event)
{
    QFrame::resizeEvent(event);
    const bool narrow = width() < bannerNarrow;
    m_body->setDirection(narrow ? QBoxLayout::TopToBottom : QBoxLayout::LeftToRight);
    placeActions(m_actions, width() - besideActions);
    m_body->setAlignment(m_actions, narrow ? Qt::AlignLeft : Qt::Alignment());
}

void Banner::focusDetails()
{
    openDetails();
    m_details->setFocus(Qt::OtherFocusReason);
}

void Banner::openDetails()
{
    if (!m_details->isVisibleTo(this) && !m_details->document()->isEmpty())
        toggleDetails();
}

void Banner::toggleDetails()
{
    const bool open = !m_details->isVisibleTo(this);
    m_details->setVisible(open);
    m_more->setIcon(icon(open ? QStringLiteral("chevron-up") : QStringLiteral("chevron-down")));
}

} // namespace gb::ui
