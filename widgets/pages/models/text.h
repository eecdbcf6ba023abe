// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <QCoreApplication>

namespace gb::ui {

// The one translation context of this room; a class's own tr() would make one of each class.
struct ModelsText
{
    Q_DECLARE_TR_FUNCTIONS(models)
};

} // namespace gb::ui
