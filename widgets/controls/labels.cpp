// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

#include "labels.h"

#include <QResizeEvent>
#include <QStyle>

#include "harmless.h"

namespace gb::ui {
namespace {

// As QLabel has it for one line, without laying the text out for it.
int lineHeight(const QLabel& label)
{
    const auto around = label.contentsMargins();
    return label.fontMetrics().height() + around.top() + around.bottom() + 2 * label.margin();
}

} // namespace

void setTextRole(QLabel* label, TextRole role)
{
    static constexpr const char* names[] = {
        "body", "title", "heading", "section", "strong", "secondary", "caption", "mono", "error"};
    const QLatin1String name(names[static_cast<int>(role)]);
    if (label->property("gbText").toString() == name)
        return;
    label->setProperty("gbText", name);
    // One that nobody has seen yet is styled when it is shown.
    if (!label->testAttribute(Qt::WA_WState_Polished))
        return;
    label->style()->unpolish(label);
    label->style()->polish(label);
}

QLabel* makeLabel(const QString& text, TextRole role, QWidget* parent)
{
    auto* label = new QLabel(parent);
    label->setTextFormat(Qt::PlainText);
    label->setText(harmless(text));
    setTextRole(label, role);
    return label;
}

ElidedLabel::ElidedLabel(const QString& text, TextRole role, QWidget* parent) : QLabel(parent)
{
    setTextFormat(Qt::PlainText);
    setTextRole(this, role);
    setSizePolicy(QSizePolicy::Preferred, QSizePolicy::Fixed);
    setElidedText(text);
}

void ElidedLabel::setElidedText(const QString& text)
{
    const auto shown = harmless(text);
    if (shown == m_full)
        return;
    m_full = shown;
    setAccessibleName(shown);
    updateGeometry();
    elide();
}

QSize ElidedLabel::minimumSizeHint() const
{
    ensurePolished();
    return {fontMetrics().averageCharWidth() * 4, lineHeight(*this)};
}

QSize ElidedLabel::sizeHint() const
{
    ensurePolished();
    return {fontMetrics().horizontalAdvance(m_full) + 2, lineHeight(*this)};
}

void ElidedLabel::resizeEvent(QResizeEvent* event)
{
    QLabel::resizeEvent(event);
    elide();
}

void ElidedLabel::elide()
{
    auto line = m_full;
    line.replace(QLatin1Char('\n'), QLatin1Char(' '));
    const auto shown = fontMetrics().elidedText(line, m_mode, width());
    setText(shown);
    setToolTip(shown == m_full ? QString() : m_full.toHtmlEscaped());
}

} // namespace gb::ui
