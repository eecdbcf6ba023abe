// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <QString>

namespace gb::ui {

class Theme;

// The one style sheet, written from the tokens. Widgets say what they are by the dynamic properties "gbText"
// (labels.h), "gbKind" (buttons.h) and "gbFrame" (card.h), never by colours of their own.
QString makeStyleSheet(const Theme& theme);

} // namespace gb::ui
