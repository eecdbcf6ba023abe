// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <QIcon>
#include <QPixmap>

#include "tokens.h"

namespace gb::ui {

// The icons of resources/icons, drawn in a colour of the theme. Lines are 1.5 px at every size.
QPixmap iconPixmap(const QString& name, int size, const QColor& color, qreal ratio);
// Follows the theme: secondary, text under the mouse, accent when checked, disabled.
QIcon icon(const QString& name);
QIcon icon(const QString& name, const QColor& color);
// One recoloured picture as a file for the style sheet, which cannot take pixmaps.
QString iconFile(const QString& name, const QColor& color);
QStringList iconNames();

} // namespace gb::ui
