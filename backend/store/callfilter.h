// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <string>
#include <vector>

#include <backend/base/result.h>

namespace gb {

// The filter language of calls.list: free words and `fn: status: by: interface: run: dur:>500ms
// at:>2026-01-31 pinned:yes arg.NAME:VALUE`, quotes around what holds spaces, a leading `-` for "not". `*` at
// the end of a word or anywhere in an argument's value stands for anything. Times are UTC.
struct CallFilter
{
    enum class Field { Word, Function, State, Caller, Interface, Run, Duration, Time, Pinned, Argument };
    enum class Compare { Equal, Less, LessOrEqual, Greater, GreaterOrEqual };

    struct Term
    {
        Field field = Field::Word;
        Compare compare = Compare::Equal;
        bool negated = false;
        bool prefix = false; // Word: anything may follow
        std::string name; // Argument
        std::string text;
        std::int64_t number = 0; // Duration: ns. Time: first ms. Pinned: 0 or 1
        std::int64_t end = 0; // Time: first ms after the day, minute or second named
    };
    std::vector<Term> terms;

    static Result<CallFilter> parse(std::string_view text);
    void add(Field field, std::string text); // exact match, for the API's own parameters
};

} // namespace gb
