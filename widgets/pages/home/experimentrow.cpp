// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

#include "experimentrow.h"

#include <QDir>
#include <QPainter>

#include <backend/base/clock.h>
#include <widgets/controls/icons.h>
#include <widgets/controls/numbers.h>
#include <widgets/controls/statepill.h>
#include <widgets/controls/theme.h>
#include <widgets/itemmodels/fields.h>

#include "text.h"

namespace gb::ui {
namespace {

// 12 calls · 1 error
QString runOutcome(const Json& run)
{
    const auto calls = integerOr(run, "calls");
    const auto errors = integerOr(run, "errors");
    auto text = HomeText::tr("%n call(s)", nullptr, static_cast<int>(calls));
    if (errors > 0)
        text += QStringLiteral(" · ") + HomeText::tr("%n error(s)", nullptr, static_cast<int>(errors));
    return text;
}

} // namespace

ExperimentRow::ExperimentRow(const Json& experiment, QWidget* parent)
    : QAbstractButton(parent), m_id(textField(experiment, "id")), m_name(textField(experiment, "name")),
      m_folder(textField(experiment, "path")), m_openedAt(timeField(experiment, "opened_at"))
{
    if (m_name.isEmpty())
        m_name = QDir(m_folder).dirName();
    setCursor(Qt::PointingHandCursor);
    setFocusPolicy(Qt::StrongFocus);
    setAttribute(Qt::WA_Hover);
    setToolTip(m_folder.toHtmlEscaped());
    describe();
    connect(this, &QAbstractButton::clicked, this, [this] { Q_EMIT chosen(m_folder); });
}

void ExperimentRow::showLive(const Json& sandboxes, const Json& runs)
{
    m_state.clear();
    std::int64_t newest = -1;
    for (const auto& sandbox : sandboxes) {
        const auto state = textField(sandbox, "state");
        if (textField(sandbox, "experiment") != m_folder || timeField(sandbox, "created_at") <= newest
            || state == QLatin1String("stopped"))
            continue;
        newest = timeField(sandbox, "created_at");
        m_state = state;
    }
    m_last.clear();
    m_lastAt = 0;
    for (const auto& run : runs) {
        if (m_id.isEmpty() || textField(run, "experiment") != m_id || integerOr(run, "calls") == 0
            || timeField(run, "started_at") <= m_lastAt)
            continue;
        m_lastAt = timeField(run, "started_at");
        m_last = runOutcome(run);
    }
    describe();
    update();
}

void ExperimentRow::describe()
{
    setAccessibleName(HomeText::tr("Open %1").arg(m_name));
    setAccessibleDescription(QStringList{m_state, m_last}.join(QLatin1Char(' ')).trimmed());
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
    painter.setFont(theme.font(TextSize::Caption));
    const auto& metrics = painter.fontMetrics();
    const auto at = m_lastAt > 0 ? m_lastAt : m_openedAt;
    auto below = m_last.isEmpty() ? QString() : m_last + QStringLiteral(" · ");
    below += at ? agoText(at, wallMs()) : QString();
    const auto above = m_state;
    painter.setPen(t.secondary);
    painter.drawText(box, Qt::AlignRight | (above.isEmpty() ? Qt::AlignVCenter : Qt::AlignBottom), below);
    int taken = metrics.horizontalAdvance(below);
    if (!above.isEmpty()) {
        painter.drawText(box, Qt::AlignRight | Qt::AlignTop, above);
        const int width = metrics.horizontalAdvance(above);
        painter.setPen(Qt::NoPen);
        painter.setBrush(toneColor(t, StatePill::toneOf(above)));
        painter.drawEllipse(
            QPointF(box.right() - width - space::s, box.top() + metrics.height() / 2.0), 4, 4);
        taken = std::max(taken, width + 2 * space::s);
    }
    box.setRight(box.right() - taken - space::m);
    painter.setPen(t.secondary);
    const auto folder = painter.fontMetrics().elidedText(m_folder, Qt::ElideMiddle, box.width());
    painter.drawText(box, Qt::AlignLeft | Qt::AlignBottom, folder);
    painter.setFont(theme.font(TextSize::Body, QFont::DemiBold));
    painter.setPen(t.text);
    painter.drawText(box, Qt::AlignLeft | Qt::AlignTop,
        painter.fontMetrics().elidedText(m_name, Qt::ElideRight, box.width()));
}

} // namespace gb::ui
