// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <QString>

namespace gb::ui {

// Installs the translations for a language ("de", "zh_CN"; empty: what LANG says) and makes numbers and dates
// follow it. To be called before the first widget is made. False when there are none for this language: the
// window then speaks English.
bool installLanguage(const QString& name);

} // namespace gb::ui
