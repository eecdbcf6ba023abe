// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

#include "redactor.h"

#include <algorithm>

#include <backend/base/json.h>

#include "jsontext.h"

namespace gb {
namespace {

bool replaceAll(std::string& text, std::string_view from, std::string_view to)
{
    std::size_t at = text.find(from);
    if (at == std::string::npos)
        return false;
    std::string out;
    std::size_t done = 0;
    for (; at != std::string::npos; at = text.find(from, done)) {
        out.append(text, done, at - done);
        out += to;
        done = at + from.size();
    }
    out.append(text, done, std::string::npos);
    text = std::move(out);
    return true;
}

std::string printable(std::string_view name)
{
    std::string out;
    for (const char c : name.substr(0, 64)) {
        const bool plain = (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9')
            || c == '_' || c == '-' || c == '.';
        out += plain ? c : '_';
    }
    return out;
}

void addForm(std::vector<std::string>& forms, std::string form)
{
    if (std::find(forms.begin(), forms.end(), form) == forms.end())
        forms.push_back(std::move(form));
}

std::vector<std::string> escapedForms(const std::string& value)
{
    std::vector<std::string> forms;
    for (const bool ascii : {false, true}) {
        std::string form = Json(value).dump(-1, ' ', ascii, Json::error_handler_t::replace);
        form = form.substr(1, form.size() - 2);
        std::string slashes = form;
        replaceAll(slashes, "/", "\\/");
        addForm(forms, std::move(form));
        addForm(forms, std::move(slashes));
    }
    return forms;
}

// The slow, exact way: every string and number is looked at for itself.
void redactLeaves(const Redactor& redactor, Json& value)
{
    if (value.is_object()) {
        Json rebuilt = Json::object();
        for (auto& [key, inner] : value.items()) {
            redactLeaves(redactor, inner);
            rebuilt.emplace(redactor.text(key), std::move(inner));
        }
        value = std::move(rebuilt);
    } else if (value.is_array()) {
        for (Json& inner : value)
            redactLeaves(redactor, inner);
    } else {
        const std::string before = value.is_string() ? value.get<std::string>() : value.dump();
        std::string after = redactor.text(before);
        if (after != before)
            value = std::move(after);
    }
}

} // namespace

Redactor::Redactor(const std::vector<SecretValue>& secrets)
{
    for (const SecretValue& secret : secrets) {
        if (secret.value.size() < shortestSecret)
            continue;
        m_secrets.push_back(
            {"«secret " + printable(secret.name) + "»", secret.value, escapedForms(secret.value)});
    }
    std::sort(m_secrets.begin(), m_secrets.end(),
        [](const Secret& a, const Secret& b) { return a.value.size() > b.value.size(); });
}

std::string Redactor::text(std::string text) const
{
    for (const Secret& secret : m_secrets)
        replaceAll(text, secret.value, secret.replacement);
    return text;
}

std::string Redactor::json(std::string json) const
{
    if (m_secrets.empty())
        return json;
    std::string out = json;
    bool changed = false;
    for (const Secret& secret : m_secrets)
        for (const std::string& form : secret.escaped)
            changed = replaceAll(out, form, secret.replacement) || changed;
    if (!changed)
        return json;
    if (isJsonText(out))
        return out;
    // A number or a piece of structure was hit.
    const Result<Json> parsed = parseJson(json);
    if (!parsed)
        return "\"«redacted»\"";
    Json value = *parsed;
    redactLeaves(*this, value);
    return value.dump(-1, ' ', false, Json::error_handler_t::replace);
}

std::string Redactor::bytes(std::string bytes) const
{
    for (const Secret& secret : m_secrets)
        replaceAll(bytes, secret.value, std::string(secret.value.size(), '*'));
    return bytes;
}

} // namespace gb
