// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

#include "values.h"

#include <vector>

#include "json_check.h"

namespace gb::rpc {
namespace {

using OnSpecial = std::function<void(std::string_view object, std::string& out)>;

bool isSpace(char c)
{
    return c == ' ' || c == '\n' || c == '\t' || c == '\r';
}

std::size_t skipSpaces(std::string_view text, std::size_t at)
{
    while (at < text.size() && isSpace(text[at]))
        ++at;
    return at;
}

// One past the value that starts here. The text is valid JSON.
std::size_t endOfValue(std::string_view text, std::size_t at)
{
    int depth = 0;
    bool inString = false;
    for (; at < text.size(); ++at) {
        const char c = text[at];
        if (inString) {
            at += c == '\\' ? 1 : 0;
            inString = c != '"';
            if (!inString && depth == 0)
                return at + 1;
        } else if (c == '"') {
            inString = true;
        } else if (c == '{' || c == '[') {
            ++depth;
        } else if (c == '}' || c == ']') {
            if (depth == 0)
                return at; // the container of a number or a word ends
            if (--depth == 0)
                return at + 1;
        } else if (depth == 0 && (c == ',' || isSpace(c))) {
            return at;
        }
    }
    return at;
}

// The parts of an array or the members of an object, as text.
std::vector<std::string_view> partsOf(std::string_view container)
{
    std::vector<std::string_view> parts;
    if (container.size() < 2)
        return parts;
    const std::string_view inner = container.substr(1, container.size() - 2);
    std::size_t at = skipSpaces(inner, 0);
    while (at < inner.size()) {
        const std::size_t start = at;
        int depth = 0;
        bool inString = false;
        for (; at < inner.size() && (inString || depth > 0 || inner[at] != ','); ++at) {
            const char c = inner[at];
            if (inString) {
                at += c == '\\' ? 1 : 0;
                inString = c != '"';
            } else if (c == '"') {
                inString = true;
            } else if (c == '{' || c == '[') {
                ++depth;
            } else if (c == '}' || c == ']') {
                --depth;
            }
        }
        parts.push_back(inner.substr(start, at - start));
        at = skipSpaces(inner, at + 1);
    }
    return parts;
}

std::string_view memberOf(std::string_view object, std::string_view name)
{
    const std::string key = "\"" + std::string(name) + "\"";
    for (const std::string_view part : partsOf(object)) {
        if (!part.starts_with(key))
            continue;
        const std::size_t colon = skipSpaces(part, key.size());
        return part.substr(skipSpaces(part, colon + 1));
    }
    return {};
}

std::string stringMember(std::string_view object, std::string_view name)
{
    const std::string_view raw = memberOf(object, name);
    const Json value = Json::parse(raw.begin(), raw.end(), nullptr, false);
    return value.is_string() ? value.get<std::string>() : std::string();
}

// Copies the text; objects whose first key is "$gb" go to onSpecial, keys "$$gb" lose a $ when asked.
void rewrite(std::string_view text, bool unescape, const OnSpecial& onSpecial, std::string& out)
{
    std::size_t copied = 0;
    for (std::size_t at = text.find("\"$"); at != std::string_view::npos; at = text.find("\"$", at)) {
        std::size_t end = at + 1;
        while (end < text.size() && text[end] == '$')
            ++end;
        const std::size_t dollars = end - at - 1;
        const bool name = text.substr(end, 3) == "gb\"";
        const std::size_t colon = name ? skipSpaces(text, end + 3) : end;
        // A quote after a backslash stands inside a string; a string without a colon behind it is a value.
        const bool key = name && colon < text.size() && text[colon] == ':' && at > 0 && text[at - 1] != '\\';
        if (!key) {
            at = end;
            continue;
        }
        if (dollars > 1) {
            if (unescape) {
                out.append(text.substr(copied, at + 1 - copied));
                copied = at + 2;
            }
            at = end;
            continue;
        }
        std::size_t start = at - 1;
        while (start > 0 && isSpace(text[start]))
            --start;
        const std::size_t stop = endOfValue(text, start);
        out.append(text.substr(copied, start - copied));
        onSpecial(text.substr(start, stop - start), out);
        copied = at = stop;
    }
    out.append(text.substr(copied));
}

class Plain
{
public:
    Plain(const TensorLookup& lookup, std::size_t& unsaid) : m_lookup(lookup), m_unsaid(unsaid) { }

