// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <backend/base/result.h>

namespace gb {

// The stream of the daemon itself; every other stream is named after its run.
inline constexpr std::string_view daemonStream = "daemon";

struct NewEvent
{
    std::string type; // a-z 0-9 . _ - up to 64 characters
    std::string data; // JSON text, stored as it came
};

struct SeqRange
{
    std::int64_t first = 0;
    std::int64_t last = 0;
};

// Events as the text of one JSON array: [{"seq":1,"at":…,"type":"…","data":…},…].
struct EventBatch
{
    std::string stream;
    std::int64_t first = 0;
    std::int64_t last = 0;
    std::shared_ptr<const std::string> events;
};

struct EventPage
{
    std::string events = "[]"; // as in EventBatch
    int count = 0;
    std::int64_t next = 1; // what to pass as `since` for the page after this one
    bool more = false; // the stream holds events beyond this page
};

struct Intent
{
    std::string id; // usually the op that wants it
    std::string kind;
    std::string data; // JSON text
    std::int64_t at = 0;
};

// What a write outlives once it is acknowledged: waiting for the disk takes milliseconds.
enum class Durability { PowerCut, KilledProcess };

struct OpStart
{
    std::string op;
    std::string method;
    std::string paramsDigest;
    std::optional<Intent> intent = {}; // recorded in the same transaction
    Durability durability = Durability::PowerCut;
};

struct OpBegun
{
    enum class State {
        New, // go ahead, then finishOp()
        Repeat, // already done: answer `outcome`
        Pending, // this daemon is still at it
        Interrupted, // an earlier daemon began it and died before the outcome was known
        Mismatch, // the same op came with another method or other params
    };
    State state = State::New;
    std::string outcome;
};

struct RunSpec
{
    std::string id; // made when empty
    std::string kind; // hands-on, agent
    std::string title;
    std::string experiment; // UUID or empty
    std::string config; // experiment.toml as it was
    std::string interface; // the interface file as it was
};

struct RunRecord
{
    std::string id;
    std::string kind;
    std::string title;
    std::string experiment;
    std::int64_t startedAt = 0;
    std::int64_t endedAt = 0; // 0 while live
    std::int64_t calls = 0;
    std::int64_t errors = 0;
    bool pinned = false;
};

struct JobOutcome
{
    std::string id;
    std::string item; // JSON text of the job's last state
    std::string outcome; // JSON text: {"result":…} or {"error":…}
    std::int64_t endedAt = 0;
};

struct KeeperRecord
{
    std::string id;
    std::string control; // path of its control socket
    std::int64_t pid = 0;
    std::int64_t startedAt = 0;
    std::string data = "{}"; // JSON text, whatever else its owner needs
};

struct CallAnnotation
{
    std::optional<bool> pinned = {};
    std::optional<std::string> comment = {};
};

struct CallPage
{
    std::vector<std::string> calls; // JSON text of one summary each, newest first
    std::string next; // pass as `before`; empty on the last page
};

struct Retention
{
    std::int64_t maxAgeMs = 0; // 0: no limit
    std::int64_t maxBytes = 0; // of all run files and blobs; 0: no limit
};

struct RetentionReport
{
    int runs = 0;
    int blobs = 0;
    std::int64_t bytes = 0;
};

struct SecretValue
{
    std::string name;
    std::string value;
};

} // namespace gb
