// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

#include "listing.h"

#include "command.h"
#include "session.h"

namespace gb::cli {

int printListing(const Listing& listing, Json params, Console& console)
{
    Session session;
    const auto answer = session.call(listing.method, std::move(params));
    if (!answer)
        return console.fail(answer.error());
    if (console.json()) {
        console.print(answer->body);
        return Done;
    }
    std::vector<std::vector<std::string>> rows;
    for (const Json& item : answer->body.value(listing.member, Json::array()))
        rows.push_back(listing.row(item));
    if (rows.empty() && !listing.nothing.empty())
        console.note(listing.nothing);
    else
        console.table(listing.head, rows);
    return Done;
}

int printOutcome(const Result<api::Client::Answer>& answer, Console& console,
    const std::function<std::string(const Json& body)>& text)
{
    if (!answer)
        return console.fail(answer.error());
    if (console.json())
        console.print(answer->body);
    else if (text)
        console.out(text(answer->body) + "\n");
    return Done;
}

int printLog(const std::string& method, Json params, bool follow, Console& console,
    const std::function<void(Session&)>& begun)
{
    constexpr int pollMs = 300;
    params["limit"] = 256 * 1024;
    Session session;
    if (const Status connected = session.connect(); begun && connected)
        begun(session);
    for (bool hasMore = true; hasMore || follow;) {
        const auto answer = session.call(method, params);
        if (!answer)
            return console.fail(answer.error());
        console.json() ? console.printLine(answer->body)
                       : console.out(printable(stringOr(answer->body, "text")));
        const std::int64_t next = integerOr(answer->body, "next");
        hasMore = params.contains("offset") && next < integerOr(answer->body, "size");
        params["offset"] = next;
        if (follow && !hasMore && !session.pause(pollMs))
            return Interrupted;
    }
    return Done;
}

} // namespace gb::cli
