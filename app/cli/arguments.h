// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <map>
#include <string>
#include <vector>

#include <backend/base/result.h>

namespace gb::cli {

// One option of a command. `value` is the name of what follows it ("N", "DIR"), empty for a switch; `many`
// lets it occur more than once.
struct Option
{
    std::string name; // "--follow"
    std::string value;
    std::string summary;
    bool many = false;
    char letter = 0; // 't': also as "-t"
};

class Arguments
{
public:
    // `--` ends options, and so does the positional word number `plainFrom`, for commands that end in another
    // command. `--name=value` and `--name value` are the same. Unknown options are "usage" errors.
    static Result<Arguments> parse(const std::vector<Option>& options, const std::vector<std::string>& words,
        std::size_t plainFrom = std::string::npos);

    bool has(const std::string& option) const { return m_options.count(option) != 0; }
    std::string value(const std::string& option, const std::string& fallback = {}) const;
    std::vector<std::string> values(const std::string& option) const;
    Result<std::int64_t> integer(const std::string& option, std::int64_t fallback) const;
    const std::vector<std::string>& positional() const { return m_positional; }

private:
    std::map<std::string, std::vector<std::string>> m_options;
    std::vector<std::string> m_positional;
};

} // namespace gb::cli
