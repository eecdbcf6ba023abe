// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <functional>
#include <string>
#include <vector>

#include <backend/api/client.h>

#include "console.h"

namespace gb::cli {

class Session;

// What nearly every "ls" is: ask one method, show one array of its answer as a table.
struct Listing
{
    std::string method;
    std::string member; // the array in the answer
    std::vector<std::string> head;
    std::function<std::vector<std::string>(const Json& item)> row;
    std::string nothing; // said of an empty list: what to do next
};

// With --json the answer as it came.
int printListing(const Listing& listing, Json params, Console& console);

// How a command that changes something ends: its error, the answer with --json, otherwise `text` of it, or
// nothing.
int printOutcome(const Result<api::Client::Answer>& answer, Console& console,
    const std::function<std::string(const Json& body)>& text = {});

// A file that is read by offset ({text, next, size}): its end, or from `offset` in params on; with `follow`
// until Ctrl+C. `begun` gets the connection once it is there.
int printLog(const std::string& method, Json params, bool follow, Console& console,
    const std::function<void(Session&)>& begun = {});

} // namespace gb::cli
