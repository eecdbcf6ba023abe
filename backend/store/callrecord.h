// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <string>
#include <utility>
#include <vector>

#include <backend/base/result.h>

namespace gb {

// One call of an exposed function (rpc/protocol/README.md). Arguments, output, result, error and warnings
// stay the JSON text they came as; no DOM of them is ever built here.
struct CallRecord
{
    std::string id;
    std::string run;
    std::string interfaceId;
    std::string interfaceName;
    std::string fn;
    std::string callerKind;
    std::string callerName;
    std::string callerToken;
    std::int64_t at = 0;
    std::int64_t queueNs = 0;
    std::int64_t computeNs = 0;
    std::int64_t serialiseNs = 0;
    std::int64_t transferNs = 0;
    std::int64_t generation = 0;
    std::string state = "ok";
    std::string args = R"({"args":[],"kwargs":{}})";
    std::string output = "[]";
    std::string result = "null";
    std::string error = "null";
    std::string warnings = "[]";
    std::int64_t resultBytes = 0;
    std::string resultDigest;
    std::string preview; // the first 4 KiB of a result that was cut
    bool outputCut = false;
    bool resultCut = false;
    bool pinned = false;
    std::string comment;

    enum class Include {
        Head, // neither arguments, output, result, error nor warnings
        WithoutResult, // the result travels as an attachment
        All,
    };

    static Result<CallRecord> parse(std::string_view json);
    std::string toJson(Include include) const;
    std::int64_t durationNs() const { return queueNs + computeNs + serialiseNs + transferNs; }
};

// A list's row: the record without output and result, long arguments shortened to 300 characters, plus
// `preview` (200 characters of result or error) and `duration_ns`. Without the closing brace, so that what
// may change later (`pinned`, `comment`) is added when it is read.
std::string openSummary(const CallRecord& record);

// A word in the text of every call, for searches that only say what must not occur.
inline constexpr const char* everyCall = "gbeverycall";

// What a full-text search looks at: function, arguments, output, error and the start of the result.
std::string searchText(const CallRecord& record);

// The scalar arguments by name (by index for positional ones), as the text a person would type.
std::vector<std::pair<std::string, std::string>> scalarArguments(std::string_view args);

} // namespace gb
