// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

#include "rows.h"

#include <QHBoxLayout>
#include <QPainter>

#include <widgets/controls/theme.h>

namespace gb::ui {
namespace {

constexpr int narrowestRows = 200;

} // namespace

RowButton::RowButton(const QString& name, QWidget* parent) : QAbstractButton(parent)
{
    setAccessibleName(name);
    setCursor(Qt::PointingHandCursor);
    setFocusPolicy(Qt::StrongFocus);
    setAttribute(Qt::WA_Hover);
    m_line = new QHBoxLayout(this);
    m_line->setContentsMargins(space::s, 0, space::s, 0);
    m_line->setSpacing(space::s);
}

void RowButton::paintEvent(QPaintEvent*)
{
    if (!underMouse() && !hasFocus())
        return;
    QPainter painter(this);
    painter.setRenderHint(QPainter::Antialiasing);
    const auto& t = tokens();
    painter.setBrush(mixed(t.surface, t.text, 0.05));
    painter.setPen(hasFocus() ? QPen(t.accent, 2) : QPen(Qt::NoPen));
    painter.drawRoundedRect(rect().adjusted(1, 1, -1, -1), cornerRadius, cornerRadius);
}

FittingRows::FittingRows(int fewest, QWidget* parent) : QWidget(parent), m_fewest(fewest)
{
    setSizePolicy(QSizePolicy::Preferred, QSizePolicy::Expanding);
}

void FittingRows::setRows(const QList<QWidget*>& rows)
{
    for (auto* row : m_rows) {
        row->hide();
        row->deleteLater();
    }
    m_rows = rows;
    for (auto* row : m_rows)
        row->setParent(this);
    updateGeometry();
    place();
}

int FittingRows::rowHeight() const
{
    int height = Theme::instance().rowHeight();
    for (const auto* row : m_rows)
        height = qMax(height, row->sizeHint().height());
    return height;
}

QSize FittingRows::sizeHint() const
{
    return {narrowestRows, rowHeight() * qMin(m_fewest, static_cast<int>(m_rows.size()))};
}

void FittingRows::resizeEvent(QResizeEvent* event)
{
    QWidget::resizeEvent(event);
    place();
}

void FittingRows::place()
{
    const auto tall = rowHeight();
    const auto room = qMax(m_fewest, height() / tall);
    for (int i = 0; i < m_rows.size(); ++i) {
        m_rows[i]->setGeometry(0, i * tall, width(), tall);
        m_rows[i]->setVisible(i < room);
    }
}

} // namespace gb::ui
