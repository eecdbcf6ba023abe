// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

#include "experimentrow.h"

#include <QDir>
#include <QPainter>

#include <backend/base/clock.h>
#include <widgets/controls/icons.h>
#include <widgets/controls/numbers.h>
#include <widgets/controls/theme.h>
#include <widgets/itemmodels/fields.h>

#include "text.h"

namespace gb::ui {

ExperimentRow::ExperimentRow(const Json& experiment, QWidget* parent)
    : QAbstractButton(parent), m_name(textField(experiment, "name")), m_folder(textField(experiment, "path")),
      m_openedAt(timeField(experiment, "opened_at"))
{
    if (m_name.isEmpty())
        m_name = QDir(m_folder).dirName();
    setCursor(Qt::PointingHandCursor);
    setFocusPolicy(Qt::StrongFocus);
    setAttribute(Qt::WA_Hover);
    setAccessibleName(HomeText::tr("Open %1").arg(m_name));
    setToolTip(m_folder.toHtmlEscaped());
    connect(this, &QAbstractButton::clicked, this, [this] { Q_EMIT chosen(m_folder); });
}

QSize ExperimentRow::sizeHint() const
{
    const auto& theme = Theme::instance();
    return {200,
        QFontMetrics(theme.font(TextSize::Body)).height()
            + QFontMetrics(theme.font(TextSize::Caption)).height() + 2 * space::s};
}

void ExperimentRow::paintEvent(QPaintEvent*)
{
    QPainter painter(this);
    painter.setRenderHint(QPainter::Antialiasing);
    const auto& t = tokens();
    if (underMouse() || hasFocus()) {
        painter.setBrush(mixed(t.surface, t.text, 0.05));
        painter.setPen(hasFocus() ? QPen(t.accent, 2) : QPen(Qt::NoPen));
        painter.drawRoundedRect(rect().adjusted(1, 1, -1, -1), cornerRadius, cornerRadius);
    }
    const auto& theme = Theme::instance();
    painter.drawPixmap(space::m, (height() - 20) / 2,
        iconPixmap(QStringLiteral("folder"), 20, t.accent, devicePixelRatioF()));
    auto box = rect().adjusted(space::m + 20 + space::m, space::s, -space::m, -space::s);
    const auto when = m_openedAt ? agoText(m_openedAt, wallMs()) : QString();
    painter.setFont(theme.font(TextSize::Caption));
    painter.setPen(t.secondary);
    painter.drawText(box, Qt::AlignRight | Qt::AlignVCenter, when);
    box.setRight(box.right() - painter.fontMetrics().horizontalAdvance(when) - space::s);
    const auto folder = painter.fontMetrics().elidedText(m_folder, Qt::ElideMiddle, box.width());
    painter.drawText(box, Qt::AlignLeft | Qt::AlignBottom, folder);
    painter.setFont(theme.font(TextSize::Body, QFont::DemiBold));
    painter.setPen(t.text);
    painter.drawText(box, Qt::AlignLeft | Qt::AlignTop,
        painter.fontMetrics().elidedText(m_name, Qt::ElideRight, box.width()));
}

} // namespace gb::ui
