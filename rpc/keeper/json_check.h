// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <string>
#include <string_view>

#include <backend/base/json.h>

namespace gb::rpc {

// Proves that untrusted text is one JSON value in strict UTF-8 within the limits, without building anything:
// afterwards it may be carried, embedded and shown as it is. Duplicate keys are refused at every level,
// because two readers that pick different ones are a way past a check.
struct JsonShape
{
    int depth = 0;
    int mostKeys = 0; // of one object
};
Result<JsonShape> checkJson(std::string_view text, JsonLimits limits = {});

// The body of a call: {"fn", "args"?, "kwargs"?, "timeout_ms"?, "id"?}. args and kwargs stay text.
struct CallBody
{
    std::string fn;
    std::string arguments; // {"args":[…],"kwargs":{…}}
    JsonShape shape; // of the whole body, so at least that of the arguments
    std::int64_t timeoutMs = 0;
    std::string id;
};
Result<CallBody> readCallBody(std::string_view text);
// {"args":[…],"kwargs":{…}} as daemon and keeper exchange it; both members may be missing.
Result<CallBody> readArguments(std::string_view text);

// Appends the text as a JSON string; bytes that are not UTF-8 become the replacement character.
void appendJsonString(std::string& out, std::string_view text);
std::string jsonString(std::string_view text);

} // namespace gb::rpc
