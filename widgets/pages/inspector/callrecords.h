// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <string>

#include <backend/api/answer.h>
#include <widgets/controls/keyvaluelist.h>

namespace gb::ui {

// Reading call records (rpc/protocol/README.md) for the page.

// Positional arguments become named ones by the function's parameters.
Json namedArguments(const Json& args, const Json& parameters);
std::string outputText(const Json& record);
QString tracebackText(const Json& error);
// The innermost line of the interface's own file, 0 when the error came from elsewhere.
int lineInSource(const Json& error, const Json& interfaces, const std::string& interface);
QList<KeyValueList::Row> recordRows(const Json& record);

// The text of a call's result, or of the error it ended with.
Result<std::string> outcomeText(const Result<api::Answer>& answer);

// The same call from elsewhere. The token stays in its file: curl reads it from there.
QString curlCommand(const Json& interface, const std::string& function, const Json& kwargs);
QString pythonCall(const std::string& interface, const std::string& function, const Json& kwargs);
QString mcpCall(const std::string& function, const Json& kwargs);
QString shellQuoted(const QString& text);

inline constexpr int statisticsOver = 1000; // the newest calls

// "240 calls · 3 failed · median 12 ms · p95 40 ms" of one function; empty without any.
QString callStatistics(const Json& calls, const std::string& function);

} // namespace gb::ui
