// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <string>

#include "call.h"
#include "json_check.h"

namespace gb::rpc {

// A record as it goes to the spool, the daemon and the caller.
struct RecordText
{
    std::string record; // the object
    std::string attached; // which of its texts stand in the attachment: {"args": bytes, "result": bytes}
    SharedText attachment;
};

struct RecordParts
{
    const HostConfig& host;
    const Call& call;
    const CallOutcome& outcome;
    JsonShape resultShape;
    std::string digest; // of the result text
};

RecordText makeRecord(const RecordParts& parts);

} // namespace gb::rpc
