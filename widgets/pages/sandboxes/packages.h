// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <QStringList>

namespace gb::ui {

// What a person has at hand when asked for packages: a requirements.txt, a "pip install" line, names.
// Comments are dropped, options of the installer are left out and named.
struct PastedPackages
{
    QStringList packages;
    QStringList leftOut;
};
PastedPackages readPackages(const QString& text);

} // namespace gb::ui
