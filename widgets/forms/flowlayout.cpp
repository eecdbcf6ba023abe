// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

#include "flowlayout.h"

#include <QWidget>

#include <widgets/controls/tokens.h>

namespace gb::ui {

FlowLayout::FlowLayout(QWidget* parent) : QLayout(parent)
{
    setContentsMargins(0, 0, 0, 0);
    setSpacing(space::xs);
}

FlowLayout::~FlowLayout()
{
    qDeleteAll(m_items);
}

void FlowLayout::insertWidget(int at, QWidget* widget)
{
    addChildWidget(widget);
    m_items.insert(at, new QWidgetItem(widget));
    invalidate();
}

QLayoutItem* FlowLayout::takeAt(int index)
{
    return index >= 0 && index < m_items.size() ? m_items.takeAt(index) : nullptr;
}

void FlowLayout::setGeometry(const QRect& rect)
{
    QLayout::setGeometry(rect);
    arrange(rect, true);
}

QSize FlowLayout::minimumSize() const
{
    // A long one is cut off before it makes everything around it wider than there is room.
    constexpr int narrowest = 160;
    QSize size;
    for (const auto* item : m_items)
        size = size.expandedTo(item->minimumSize().boundedTo({narrowest, QWIDGETSIZE_MAX}));
    return size;
}

int FlowLayout::arrange(const QRect& rect, bool place) const
{
    int x = rect.x();
    int y = rect.y();
    int line = 0;
    for (auto* item : m_items) {
        if (item->isEmpty())
            continue;
        auto size = item->sizeHint();
        const bool grows = item->widget()->sizePolicy().horizontalPolicy() == QSizePolicy::Expanding;
        if (x > rect.x() && x + size.width() > rect.right() + 1) {
            x = rect.x();
            y += line + spacing();
            line = 0;
        }
        if (grows || size.width() > rect.width())
            size.setWidth(qMax(0, rect.right() + 1 - x));
        if (place)
            item->setGeometry({{x, y}, size});
        x += size.width() + spacing();
        line = qMax(line, size.height());
    }
    return y + line - rect.y();
}

} // namespace gb::ui
