// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

#include "resultshape.h"

#include "jsonslice.h"

namespace gb::ui {
namespace {

constexpr std::size_t shapeProbe = 32;
constexpr std::size_t largestMatrix = 16'000'000; // cells held in the window

// {"kind": …, member: …} → the member, when the kind is this one.
std::optional<JsonSlice> ofKind(std::string_view json, std::string_view kind, std::string_view member)
{
    const auto whole = wholeJson(json);
    const auto said = jsonMember(json, whole, "kind");
    if (!said
        || jsonString(json, *said) != QString::fromUtf8(kind.data(), static_cast<qsizetype>(kind.size())))
        return {};
    return jsonMember(json, whole, member);
}

QString memberText(std::string_view json, std::string_view key)
{
    const auto found = jsonMember(json, wholeJson(json), key);
    return found ? jsonString(json, *found, 200) : QString();
}

bool startsWithNumbers(std::string_view json, const JsonSlice& slice)
{
    const auto first = jsonChildren(json, slice, shapeProbe);
    for (const auto& child : first)
        if (!jsonNumber(json, child))
            return false;
    return !first.empty();
}

} // namespace

std::optional<std::vector<double>> findVector(std::string_view json, bool probe)
{
    const auto said = ofKind(json, "vector", "data");
    const auto slice = said ? *said : wholeJson(json);
    if (jsonKind(json, slice) != JsonKind::Array || jsonChildren(json, slice, 2).size() < 2
        || !startsWithNumbers(json, slice))
        return {};
    return probe ? std::vector<double>{} : jsonNumbers(json, slice);
}

std::optional<Matrix> findMatrix(std::string_view json, bool probe)
{
    const auto said = ofKind(json, "matrix", "data");
    const auto slice = said ? *said : wholeJson(json);
    if (jsonKind(json, slice) != JsonKind::Array)
        return {};
    const auto rows = jsonChildren(json, slice, probe ? shapeProbe : SIZE_MAX);
    // A few short rows read better as a table, unless the function said what it is.
    if (rows.empty() || (!said && rows.size() < 2))
        return {};
    Matrix matrix;
    matrix.rowName = memberText(json, "rows");
    matrix.columnName = memberText(json, "columns");
    std::size_t width = 0;
    for (const auto& row : rows) {
        if (jsonKind(json, row) != JsonKind::Array || !startsWithNumbers(json, row))
            return {};
        const auto numbers = jsonNumbers(json, row);
        if (!numbers || (width != 0 && numbers->size() != width))
            return {};
        width = numbers->size();
        if (width * rows.size() > largestMatrix || (!said && width < 2))
            return {};
        for (const auto number : *numbers)
            matrix.values.push_back(static_cast<float>(number));
    }
    matrix.rows = static_cast<int>(rows.size());
    matrix.columns = static_cast<int>(width);
    return matrix;
}

std::optional<std::vector<Token>> findTokens(std::string_view json, bool probe)
{
    const auto list = ofKind(json, "tokens", "tokens");
    if (!list)
        return {};
    std::vector<Token> tokens;
    for (const auto& entry : jsonChildren(json, *list, probe ? shapeProbe : SIZE_MAX)) {
        const auto text = jsonMember(json, entry, "text");
        const auto score = jsonMember(json, entry, "score");
        if (!text)
            return {};
        const auto value = score ? jsonNumber(json, *score) : std::nullopt;
        tokens.push_back({jsonString(json, *text, 1000), value.value_or(0), value.has_value()});
    }
    return tokens;
}

QString scoreName(std::string_view json)
{
    return memberText(json, "scores");
}

std::optional<JsonSlice> findText(std::string_view json)
{
    const auto whole = wholeJson(json);
    if (jsonKind(json, whole) == JsonKind::String)
        return whole;
    // HTML is shown as its source: what is shown never loads anything.
    for (const std::string_view kind : {"text", "markdown", "html"})
        if (const auto text = ofKind(json, kind, "text"); text && jsonKind(json, *text) == JsonKind::String)
            return text;
    return {};
}

bool looksLikeTable(std::string_view json)
{
    const auto whole = wholeJson(json);
    if (const auto gb = jsonMember(json, whole, "$gb"))
        return jsonString(json, *gb) == QLatin1String("table");
    if (jsonKind(json, whole) != JsonKind::Array)
        return false;
    const auto first = jsonChildren(json, whole, shapeProbe);
    for (const auto& row : first) {
        const auto kind = jsonKind(json, row);
        if ((kind != JsonKind::Object && kind != JsonKind::Array) || kind != jsonKind(json, first.front())
            || jsonMember(json, row, "$gb"))
            return false;
    }
    return !first.empty();
}

} // namespace gb::ui
