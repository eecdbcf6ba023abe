// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

#include "calltext.h"

#include <algorithm>
#include <ctime>
#include <limits>

#include <backend/base/shellword.h>

namespace gb::cli {
namespace {

constexpr std::size_t parsedMost = 4U << 20U; // a longer result is shown as it came
constexpr std::size_t traceMost = 30;

std::string dumped(const Json& value)
{
    return value.dump(-1, ' ', false, Json::error_handler_t::replace);
}

// What fits into the room on one line stays on one; else one member or item a line. Numbers in a row stay
// together, however many they are.
void layOut(const Json& value, const std::string& indent, std::size_t columns, std::string& text)
{
    const bool plain =
        !value.is_structured() || (value.is_array() && std::ranges::none_of(value, &Json::is_structured));
    const std::string flat = dumped(value);
    if (plain || flat.size() + indent.size() <= columns) {
        text += flat;
        return;
    }
    text += value.is_object() ? "{" : "[";
    std::size_t at = 0;
    for (const auto& [key, child] : value.items()) {
        text += (at++ == 0 ? "\n" : ",\n") + indent + "  ";
        if (value.is_object())
            text += dumped(Json(key)) + ": ";
        layOut(child, indent + "  ", columns, text);
    }
    text += "\n" + indent + (value.is_object() ? "}" : "]");
}

std::string localTime(std::int64_t wallMilliseconds)
{
    const auto seconds = static_cast<std::time_t>(wallMilliseconds / 1000);
    std::tm parts{};
    char text[32];
    const std::size_t length =
        ::localtime_r(&seconds, &parts) ? std::strftime(text, sizeof text, "%Y-%m-%d %H:%M:%S", &parts) : 0;
    return {text, length};
}

std::size_t lettersIn(std::string_view text)
{
    return static_cast<std::size_t>(
        std::ranges::count_if(text, [](char c) { return (static_cast<unsigned char>(c) & 0xC0U) != 0x80U; }));
}

// The first so many letters, none cut in two.
std::string_view firstLetters(std::string_view text, std::size_t letters)
{
    std::size_t at = 0;
    for (; at < text.size(); ++at)
        if ((static_cast<unsigned char>(text[at]) & 0xC0U) != 0x80U && letters-- == 0)
            break;
    return text.substr(0, at);
}

class Writer
{
public:
    Writer(const Console& console, TextRoom room) : m_console(console), m_room(room) { }

    void field(const std::string& name, const std::string& value)
    {
        constexpr std::size_t names = 11;
        if (!value.empty())
            m_text += name + std::string(names - name.size(), ' ') + value + "\n";
    }
    void title(const std::string& text) { m_text += "\n" + m_console.painted("1", text) + "\n"; }
    void plain(const std::string& line) { m_text += line + "\n"; }

    // Indented, within the room.
    void block(std::string_view text)
    {
        std::size_t lines = 0;
        std::size_t left = 0;
        for (std::size_t at = 0; at <= text.size();) {
            const auto end = std::min(text.find('\n', at), text.size());
            if (end == text.size() && at == end)
                break; // the end of the last line
            if (lines++ < m_room.lines)
                row(text.substr(at, end - at));
            else
                ++left;
            at = end + 1;
        }
        if (left > 0) {
            m_text += "  … " + std::to_string(left) + (left == 1 ? " more line\n" : " more lines\n");
            m_cut = true;
        }
    }

    bool cut() const { return m_cut; }
    const std::string& text() const { return m_text; }

private:
    void row(std::string_view line)
    {
        const std::size_t letters = lettersIn(line);
        constexpr std::size_t note = 32; // for what is said of the rest
        if (letters + 2 <= m_room.columns || letters <= note) {
            m_text += "  " + printable(line) + "\n";
            return;
        }
        const std::size_t shown = m_room.columns > note + 20 ? m_room.columns - note : 20;
        m_text += "  " + printable(firstLetters(line, shown)) + "… (" + std::to_string(letters - shown)
            + " more characters)\n";
        m_cut = true;
    }