    void write(std::string_view text, std::string& out)
    {
        rewrite(
            text, true, [this](std::string_view object, std::string& to) { special(object, to); }, out);
    }

private:
    void special(std::string_view object, std::string& out)
    {
        const std::string kind = stringMember(object, "$gb");
        if (kind == "int") {
            out += stringMember(object, "v");
        } else if (kind == "tensor") {
            tensor(object, out);
        } else if (kind == "image") {
            image(object, out);
        } else if (kind == "table") {
            table(object, out);
        } else {
            ++m_unsaid;
            out += "null";
        }
    }

    void tensor(std::string_view object, std::string& out)
    {
        const TensorPtr found = m_lookup(stringMember(object, "handle"));
        if (found && found->here())
            return appendLists(out, *found, m_unsaid);
        ++m_unsaid;
        out += "null";
    }

    void image(std::string_view object, std::string& out)
    {
        const TensorPtr found = m_lookup(stringMember(object, "handle"));
        out += "{\"image\":";
        appendJsonString(out, stringMember(object, "format"));
        out += ",\"data\":";
        if (found && found->here())
            out.append("\"").append(base64(found->data().view())).append("\"");
        else
            out += "null";
        out += '}';
    }

    void table(std::string_view object, std::string& out)
    {
        std::vector<std::string> names;
        for (const std::string_view column : partsOf(memberOf(object, "columns")))
            names.push_back(jsonString(stringMember(column, "name")));
        out += '[';
        bool first = true;
        for (const std::string_view row : partsOf(memberOf(object, "rows"))) {
            out += first ? "{" : ",{";
            first = false;
            const auto cells = partsOf(row);
            for (std::size_t i = 0; i < cells.size() && i < names.size(); ++i) {
                out.append(i == 0 ? "" : ",").append(names[i]).append(":");
                write(cells[i], out);
            }
            out += '}';
        }
        out += ']';
    }

    const TensorLookup& m_lookup;
    std::size_t& m_unsaid;
};

} // namespace

std::string plainForm(std::string_view record, const TensorLookup& lookup, std::size_t& unsaid)
{
    std::string out;
    out.reserve(record.size());
    Plain(lookup, unsaid).write(record, out);
    return out;
}

std::string withStats(std::string_view record, const StatsLookup& stats)
{
    std::string out;
    out.reserve(record.size() + 256);
    rewrite(
        record, false,
        [&stats](std::string_view object, std::string& to) {
            const Json known =
                stringMember(object, "$gb") == "tensor" ? stats(stringMember(object, "handle")) : Json();
            if (known.is_null()) {
                to.append(object);
                return;
            }
            to.append(object.substr(0, object.size() - 1))
                .append(",\"stats\":")
                .append(known.dump())
                .append("}");
        },
        out);
    return out;
}

std::string base64(std::string_view bytes)
{
    std::string out;
    appendBase64(out, bytes);
    return out;
}

void appendBase64(std::string& out, std::string_view bytes)
{
    static constexpr char alphabet[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    const auto byte = [&bytes](std::size_t i) -> std::uint32_t {
        return i < bytes.size() ? static_cast<unsigned char>(bytes[i]) : 0U;
    };
    const std::size_t before = out.size();
    out.resize(before + (bytes.size() + 2) / 3 * 4, '=');
    char* to = out.data() + before;
    for (std::size_t i = 0; i < bytes.size(); i += 3, to += 4) {
        const std::uint32_t group = (byte(i) << 16U) | (byte(i + 1) << 8U) | byte(i + 2);
        to[0] = alphabet[group >> 18U];
        to[1] = alphabet[(group >> 12U) & 63U];
        if (i + 1 < bytes.size())
            to[2] = alphabet[(group >> 6U) & 63U];
        if (i + 2 < bytes.size())
            to[3] = alphabet[group & 63U];
    }
}

} // namespace gb::rpc
