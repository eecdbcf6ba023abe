// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace gb {

// Puts an alias in place of names that must not be read, in whatever case they are written: "org/name", the
// spellings of it in paths, variables and addresses, and "name" alone where it stands as a word and has at
// least four characters. Works on plain text and on JSON text, which stays valid. A name that is cut in two,
// spelled differently or encoded is not found.
class Concealer
{
public:
    enum class Names { All, Whole }; // Whole: not "name" alone

    void add(const std::string& name, const std::string& alias);
    bool isEmpty() const { return m_patterns.empty(); }
    bool finds(std::string_view text, Names names = Names::All) const;
    std::string conceal(std::string text, Names names = Names::All) const;

private:
    struct Pattern
    {
        std::string text; // in lower case
        std::string alias;
        bool isWord = false;
    };
    static std::size_t find(const Pattern& pattern, std::string_view text, std::size_t from);

    std::vector<Pattern> m_patterns; // longest first
};

} // namespace gb
