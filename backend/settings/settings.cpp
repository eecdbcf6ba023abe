// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

#include "settings.h"

#include <algorithm>
#include <array>

namespace gb {
namespace {

using Type = SettingItem::Type;

constexpr std::array items = {
    SettingItem{"daemon.idle_exit_s", Type::Integer, "30",
        "Seconds after which the daemon leaves when nobody is connected and nothing is alive."},
    SettingItem{"models.at_once", Type::Integer, "2", "How many models are downloaded at the same time.", 1},
    SettingItem{"models.bytes_per_second", Type::Integer, "0",
        "Downloads of models together stay below this rate. 0: no limit. Holds at once."},
    SettingItem{"models.keep_free_bytes", Type::Integer, "2147483648",
        "Downloads of models leave at least this much of the disk free."},
    SettingItem{"retention.max_age_days", Type::Integer, "0",
        "Runs that ended longer ago are removed, unless pinned. 0 keeps them."},
    SettingItem{"retention.max_bytes", Type::Integer, "0",
        "When runs and blobs take more bytes, the oldest runs are removed, unless pinned. 0 keeps them."},
    SettingItem{"secrets.key_store", Type::Boolean, "true",
        "Tokens and keys are kept in the desktop's key store where one works, else in a file of yours. Holds "
        "for what is set from now on."},
    SettingItem{"window.theme", Type::Choice, "\"system\"", "Colours of the window.", 0, "system|light|dark"},
};

const SettingItem* find(std::string_view key)
{
    const auto it = std::ranges::find(items, key, &SettingItem::key);
    return it == items.end() ? nullptr : &*it;
}

std::string_view typeName(Type type)
{
    switch (type) {
    case Type::Boolean:
        return "boolean";
    case Type::Integer:
        return "integer";
    case Type::Text:
        return "string";
    case Type::Choice:
        return "choice";
    }
    return "string";
}

bool isChoice(std::string_view choices, std::string_view value)
{
    const std::string framed = "|" + std::string(choices) + "|";
    return !value.empty() && value.find('|') == std::string_view::npos
        && framed.find("|" + std::string(value) + "|") != std::string::npos;
}

Status check(const SettingItem& item, const Json& value)
{
    const auto refuse = [&](std::string_view expected) {
        return fail("settings.value", std::string(item.key) + " must be " + std::string(expected),
            Json{{"key", item.key}, {"expected", expected}});
    };
    switch (item.type) {
    case Type::Boolean:
        return value.is_boolean() ? Status() : refuse("true or false");
    case Type::Integer:
        return value.is_number_integer() && value.get<std::int64_t>() >= item.minimum
            ? Status()
            : refuse("an integer of at least " + std::to_string(item.minimum));
    case Type::Text:
        return value.is_string() ? Status() : refuse("a text");
    case Type::Choice:
        return value.is_string() && isChoice(item.choices, value.get<std::string>())
            ? Status()
            : refuse("one of " + std::string(item.choices));
    }
    return {};
}

Json fallbackOf(const SettingItem& item)
{
    return Json::parse(item.fallback);
}

tl::unexpected<Error> unknown(std::string_view key)
{
    return fail("settings.unknown", "there is no setting " + std::string(key), Json{{"key", key}});
}

} // namespace

std::span<const SettingItem> settingItems()
{
    return items;
}

Result<Settings> Settings::open(fs::path file)
{
    Settings settings(std::move(file));
    const auto text = readFile(settings.m_file);
    if (!text && text.error().code == "io.not_found")
        return settings;
    if (!text)
        return fail(text.error());
    auto values = parseJson(*text);
    if (!values || !values->is_object())
        return fail("settings.broken", settings.m_file.string() + " is not a JSON object",
            Json{{"file", settings.m_file.string()}});
    settings.m_values = std::move(*values);
    return settings;
}

Result<Json> Settings::value(std::string_view key) const
{
    const SettingItem* item = find(key);
    if (!item)
        return unknown(key);
    // A value of a wrong kind (edited by hand, or from another version) counts as not set.
    const auto stored = m_values.find(key);
    return stored != m_values.end() && check(*item, *stored) ? *stored : fallbackOf(*item);
}

bool Settings::boolean(std::string_view key) const
{
    const auto found = value(key);
    return found && found->is_boolean() && found->get<bool>();
}

std::int64_t Settings::integer(std::string_view key) const
{
    const auto found = value(key);
    return found && found->is_number_integer() ? found->get<std::int64_t>() : 0;
}

std::string Settings::text(std::string_view key) const
{
    const auto found = value(key);
    return found && found->is_string() ? found->get<std::string>() : std::string();
}

Status Settings::set(std::string_view key, const Json& newValue)
{
    const SettingItem* item = find(key);
    if (!item)
        return unknown(key);
    Json values = m_values;
    if (newValue.is_null()) {
        values.erase(std::string(key));
    } else {
        GB_TRY(check(*item, newValue));
        values[std::string(key)] = newValue;
    }
    GB_TRY(writeFileAtomic(m_file, values.dump(2) + "\n", 0600));
    m_values = std::move(values);
    return {};
}

Result<Json> Settings::describe(std::string_view key) const
{
    const SettingItem* item = find(key);
    if (!item)
        return unknown(key);
    Json described{{"key", item->key}, {"type", typeName(item->type)}, {"value", *value(key)},
        {"default", fallbackOf(*item)}, {"description", item->description}};
    if (item->type == Type::Choice) {
        Json& choices = described["choices"] = Json::array();
        for (std::string_view rest = item->choices; !rest.empty();) {
            const auto bar = rest.find('|');
            choices.push_back(rest.substr(0, bar));
            rest = bar == std::string_view::npos ? std::string_view{} : rest.substr(bar + 1);
        }
    }
    return described;
}

Json Settings::list() const
{
    Json all = Json::array();
    for (const SettingItem& item : items)
        all.push_back(*describe(item.key));
    return all;
}

} // namespace gb
