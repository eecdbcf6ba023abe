// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <span>
#include <string>

#include <backend/base/files.h>
#include <backend/base/json.h>

namespace gb {

// What can be set: the one list of all settings is in settings.cpp.
struct SettingItem
{
    enum class Type { Boolean, Integer, Text, Choice };

    std::string_view key;
    Type type;
    std::string_view fallback; // JSON text
    std::string_view description;
    std::int64_t minimum = 0; // of an Integer
    std::string_view choices = {}; // of a Choice, separated by '|'
};

std::span<const SettingItem> settingItems();

// The values in a settings.json. What this program does not know in that file stays as it is.
class Settings
{
public:
    // A file that is missing means defaults; one that cannot be read or is no JSON object is an error, so
    // that it is never overwritten.
    static Result<Settings> open(fs::path file);

    Result<Json> value(std::string_view key) const;
    bool boolean(std::string_view key) const;
    std::int64_t integer(std::string_view key) const;
    std::string text(std::string_view key) const;
    // null restores the default. Stored before it returns.
    Status set(std::string_view key, const Json& value);

    Result<Json> describe(std::string_view key) const; // {key, type, value, default, description, choices?}
    Json list() const;

private:
    explicit Settings(fs::path file) : m_file(std::move(file)) { }

    fs::path m_file;
    Json m_values = Json::object();
};

} // namespace gb
