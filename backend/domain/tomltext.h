// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <string>
#include <vector>

#include <backend/base/json.h>

namespace gb {

// A TOML file that is edited without being rewritten: only the text of a changed value is replaced, so that
// comments, order, spelling and keys we do not know survive. Every edit is proven by parsing the new text and
// comparing it with what was meant; an edit that would change anything else is refused and changes nothing.
class TomlText
{
public:
    using Path = std::vector<std::string>;

    static Result<TomlText> parse(std::string text);

    const std::string& text() const { return m_text; }
    const Json& json() const { return m_json; }

    // Null removes the key. Tables are changed key by key, lists of tables element by element.
    Status set(const Path& path, const Json& value);

private:
    Status apply(const Path& path, const Json& value);
    Status applyObject(const Path& path, const Json& old, const Json& value);
    Status applyTables(const Path& path, const Json& old, const Json& value);
    Status replaceText(std::size_t from, std::size_t to, const std::string& with);

    std::string m_text;
    Json m_json;
};

std::string tomlValue(const Json& value); // inline form

} // namespace gb
