// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

#include "error.h"

#include <cerrno>
#include <system_error>

#include "json.h"
#include "result.h"

namespace gb {

Json Error::toJson() const
{
    return Json{{"code", code}, {"message", message}, {"data", data}};
}

Error Error::fromJson(const Json& json)
{
    return Error{stringOr(json, "code", "unknown"), stringOr(json, "message"), objectOr(json, "data")};
}

namespace {
const char* codeForErrno(int number)
{
    switch (number) {
    case ENOENT:
        return "io.not_found";
    case EACCES:
    case EPERM:
        return "io.permission";
    case EROFS:
        return "io.read_only";
    case ENOSPC:
    case EDQUOT:
        return "io.disk_full";
    case EMFILE:
    case ENFILE:
        return "io.too_many_files";
    default:
        return "io.failed";
    }
}
} // namespace

tl::unexpected<Error> failErrno(std::string_view what, std::string_view subject, int errorNumber)
{
    const std::string reason = std::system_category().message(errorNumber);
    return fail(codeForErrno(errorNumber), std::string(what) + " " + std::string(subject) + ": " + reason,
        Json{{"what", what}, {"subject", subject}, {"errno", errorNumber}, {"reason", reason}});
}

} // namespace gb
