// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

#include <backend/base/files.h>
#include <backend/base/json.h>

#include "proxy.h"

namespace gb::rpc {

Result<HostAccess> HostAccess::read(const std::filesystem::path& file)
{
    const auto text = readFile(file, 1U << 20U);
    if (!text)
        return fail(text.error());
    const auto json = parseJson(*text);
    if (!json)
        return fail(json.error());
    HostAccess access{stringOr(*json, "url"), stringOr(*json, "socket"), stringOr(*json, "token")};
    const bool whole = access.token.find_first_of("\r\n") == std::string::npos && !access.token.empty()
        && (!access.socket.empty() || access.url.starts_with("http"));
    if (!whole)
        return fail(
            "expose.access", file.string() + " names no host and token", Json{{"path", file.string()}});
    return access;
}

} // namespace gb::rpc
