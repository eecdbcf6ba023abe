// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <backend/store/callrecord.h>
#include <rpc/protocol/frame.h>

namespace gb::service {

struct SpooledRecord
{
    std::int64_t seq = 0;
    CallRecord record;
};

bool isRecordFrame(const rpc::Frame& frame);

// A `keeper.record` notification, from a control link or from a spool file. Arguments and result stay the
// text they are; large ones stand in the frame's attachment.
Result<SpooledRecord> readRecordFrame(const rpc::Frame& frame);

// The record as JSON for an answer, without its result (that is the answer's attachment). What no JSON parser
// with limits would take (an interface may say anything) is given as a string instead.
Json recordJson(const CallRecord& record);

} // namespace gb::service
