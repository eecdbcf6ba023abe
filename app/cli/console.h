// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <string>
#include <string_view>
#include <vector>

#include <backend/base/json.h>

namespace gb::cli {

// What a command says to a person or, with --json, to a program. Results go to standard output, everything
// else to standard error. Control characters in data are shown, not sent to the terminal.
class Console
{
public:
    explicit Console(bool json);

    bool json() const { return m_json; }
    bool colours() const { return m_colours; }

    void out(std::string_view text) const;
    void note(std::string_view text) const; // standard error, not with --json
    void print(const Json& value) const; // one object, pretty on a terminal
    void printLine(const Json& value) const; // one line, for streams
    void table(const std::vector<std::string>& head, const std::vector<std::vector<std::string>>& rows) const;
    void error(std::string_view text) const;
    int fail(const Error& error) const; // prints it, returns the exit code

    std::string painted(std::string_view colour, std::string_view text) const;

private:
    bool m_json;
    bool m_colours;
};

// Text from elsewhere, safe for a terminal.
std::string printable(std::string_view text);
std::string duration(std::int64_t nanoseconds);
std::string ago(std::int64_t wallMilliseconds);
std::string bytes(std::int64_t count);
// Of something that comes: "  41 %  1.2 GB of 2.9 GB  98 MB/s  17 s left", as far as it is known.
std::string figures(const Json& progress);

} // namespace gb::cli
