// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

#include "sandboxrequest.h"

#include <sstream>

#include <backend/experiments/experimentfolder.h>
#include <backend/secrets/secretstore.h>

namespace gb::service {
namespace {

constexpr std::size_t dotEnvLimit = 1U << 20U;

std::string strippedText(const std::string& text)
{
    const auto first = text.find_first_not_of(" \t\r");
    return first == std::string::npos ? "" : text.substr(first, text.find_last_not_of(" \t\r") - first + 1);
}

std::string unquoted(std::string value)
{
    const bool isQuoted =
        value.size() >= 2 && (value.front() == '"' || value.front() == '\'') && value.back() == value.front();
    return isQuoted ? value.substr(1, value.size() - 2) : value;
}

void fillSecrets(SandboxRequest& request, const Json& given, const SecretStore* store)
{
    const auto file = parseDotEnv(request.experimentFolder.empty()
            ? std::string()
            : readFile(request.experimentFolder / ".env", dotEnvLimit).value_or(""));
    const auto stored = store ? store->values() : std::map<std::string, std::string>();
    for (const std::string& name : request.spec.secrets) {
        if (const std::string sent = stringOr(given, name); !sent.empty()) {
            request.secrets[name] = sent;
            continue;
        }
        for (const auto* from : {&std::as_const(request.environment), &file, &stored}) {
            if (const auto found = from->find(name); found != from->end()) {
                request.secrets[name] = found->second;
                break;
            }
        }
    }
}

} // namespace

std::map<std::string, std::string> parseDotEnv(const std::string& text)
{
    std::map<std::string, std::string> values;
    std::istringstream lines(text);
    for (std::string line; std::getline(lines, line);) {
        std::string content = strippedText(line);
        if (content.starts_with("export "))
            content = strippedText(content.substr(7));
        const auto equals = content.find('=');
        if (content.empty() || content.front() == '#' || equals == std::string::npos || equals == 0)
            continue;
        values[strippedText(content.substr(0, equals))] = unquoted(strippedText(content.substr(equals + 1)));
    }
    return values;
}

Result<SandboxOrder> makeSandboxOrder(const Json& spec, const std::string& experimentFolder,
    const Json& secrets, const Caller& caller, const SecretStore* store, const TrustList& trust)
{
    auto parsed = SandboxSpec::fromJson(spec);
    if (!parsed)
        return fail(parsed.error());
    SandboxOrder order;
    order.request.spec = std::move(*parsed);
    order.request.experimentFolder = experimentFolder;
    if (caller.environment)
        order.request.environment = *caller.environment;
    if (!experimentFolder.empty()) {
        if (!fs::path(experimentFolder).is_absolute())
            return fail("params.path", "experiment must be an absolute path");
        const auto experiment = openExperiment(experimentFolder);
        if (!experiment)
            return fail(experiment.error());
        order.experiment = experiment->id;
    }
    order.reaches = reachesOf(order.request.spec, order.request.experimentFolder);
    // A spec without an experiment is the caller's own.
    order.needsTrust = !order.experiment.empty() && !trust.isAllowed(order.experiment, order.reaches);
    fillSecrets(order.request, secrets, store);
    return order;
}

} // namespace gb::service
