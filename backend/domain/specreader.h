// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <functional>
#include <set>

#include "sandboxspec.h"
#include "specrules.h"

namespace gb {

using SpecRule = rules::Verdict (*)(std::string_view);

// With what people say beside it, where it is a round time: "1 h (3600 seconds)".
std::string secondsText(std::int64_t seconds);

// Reads the keys of one JSON object into a spec, collecting what is wrong with its path instead of stopping.
class SpecReader
{
public:
    SpecReader(const Json& object, std::string prefix, std::vector<SpecProblem>& problems);

    void text(const char* key, std::string& out, SpecRule rule);
    void flag(const char* key, bool& out);
    void whole(const char* key, std::int64_t& out, std::int64_t from, std::int64_t to, const char* unit);
    void whole(const char* key, std::optional<std::int64_t>& out, std::int64_t from, std::int64_t to,
        const char* unit);
    void seconds(const char* key, std::optional<std::int64_t>& out, std::int64_t longest);
    void seconds(const char* key, std::int64_t& out, std::int64_t longest);
    void port(const char* key, std::optional<int>& out);
    void number(const char* key, double& out, double from, double to, const char* unit);
    void bytes(const char* key, std::int64_t& out, std::int64_t atLeast);
    void texts(const char* key, std::vector<std::string>& out, SpecRule rule);
    void textMap(const char* key, std::map<std::string, std::string>& out, SpecRule keyRule);
    // Each element of a list with its path ("models[2]").
    void each(const char* key, const std::function<void(const Json&, const std::string&)>& read);

    const Json* find(const char* key);
    void complain(const std::string& field, std::string message, std::string fix) const;
    std::string path(const std::string& key) const { return m_prefix.empty() ? key : m_prefix + "." + key; }
    // Keys that nobody asked for; a likely misspelling is said.
    Json leftOver(const std::vector<SpecField>& known);

private:
    void wrongType(const char* key, const Json& came, const char* expected) const;

    const Json& m_object;
    std::string m_prefix;
    std::vector<SpecProblem>& m_problems;
    std::set<std::string, std::less<>> m_seen;
};

} // namespace gb
