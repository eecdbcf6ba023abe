// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

#include <sys/utsname.h>

#include <QSysInfo>

#include "daemon.h"
#include "redact.h"
#include "services.h"

namespace gb::service {
namespace {

constexpr std::size_t logTail = 16U << 10U;

std::string machine()
{
    utsname name{};
    ::uname(&name);
    std::string text = std::string(name.sysname) + " " + name.release + " " + name.machine;
    return text + ", " + QSysInfo::prettyProductName().toStdString();
}

std::string tailOf(const fs::path& file)
{
    const auto text = readFile(file);
    if (!text)
        return {};
    const std::size_t start = text->size() > logTail ? text->find('\n', text->size() - logTail) + 1 : 0;
    return text->substr(start);
}

Json diagnostics(const Services& services)
{
    std::string text = "Glovebox diagnostics\nmachine: " + machine() + "\n\ndaemon\n"
        + services.daemon->status().dump(2) + "\n\nsettings\n";
    for (const Json& setting : services.settings->list())
        text += stringOr(setting, "key") + " = " + setting["value"].dump() + "\n";
    text += "\nend of the daemon's log\n" + tailOf(services.dataFolder / "daemon.log");
    return Json{{"text", redacted(text, services.dataFolder)}};
}

} // namespace

void bindDiagnosticsMethods(Dispatcher* dispatcher, const Services& services)
{
    dispatcher->binder().bind<NoParams>(
        "diagnostics.get", [services](NoParams) -> Result<Json> { return diagnostics(services); });
}

} // namespace gb::service
