// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

#include "json_check.h"

#include <algorithm>
#include <charconv>
#include <unordered_set>
#include <vector>

#include <simdjson.h>

namespace gb::rpc {
namespace {

struct Member
{
    std::string key;
    std::string_view value;
};

bool isDigit(char c)
{
    return c >= '0' && c <= '9';
}

// One pass over text already known to be UTF-8.
class Checker
{
public:
    Checker(std::string_view text, JsonLimits limits)
        : m_at(text.data()), m_end(m_at + text.size()), m_begin(m_at), m_limits(limits)
    { }

    bool document(std::vector<Member>* members)
    {
        m_members = members;
        skipSpace();
        if (!value(0))
            return false;
        skipSpace();
        return m_at == m_end || refuse("json.syntax", "there is more after the end of the JSON value");
    }

    JsonShape shape() const { return m_shape; }
    Error error() const { return m_error; }

private:
    bool refuse(const char* code, const std::string& message)
    {
        m_error = Error{code, message, Json{{"position", m_at - m_begin}}};
        return false;
    }
    bool syntax()
    {
        return refuse("json.syntax", "not valid JSON at byte " + std::to_string(m_at - m_begin));
    }

    void skipSpace()
    {
        while (m_at != m_end && (*m_at == ' ' || *m_at == '\n' || *m_at == '\r' || *m_at == '\t'))
            ++m_at;
    }

    bool value(int depth)
    {
        if (m_at == m_end)
            return syntax();
        switch (*m_at) {
        case '{':
            return enter(depth) && object(depth);
        case '[':
            return enter(depth) && array(depth);
        case '"':
            return string();
        case 't':
            return word("true");
        case 'f':
            return word("false");
        case 'n':
            return word("null");
        default:
            return number();
        }
    }

    bool enter(int depth)
    {
        m_shape.depth = std::max(m_shape.depth, depth + 1);
        return depth < m_limits.depth
            || refuse("json.too_deep", "nested deeper than " + std::to_string(m_limits.depth) + " levels");
    }

    bool word(std::string_view expected)
    {
        if (!std::string_view(m_at, static_cast<std::size_t>(m_end - m_at)).starts_with(expected))
            return syntax();
        m_at += expected.size();
        return true;
    }

    bool number()
    {
        constexpr std::ptrdiff_t longest = 4000; // Python refuses to read more digits than 4300
        const char* const start = m_at;
        if (m_at != m_end && *m_at == '-')
            ++m_at;
        if (m_at == m_end || !isDigit(*m_at))
            return syntax();
        if (*m_at == '0')
            ++m_at;
        else
            digits();
        if (m_at != m_end && *m_at == '.') {
            ++m_at;
            if (!digits())
                return syntax();
        }
        if (m_at != m_end && (*m_at == 'e' || *m_at == 'E')) {
            ++m_at;
            if (m_at != m_end && (*m_at == '+' || *m_at == '-'))
                ++m_at;
            if (!digits())
                return syntax();
        }
        return m_at - start <= longest || refuse("json.number", "a number has more than 4000 characters");
    }

    bool digits()
    {
        const char* const start = m_at;
        while (m_at != m_end && isDigit(*m_at))
            ++m_at;
        return m_at != start;
    }

    int hex4()
    {
        unsigned code = 0;
        if (m_end - m_at < 4)
            return -1;
        const auto [end, error] = std::from_chars(m_at, m_at + 4, code, 16);
        if (error != std::errc() || end != m_at + 4)
            return -1;
        m_at = end;
        return static_cast<int>(code);
    }

    bool escape()
    {
        ++m_at;
        if (m_at == m_end)
            return syntax();
        const char kind = *m_at++;
        if (kind != 'u')
            return std::string_view("\"\\/bfnrt").find(kind) != std::string_view::npos || syntax();
        const int high = hex4();
        if (high < 0)
            return syntax();
        if (high < 0xd800 || high > 0xdfff)
            return true;
        if (high > 0xdbff || m_end - m_at < 2 || m_at[0] != '\\' || m_at[1] != 'u')
            return refuse("json.surrogate", "a string contains half of a surrogate pair");
        m_at += 2;
        const int low = hex4();
        return (low >= 0xdc00 && low <= 0xdfff)
            || refuse("json.surrogate", "a string contains half of a surrogate pair");
    }

