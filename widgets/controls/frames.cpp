// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

#include "frames.h"

#include <QLayout>
#include <QScrollArea>

namespace gb::ui {

QFrame* makeFrame(FrameKind kind, QWidget* parent)
{
    static constexpr const char* names[] = {"card", "well", "plain", "bar", "tray", "rail", "side", "popup"};
    auto* frame = new QFrame(parent);
    frame->setProperty("gbFrame", QLatin1String(names[static_cast<int>(kind)]));
    return frame;
}

QFrame* makeLine(QWidget* parent)
{
    auto* line = new QFrame(parent);
    line->setProperty("gbFrame", QStringLiteral("line"));
    return line;
}

QScrollArea* makeScroll(QWidget* content)
{
    auto* area = new QScrollArea;
    area->setWidgetResizable(true);
    area->setFrameShape(QFrame::NoFrame);
    area->setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
    area->setFocusPolicy(Qt::NoFocus);
    content->setProperty("gbScrolled", true);
    area->setWidget(content);
    area->viewport()->setAutoFillBackground(false);
    content->setAutoFillBackground(false);
    return area;
}

void clearLayout(QLayout* layout)
{
    while (auto* item = layout->takeAt(0)) {
        if (auto* widget = item->widget()) {
            widget->hide();
            widget->deleteLater();
        } else if (auto* inner = item->layout()) {
            clearLayout(inner);
        }
        delete item;
    }
}

} // namespace gb::ui
