// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <QString>

#include <backend/base/json.h>

namespace gb::ui {

// A script that makes this sandbox with glovebox.environment, as the documents write it: only what differs
// from the defaults. Paths of an experiment, whose folder is given, are made whole.
QString pythonScript(const Json& values, const Json& defaults, const QString& folder);

} // namespace gb::ui
