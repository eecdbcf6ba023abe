// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include <backend/base/json.h>

#include "hostconfig.h"
#include "json_check.h"
#include "sharedtext.h"

namespace gb::rpc {

class Tensor;

struct CallRequest
{
    std::string id; // a UUID; made when empty
    std::string fn;
    SharedText arguments; // {"args":[…],"kwargs":{…}}, checked
    JsonShape argumentsShape;
    Caller caller;
    bool binary = false;
    bool stream = false;
    std::int64_t timeoutMs = 0; // the caller's patience, not a reason to kill the worker
};

struct CallTimes
{
    std::int64_t queue = 0;
    std::int64_t compute = 0;
    std::int64_t serialise = 0;
    std::int64_t transfer = 0; // everything else between arrival and record
};

// How a call ended. result is record form; error is null when ok.
struct CallOutcome
{
    std::string id;
    std::string fn;
    Caller caller;
    std::string state; // ok, error, cancelled, killed, lost
    int generation = 0;
    SharedText result;
    bool special = false; // result contains record forms
    // Of a generator whose items went to the caller one by one: result is the list of them, this the value
    // that it returned in the end.
    std::optional<SharedText> returned;
    Json error;
    Json warnings = Json::array();
    CallTimes ns;
    std::string record; // as stored; empty when it could not be
    std::uint64_t seq = 0;

    bool ok() const { return error.is_null(); }
    std::string errorKind() const;
};
using CallOutcomePtr = std::shared_ptr<const CallOutcome>;

struct CallEvent
{
    enum class Kind { Queued, Started, Progress, Output, Log, Item, Done };

    Kind kind = Kind::Done;
    Json data = Json::object();
    SharedText item; // record form of one yielded value
    bool special = false;
    CallOutcomePtr outcome; // Done only
    std::vector<std::shared_ptr<const Tensor>> tensors; // of the item, or of the result
};
using CallListener = std::function<void(const CallEvent&)>;
const char* nameOf(CallEvent::Kind kind);

// What a call leaves behind beside its outcome.
struct CallOutput
{
    const char* stream = "";
    std::string text;
};

// What a generator has yielded so far, as far as its record will hold it.
struct CallItems
{
    std::string text; // joined by commas
    std::int64_t count = 0;
    std::int64_t kept = 0;
    bool special = false;
};

// A call between arrival and end.
struct Call
{
    CallRequest request;
    CallListener listener;
    std::int64_t atMs = 0;
    std::int64_t arrivedNs = 0;
    std::int64_t startedNs = 0;
    std::int64_t workerId = 0; // 0: not handed to a worker yet
    std::vector<CallOutput> output;
    std::size_t outputBytes = 0;
    bool outputCut = false;
    CallItems items;
    bool finishing = false;
    bool announced = false; // observers know of it; the quickest calls are over before they need to
    std::string stopReason; // why we asked it to stop: cancelled, timeout
    bool killing = false;
    std::vector<std::uint64_t> timers;
};

Json callError(std::string_view kind, std::string_view message);

} // namespace gb::rpc
