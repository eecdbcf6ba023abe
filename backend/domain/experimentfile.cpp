// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

#include "experimentfile.h"

#include "tomltext.h"

namespace gb {
namespace {

constexpr const char* table = "sandbox";

Json defaultsOf(const std::string& field)
{
    static const Json defaults = SandboxSpec().toJson();
    return defaults.contains(field) ? defaults[field] : Json();
}

} // namespace

Result<SandboxSpec> sandboxSpecFromToml(const std::string& text)
{
    auto document = TomlText::parse(text);
    if (!document)
        return fail(document.error());
    return SandboxSpec::fromJson(document->json().contains(table) ? document->json()[table] : Json::object());
}

Result<std::string> withSandboxSpec(const std::string& text, const SandboxSpec& spec)
{
    auto document = TomlText::parse(text);
    if (!document)
        return fail(document.error());
    // A file that is wrong as it stands is still edited: the form may be repairing it.
    const auto before = sandboxSpecFromToml(text);
    const Json written = objectOr(document->json(), table);
    const Json now = spec.toJson();
    for (const auto& [field, value] : now.items()) {
        const bool stands = written.contains(field);
        if (before && before->toJson().contains(field) && before->toJson()[field] == value)
            continue;
        if (!stands && value == defaultsOf(field))
            continue;
        // A default is spelled by leaving the key out only where it has no value to write.
        GB_TRY(document->set({table, field}, value));
    }
    for (const auto& [field, value] : written.items()) {
        if (!now.contains(field))
            GB_TRY(document->set({table, field}, nullptr));
    }
    return document->text();
}

} // namespace gb
