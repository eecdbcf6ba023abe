// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <QString>

namespace gb::ui {

// A program's words as they are shown: marks that turn the direction of what follows around, and so make it
// read as something else, become visible.
inline QString harmless(QString text)
{
    for (auto& c : text)
        if ((c.unicode() >= 0x202A && c.unicode() <= 0x202E)
            || (c.unicode() >= 0x2066 && c.unicode() <= 0x2069) || c.unicode() == 0x200E
            || c.unicode() == 0x200F || c.unicode() == 0x061C)
            c = QChar::ReplacementCharacter;
    return text;
}

} // namespace gb::ui
