// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <backend/base/json.h>

namespace gb {

// How two results differ: by structure, by their numbers, and two texts by their words.
struct ResultDiff
{
    enum class Kind { Added, Removed, Changed };
    struct Line
    {
        Kind kind = Kind::Changed;
        std::string path; // $.layers[2].norm
        std::string left, right; // compact JSON, cut; empty when it is not there
    };
    struct Numbers // over those that stand at the same place on both sides
    {
        std::size_t count = 0;
        double greatest = 0; // difference, absolute
        double mean = 0;
        double cosine = 1;
    };
    struct Words
    {
        std::optional<Kind> kind; // none: on both sides
        std::string text;
    };

    std::vector<Line> lines; // at most `linesMost`
    std::size_t total = 0; // differences, also those without a line
    std::optional<Numbers> numbers;
    std::vector<Words> words;

    bool same() const { return total == 0; }
};

struct DiffTolerance
{
    double absolute = 0;
    double relative = 1e-6;
};

constexpr std::size_t linesMost = 1000;

// What a handle stands for is not looked into: two tensors differ when their handles do.
ResultDiff diffResults(const Json& left, const Json& right, const DiffTolerance& tolerance = {});
// The same from texts; refused above 16 MB.
Result<ResultDiff> diffResults(
    std::string_view left, std::string_view right, const DiffTolerance& tolerance = {});

Json toJson(const ResultDiff& diff);

} // namespace gb