    const Console& m_console;
    TextRoom m_room;
    std::string m_text;
    bool m_cut = false;
};

std::string whenText(const Json& record)
{
    const std::int64_t at = integerOr(record, "at");
    return at > 0 ? localTime(at) + ", " + ago(at) : std::string();
}

std::string whoText(const Json& record)
{
    const Json caller = objectOr(record, "caller");
    const std::string name = printable(stringOr(caller, "name"));
    return stringOr(caller, "kind") + (name.empty() ? "" : " " + name);
}

std::string tookText(const Json& record)
{
    const Json ns = objectOr(record, "ns");
    std::int64_t total = 0;
    std::string parts;
    for (const auto& [key, word] : {std::pair("queue", "waited"), std::pair("compute", "computed"),
             std::pair("serialise", "serialised"), std::pair("transfer", "transferred")}) {
        const std::int64_t part = integerOr(ns, key);
        total += part;
        if (part > 0)
            parts += (parts.empty() ? "" : ", ") + std::string(word) + " " + duration(part);
    }
    return total > 0 ? duration(total) + "  (" + parts + ")" : std::string();
}

void writeArguments(Writer& writer, const Json& record, std::size_t columns)
{
    const Json given = objectOr(record, "args");
    std::string text;
    for (const Json& value : given.value("args", Json::array())) {
        layOut(value, {}, columns, text);
        text += "\n";
    }
    const Json named = objectOr(given, "kwargs");
    for (const auto& [name, value] : named.items()) {
        text += name + " = ";
        layOut(value, {}, columns, text);
        text += "\n";
    }
    if (boolOr(record, "args_cut"))
        text += "(too large to keep)\n";
    writer.title("arguments");
    writer.block(text.empty() ? "none" : text);
}

void writeOutput(Writer& writer, const Json& record)
{
    std::string text;
    for (const Json& piece : record.value("output", Json::array()))
        text += stringOr(piece, "text");
    if (text.empty())
        return;
    writer.title("output");
    writer.block(text);
    if (boolOr(record, "output_cut"))
        writer.plain("  … what it printed after this was not kept");
}

void writeError(Writer& writer, const Json& record)
{
    const Json error = objectOr(record, "error");
    const std::string type = stringOr(error, "type");
    writer.title("error");
    writer.block((type.empty() ? stringOr(error, "kind") : type) + ": " + stringOr(error, "message"));
    const Json frames = error.value("frames", Json::array());
    if (!frames.is_array() || frames.empty()) {
        if (const std::string trace = stringOr(error, "traceback"); !trace.empty())
            writer.block(trace);
        return;
    }
    std::string text;
    const std::size_t from = frames.size() > traceMost ? frames.size() - traceMost : 0;
    if (from > 0)
        text += "… " + std::to_string(from) + " outer frames\n";
    for (std::size_t i = from; i < frames.size(); ++i) {
        const Json& frame = frames[i];
        text += stringOr(frame, "file") + ":" + std::to_string(integerOr(frame, "line")) + " in "
            + stringOr(frame, "function") + "\n";
        if (const std::string source = stringOr(frame, "source"); !source.empty())
            text += "    " + source + "\n";
    }
    writer.block(text);
}

void writeResult(Writer& writer, const Json& record, const std::string& result, std::size_t columns)
{
    const std::string text = !result.empty() ? result : dumped(record.value("result", Json()));
    const std::int64_t size = integerOr(record, "result_bytes", static_cast<std::int64_t>(text.size()));
    if (result.empty() && boolOr(record, "result_cut")) {
        writer.title("result, " + bytes(size) + ", too large to keep; it began");
        writer.block(stringOr(record, "preview"));
        return;
    }
    const auto value = text.size() <= parsedMost ? Json::parse(text, nullptr, false) : Json();
    writer.title("result, " + bytes(size)
        + (value.is_array() && value.size() != 1 ? ", " + std::to_string(value.size()) + " items" : ""));
    std::string shown;
    if (value.is_string())
        shown = value.get<std::string>();
    else if (text.size() <= parsedMost && !value.is_discarded())
        layOut(value, {}, columns, shown);
    writer.block(shown.empty() ? std::string_view(text) : std::string_view(shown));
}

} // namespace

TextRoom TextRoom::whole()
{
    return {std::numeric_limits<std::size_t>::max() / 2, std::numeric_limits<std::size_t>::max()};
}

std::string callText(const Json& record, const std::string& result, const Console& console, TextRoom room)
{
    const std::size_t columns = std::min<std::size_t>(room.columns, 100); // to lay out, not to cut
    const std::string state = stringOr(record, "state");
    const bool good = state == "ok";
    Writer writer(console, room);
    writer.plain(console.painted("1", printable(stringOr(record, "fn"))) + "  "
        + console.painted(good         ? "32"
                : state == "cancelled" ? "33"
                                       : "31",
            state)
        + (boolOr(record, "pinned") ? "  pinned" : ""));
    writer.field("call", stringOr(record, "id"));
    writer.field("when", whenText(record));
    writer.field("by", whoText(record));
    writer.field("interface", printable(stringOr(objectOr(record, "interface"), "name")));
    writer.field("took", tookText(record));
    if (integerOr(record, "generation") > 1)
        writer.field("worker", "number " + std::to_string(integerOr(record, "generation")) + " of its host");
    writer.field("comment", printable(stringOr(record, "comment")));
    for (const Json& warning : record.value("warnings", Json::array()))
        writer.field(
            "warning", printable(warning.is_string() ? warning.get<std::string>() : dumped(warning)));
    writeArguments(writer, record, columns);
    writeOutput(writer, record);
    if (good)
        writeResult(writer, record, result, columns);
    else
        writeError(writer, record);
    std::string text = writer.text();
    if (writer.cut())
        text += "\nAll of it: glovebox calls show " + shellWord(stringOr(record, "id")) + " --whole\n";
    return text;
}

} // namespace gb::cli
