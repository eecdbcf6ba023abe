// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <widgets/controls/page.h>

namespace gb::ui {

// Stands in the rail for a page that this version does not have, and says what can be done instead.
class ComingPage final : public Page
{
    Q_OBJECT

public:
    ComingPage(const QString& id, const QString& title, const QString& iconName, const QString& sentence,
        const QString& command);
};

} // namespace gb::ui
