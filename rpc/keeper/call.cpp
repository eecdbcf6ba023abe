// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

#include "call.h"

namespace gb::rpc {

const char* nameOf(CallEvent::Kind kind)
{
    switch (kind) {
    case CallEvent::Kind::Queued:
        return "queued";
    case CallEvent::Kind::Started:
        return "started";
    case CallEvent::Kind::Progress:
        return "progress";
    case CallEvent::Kind::Output:
        return "output";
    case CallEvent::Kind::Log:
        return "log";
    case CallEvent::Kind::Item:
        return "item";
    case CallEvent::Kind::Done:
        return "done";
    }
    return "";
}

std::string CallOutcome::errorKind() const
{
    return stringOr(error, "kind");
}

Json callError(std::string_view kind, std::string_view message)
{
    return {{"kind", kind}, {"type", ""}, {"message", message}, {"traceback", ""}, {"frames", Json::array()}};
}

} // namespace gb::rpc