    bool string()
    {
        ++m_at;
        m_escaped = false;
        while (m_at != m_end) {
            const auto c = static_cast<unsigned char>(*m_at);
            if (c == '"') {
                ++m_at;
                return true;
            }
            if (c == '\\') {
                m_escaped = true;
                if (!escape())
                    return false;
            } else if (c < 0x20) {
                return syntax();
            } else {
                ++m_at;
            }
        }
        return syntax();
    }

    bool array(int depth)
    {
        ++m_at;
        skipSpace();
        if (m_at != m_end && *m_at == ']')
            return ++m_at, true;
        for (;;) {
            if (!value(depth + 1))
                return false;
            skipSpace();
            if (m_at == m_end)
                return syntax();
            const char c = *m_at;
            if (c != ',' && c != ']')
                return syntax();
            ++m_at;
            if (c == ']')
                return true;
            skipSpace();
        }
    }

    bool object(int depth)
    {
        ++m_at;
        Keys keys;
        skipSpace();
        if (m_at != m_end && *m_at == '}')
            return ++m_at, true;
        for (;;) {
            if (!member(depth, keys))
                return false;
            skipSpace();
            if (m_at == m_end)
                return syntax();
            const char c = *m_at;
            if (c != ',' && c != '}')
                return syntax();
            ++m_at;
            if (c == '}')
                return true;
            skipSpace();
        }
    }

    // Keys are compared as they are meant, not as they are spelled. Most objects are small.
    struct Keys
    {
        std::vector<std::string_view> few;
        std::unordered_set<std::string_view> many;
        std::vector<std::unique_ptr<std::string>> unescaped;

        bool insert(std::string_view key)
        {
            if (many.empty() && few.size() < 16) {
                if (std::find(few.begin(), few.end(), key) != few.end())
                    return false;
                few.push_back(key);
                return true;
            }
            if (many.empty())
                many.insert(few.begin(), few.end());
            return many.insert(key).second;
        }
        std::size_t size() const { return many.empty() ? few.size() : many.size(); }
    };

    bool member(int depth, Keys& keys)
    {
        if (m_at == m_end || *m_at != '"')
            return syntax();
        const char* const start = m_at;
        if (!string())
            return false;
        std::string_view key(start + 1, static_cast<std::size_t>(m_at - start - 2));
        if (m_escaped) {
            const Json meant = Json::parse(start, m_at, nullptr, false);
            keys.unescaped.push_back(std::make_unique<std::string>(
                meant.is_string() ? meant.get<std::string>() : std::string(key)));
            key = *keys.unescaped.back();
        }
        if (!keys.insert(key))
            return refuse("json.duplicate_key",
                "the key \"" + std::string(key.substr(0, 100)) + "\" occurs twice in an object");
        const int count = static_cast<int>(keys.size());
        m_shape.mostKeys = std::max(m_shape.mostKeys, count);
        if (count > m_limits.keysPerObject)
            return refuse("json.too_many_keys",
                "an object has more than " + std::to_string(m_limits.keysPerObject) + " keys");
        const std::string wanted = depth == 0 && m_members ? std::string(key) : std::string();
        skipSpace();
        if (m_at == m_end || *m_at != ':')
            return syntax();
        ++m_at;
        skipSpace();
        const char* const from = m_at;
        if (!value(depth + 1))
            return false;
        if (depth == 0 && m_members)
            m_members->push_back({wanted, {from, static_cast<std::size_t>(m_at - from)}});
        return true;
    }

    const char* m_at;
    const char* m_end;
    const char* m_begin;
    JsonLimits m_limits;
    std::vector<Member>* m_members = nullptr;
    bool m_escaped = false;
    JsonShape m_shape;
    Error m_error;
};

Result<JsonShape> checkInto(std::string_view text, JsonLimits limits, std::vector<Member>* members)
{
    if (!simdjson::validate_utf8(text.data(), text.size()))
        return fail("json.utf8", "the text is not valid UTF-8");
    Checker checker(text, limits);
    if (!checker.document(members))
        return fail(checker.error());
    return checker.shape();
}

struct Arguments
{
    std::string_view args = "[]";
    std::string_view kwargs = "{}";

