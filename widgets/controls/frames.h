// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <QFrame>

class QBoxLayout;
class QScrollArea;

namespace gb::ui {

enum class FrameKind { Card, Well, Plain, Bar, Tray, Rail, Side, Popup };

QFrame* makeFrame(FrameKind kind, QWidget* parent = nullptr);
QFrame* makeLine(QWidget* parent = nullptr);
// Vertical scrolling for a page's content, without a frame.
QScrollArea* makeScroll(QWidget* content);
// Takes everything out of the layout; the widgets die at the next turn of the event loop.
void clearLayout(QLayout* layout);

} // namespace gb::ui
