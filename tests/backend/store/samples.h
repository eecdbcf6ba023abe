// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <backend/base/clock.h>
#include <backend/base/ids.h>
#include <backend/store/store.h>

namespace gb::test {

inline Result<SeqRange> append(Store& store, const std::string& stream, std::vector<NewEvent> events)
{
    return waitFor<SeqRange>([&](auto done) { store.appendEvents(stream, std::move(events), done); });
}

inline Result<RunRecord> newRun(Store& store, RunSpec spec = {})
{
    if (spec.kind.empty())
        spec.kind = "hands-on";
    return waitFor<RunRecord>([&](auto done) { store.createRun(spec, done); });
}

inline Status put(Store& store, const CallRecord& record)
{
    return waitFor<void>([&](auto done) { store.putCall(record, done); });
}

inline CallRecord sampleCall(const std::string& run, const std::string& fn = "generate")
{
    CallRecord record;
    record.id = newId();
    record.run = run;
    record.interfaceId = "0190a000-0000-7000-8000-000000000001";
    record.interfaceName = "model_tools";
    record.fn = fn;
    record.callerKind = "person";
    record.callerName = "window";
    record.at = wallMs();
    record.computeNs = 5000000;
    record.args = R"({"args":[],"kwargs":{"prompt":"the capital of France","n":5}})";
    record.output = R"([{"stream":"stdout","text":"loading\nweights"}])";
    record.result = R"({"text":"Paris, naturally"})";
    record.resultBytes = std::int64_t(record.result.size());
    return record;
}

inline std::string codeOf(const Status& status)
{
    return status ? "ok" : status.error().code;
}

template <typename T>
std::string codeOf(const Result<T>& result)
{
    return result ? "ok" : result.error().code;
}

} // namespace gb::test
