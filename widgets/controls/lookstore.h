// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "theme.h"

namespace gb::ui {

// The look as the window remembers it (splitter.h): needed before the daemon can be asked.
Look rememberedLook();
void rememberLook(const Look& look);

// A language of translatedLanguages(); empty: what the system says. Holds when the window is opened next.
QString rememberedLanguage();
void rememberLanguage(const QString& name);
QStringList translatedLanguages();

} // namespace gb::ui
