// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <QLineEdit>

namespace gb::ui {

// A value that comes back from the draft must not move the cursor of who is typing it; what nobody types into
// shows its beginning, and all of it to who points at it.
inline void showIn(QLineEdit* line, const QString& text)
{
    constexpr int surelyFits = 20;
    if (line->text() != text) {
        line->setText(text);
        if (!line->hasFocus())
            line->setCursorPosition(0);
    }
    line->setToolTip(text.size() > surelyFits ? text.toHtmlEscaped() : QString());
}

} // namespace gb::ui
