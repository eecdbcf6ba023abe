// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <widgets/itemmodels/livestate.h>

class QWidget;

namespace gb::ui {

enum class CloseAnswer { KeepRunning, Stop, Cancel };

// Asked once when the window closes while something is alive; keeping it is the default.
CloseAnswer askAboutAlive(QWidget* parent, const QList<AliveItem>& alive);

} // namespace gb::ui
