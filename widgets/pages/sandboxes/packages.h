// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <QStringList>

#include <backend/base/json.h>

namespace gb::ui {

// What a person has at hand when asked for packages: a requirements.txt, a "pip install" line, names.
// Comments are dropped, options of the installer are left out and named.
struct PastedPackages
{
    QStringList packages;
    QStringList leftOut;
};
PastedPackages readPackages(const QString& text);

// A script that starts this sandbox, as the documents write it: only what differs from the defaults.
QString pythonScript(const Json& values, const Json& defaults);

} // namespace gb::ui
