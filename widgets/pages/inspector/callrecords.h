// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <string>

#include <backend/base/json.h>
#include <widgets/controls/keyvaluelist.h>

namespace gb::ui {

// Reading call records (rpc/protocol/README.md) for the page.

// Positional arguments become named ones by the function's parameters.
Json namedArguments(const Json& args, const Json& parameters);
std::string outputText(const Json& record);
QString tracebackText(const Json& error);
QList<KeyValueList::Row> recordRows(const Json& record);

} // namespace gb::ui
