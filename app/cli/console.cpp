// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

#include "console.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <unistd.h>

#include <backend/base/clock.h>

#include "command.h"

namespace gb::cli {
namespace {

// Columns a text takes, counted in code points: good enough for names and numbers.
std::size_t width(std::string_view text)
{
    return static_cast<std::size_t>(std::count_if(
        text.begin(), text.end(), [](char c) { return (static_cast<unsigned char>(c) & 0xc0U) != 0x80; }));
}

std::string dumped(const Json& value, int indent)
{
    return value.dump(indent, ' ', false, Json::error_handler_t::replace);
}

std::string remainingText(double seconds)
{
    const auto whole = static_cast<std::int64_t>(std::ceil(seconds));
    if (whole < 60)
        return std::to_string(whole) + " s";
    if (whole < 600 && whole % 60 != 0)
        return std::to_string(whole / 60) + " min " + std::to_string(whole % 60) + " s";
    if (whole < 3600)
        return std::to_string(whole / 60) + " min";
    return std::to_string(whole / 3600) + " h " + std::to_string(whole % 3600 / 60) + " min";
}

} // namespace

Console::Console(bool json)
    : m_json(json), m_colours(!json && ::isatty(STDOUT_FILENO) && !std::getenv("NO_COLOR"))
{ }

void Console::out(std::string_view text) const
{
    std::fwrite(text.data(), 1, text.size(), stdout);
    std::fflush(stdout);
}

void Console::note(std::string_view text) const
{
    if (!m_json)
        std::fprintf(stderr, "%.*s\n", static_cast<int>(text.size()), text.data());
}

void Console::print(const Json& value) const
{
    out(dumped(value, ::isatty(STDOUT_FILENO) ? 2 : -1) + "\n");
}

void Console::printLine(const Json& value) const
{
    out(dumped(value, -1) + "\n");
}

void Console::table(
    const std::vector<std::string>& head, const std::vector<std::vector<std::string>>& rows) const
{
    std::vector<std::size_t> widths;
    for (const std::string& title : head)
        widths.push_back(width(title));
    for (const auto& row : rows) {
        for (std::size_t i = 0; i < row.size() && i < widths.size(); ++i)
            widths[i] = std::max(widths[i], width(row[i]));
    }
    const auto line = [&widths](const std::vector<std::string>& cells) {
        std::string text;
        for (std::size_t i = 0; i < cells.size(); ++i) {
            text += cells[i];
            if (i + 1 < cells.size())
                text.append(widths[i] - width(cells[i]) + 2, ' ');
        }
        return text + "\n";
    };
    out(painted("1", line(head)));
    for (const auto& row : rows)
        out(line(row));
}

void Console::error(std::string_view text) const
{
    std::fprintf(stderr, "glovebox: %.*s\n", static_cast<int>(text.size()), text.data());
}

int Console::fail(const Error& failure) const
{
    if (m_json)
        printLine(Json{{"error", failure.toJson()}});
    else
        error(printable(failure.message) + (failure.code == "usage" ? "" : "  [" + failure.code + "]"));
    return failure.code == "usage" ? WrongUse : failure.code == "interrupted" ? Interrupted : Failed;
}

std::string Console::painted(std::string_view colour, std::string_view text) const
{
    if (!m_colours)
        return std::string(text);
    return "\x1b[" + std::string(colour) + "m" + std::string(text) + "\x1b[0m";
}

std::string printable(std::string_view text)
{
    std::string safe;
    for (const char c : text) {
        const auto byte = static_cast<unsigned char>(c);
        if (byte == '\n' || byte == '\t' || (byte >= 0x20 && byte != 0x7f)) {
            safe += c;
        } else {
            char hex[8];
            std::snprintf(hex, sizeof hex, "\\x%02x", byte);
            safe += hex;
        }
    }
    return safe;
}

std::string duration(std::int64_t ns)
{
    if (ns >= 60'000'000'000) {
        const std::int64_t seconds = ns / 1'000'000'000;
        return remainingText(static_cast<double>(seconds));
    }
    char text[32];
    if (ns < 1'000'000)
        std::snprintf(text, sizeof text, "%.0f µs", static_cast<double>(ns) / 1e3);
    else if (ns < 1'000'000'000)
        std::snprintf(text, sizeof text, "%.1f ms", static_cast<double>(ns) / 1e6);
    else
        std::snprintf(text, sizeof text, "%.2f s", static_cast<double>(ns) / 1e9);
    return text;
}

std::string ago(std::int64_t wallMilliseconds)
{
    const std::int64_t seconds = std::max<std::int64_t>(0, (wallMs() - wallMilliseconds) / 1000);
    if (seconds < 60)
        return std::to_string(seconds) + " s ago";
    if (seconds < 3600)
        return std::to_string(seconds / 60) + " min ago";
    if (seconds < 86400)
        return std::to_string(seconds / 3600) + " h ago";
    return std::to_string(seconds / 86400) + " d ago";
}

std::string bytes(std::int64_t count)
{
    const char* units[] = {"B", "kB", "MB", "GB", "TB"};
    auto value = static_cast<double>(count);
    int unit = 0;
    for (; value >= 1000 && unit < 4; ++unit)
        value /= 1000;
    char text[32];
    std::snprintf(text, sizeof text, unit == 0 ? "%.0f %s" : "%.1f %s", value, units[unit]);
    return text;
}

std::string figures(const Json& progress)
{
    std::string line;
    if (progress.contains("total")) {
        const std::int64_t total = integerOr(progress, "total");
        const std::int64_t done = integerOr(progress, "done");
        line += "  " + std::to_string(total > 0 ? done * 100 / total : 100) + " %  " + bytes(done) + " of "
            + bytes(total);
    }
    if (progress.contains("rate"))
        line += "  " + bytes(static_cast<std::int64_t>(numberOr(progress, "rate"))) + "/s";
    if (progress.contains("remaining_s"))
        line += "  " + remainingText(numberOr(progress, "remaining_s")) + " left";
    return line;
}

} // namespace gb::cli