    std::string text() const
    {
        std::string out;
        out.reserve(args.size() + kwargs.size() + 20);
        out.append("{\"args\":").append(args).append(",\"kwargs\":").append(kwargs).append("}");
        return out;
    }
};

Result<bool> takeArgument(Arguments& arguments, const Member& member)
{
    if (member.key == "args") {
        if (member.value.front() != '[')
            return fail("params.type", "\"args\" must be a list");
        arguments.args = member.value;
        return true;
    }
    if (member.key == "kwargs") {
        if (member.value.front() != '{')
            return fail("params.type", "\"kwargs\" must be an object");
        arguments.kwargs = member.value;
        return true;
    }
    return false;
}

Status takeCallMember(CallBody& body, const Member& member)
{
    const Json value = Json::parse(member.value.begin(), member.value.end(), nullptr, false);
    if (member.key == "fn" && value.is_string())
        body.fn = value.get<std::string>();
    else if (member.key == "id" && value.is_string())
        body.id = value.get<std::string>();
    else if (member.key == "timeout_ms" && value.is_number_unsigned())
        body.timeoutMs = value.get<std::int64_t>();
    else if (member.key == "fn" || member.key == "id" || member.key == "timeout_ms")
        return fail("params.type", "\"" + member.key + "\" has the wrong type");
    else
        return fail("params.unknown", "unknown member \"" + member.key.substr(0, 100) + "\"");
    return {};
}

} // namespace

Result<JsonShape> checkJson(std::string_view text, JsonLimits limits)
{
    return checkInto(text, limits, nullptr);
}

Result<CallBody> readCallBody(std::string_view text)
{
    std::vector<Member> members;
    const auto shape = checkInto(text, {}, &members);
    if (!shape)
        return fail(shape.error());
    if (text[text.find_first_not_of(" \t\r\n")] != '{')
        return fail("params.type", "the body must be an object with \"fn\", \"args\" and \"kwargs\"");
    CallBody body;
    body.shape = *shape;
    Arguments arguments;
    bool named = false;
    for (const Member& member : members) {
        const auto taken = takeArgument(arguments, member);
        if (!taken)
            return fail(taken.error());
        if (!*taken)
            GB_TRY(takeCallMember(body, member));
        named = named || member.key == "fn";
    }
    if (!named)
        return fail("params.missing", "the body lacks \"fn\"");
    body.arguments = arguments.text();
    return body;
}

Result<CallBody> readArguments(std::string_view text)
{
    CallBody body;
    Arguments arguments;
    std::vector<Member> members;
    if (!text.empty()) {
        const auto shape = checkInto(text, {}, &members);
        if (!shape)
            return fail(shape.error());
        if (text[text.find_first_not_of(" \t\r\n")] != '{')
            return fail("params.type", "arguments must be an object with \"args\" and \"kwargs\"");
        body.shape = *shape;
    }
    for (const Member& member : members) {
        const auto taken = takeArgument(arguments, member);
        if (!taken)
            return fail(taken.error());
        if (!*taken)
            return fail("params.unknown", "unknown member \"" + member.key.substr(0, 100) + "\"");
    }
    body.arguments = arguments.text();
    return body;
}

void appendJsonString(std::string& out, std::string_view text)
{
    static constexpr char digits[] = "0123456789abcdef";
    if (!simdjson::validate_utf8(text.data(), text.size())) {
        out += Json(text).dump(-1, ' ', false, Json::error_handler_t::replace);
        return;
    }
    out += '"';
    for (const char c : text) {
        const auto byte = static_cast<unsigned char>(c);
        if (c == '"' || c == '\\')
            (out += '\\') += c;
        else if (c == '\n')
            out += "\\n";
        else if (byte < 0x20)
            (((out += "\\u00") += digits[byte >> 4]) += digits[byte & 15]);
        else
            out += c;
    }
    out += '"';
}

std::string jsonString(std::string_view text)
{
    std::string out;
    appendJsonString(out, text);
    return out;
}

} // namespace gb::rpc
