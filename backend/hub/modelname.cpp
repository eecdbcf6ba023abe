// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

#include "modelname.h"

#include <algorithm>
#include <map>

#include <backend/transfer/digest.h>

namespace gb::hub {
namespace {

bool isNameChar(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' || c == '_'
        || c == '.';
}

bool isRepo(std::string_view repo)
{
    const auto slash = repo.find('/');
    const auto good = [](std::string_view part) {
        return !part.empty() && part.size() <= 96 && std::ranges::all_of(part, isNameChar)
            && part.front() != '-' && part.front() != '.' && part.back() != '-' && part.back() != '.'
            && part.find("--") == std::string_view::npos && part.find("..") == std::string_view::npos;
    };
    if (slash == std::string_view::npos)
        return good(repo);
    return good(repo.substr(0, slash)) && good(repo.substr(slash + 1));
}

bool isRevision(std::string_view revision)
{
    return !revision.empty() && revision.size() <= 200 && revision.front() != '-'
        && std::ranges::all_of(revision, [](char c) { return isNameChar(c) || c == '/' || c == '+'; })
        && checkPath(revision).has_value();
}

std::string lowered(std::string text)
{
    std::ranges::transform(text, text.begin(), [](unsigned char c) { return std::tolower(c); });
    return text;
}

// What follows the host of an address: org/name[/tree|blob|resolve/revision[/path]].
ModelName fromPath(std::string_view path)
{
    path = path.substr(0, path.find_first_of("?#"));
    while (path.ends_with('/'))
        path.remove_suffix(1);
    ModelName name;
    for (const std::string_view word : {"/tree/", "/blob/", "/resolve/"}) {
        const auto at = path.find(word);
        if (at == std::string_view::npos)
            continue;
        const std::string_view rest = path.substr(at + word.size());
        name.revision = rest.substr(0, rest.find('/'));
        path = path.substr(0, at);
    }
    name.repo = path;
    return name;
}

} // namespace

Result<ModelName> ModelName::parse(std::string_view text)
{
    ModelName name;
    if (const auto scheme = text.find("://"); scheme != std::string_view::npos) {
        const auto host = text.find('/', scheme + 3);
        name = fromPath(host == std::string_view::npos ? std::string_view() : text.substr(host + 1));
    } else {
        const auto at = text.find('@');
        name.repo = text.substr(0, at);
        if (at != std::string_view::npos)
            name.revision = text.substr(at + 1);
    }
    if (!isRepo(name.repo) || !isRevision(name.revision))
        return fail("hub.bad_name", "not a model's name: " + std::string(text.substr(0, 200)),
            Json{{"name", text.substr(0, 200)}});
    return name;
}

bool isCommit(std::string_view revision)
{
    return transfer::isHex(revision, 40);
}

std::string cacheFolderName(std::string_view repo)
{
    std::string name = "models--" + std::string(repo);
    if (const auto slash = name.find('/'); slash != std::string::npos)
        name.replace(slash, 1, "--");
    return name;
}

Status checkPath(std::string_view path)
{
    const auto refuse = [&](const char* why) {
        return fail("hub.bad_path", std::string("the hub names a file whose path ") + why,
            Json{{"path",
                Json(std::string(path.substr(0, 300))).dump(-1, ' ', true, Json::error_handler_t::replace)}});
    };
    if (path.empty() || path.size() > 1024)
        return refuse("is empty or very long");
    if (std::ranges::any_of(path, [](char c) { return static_cast<unsigned char>(c) < 32 || c == 127; }))
        return refuse("contains a control character");
    if (path.find_first_of("\\:") != std::string_view::npos)
        return refuse("contains a backslash or a colon");
    for (std::size_t begin = 0; begin <= path.size();) {
        const std::size_t end = std::min(path.find('/', begin), path.size());
        const std::string_view part = path.substr(begin, end - begin);
        if (part.empty() || part == "." || part == "..")
            return refuse("leaves its folder or is absolute");
        if (part.size() > 255)
            return refuse("has a part that is too long");
        begin = end + 1;
    }
    return {};
}

Status checkPaths(const std::vector<std::string>& paths)
{
    const auto clash = [](const std::string& a, const std::string& b) {
        return fail("hub.bad_path", "the hub names two files that exclude each other: " + a + " and " + b,
            Json{{"path", a}, {"other", b}});
    };
    std::map<std::string, std::string> seen; // by lower case
    for (const std::string& path : paths) {
        GB_TRY(checkPath(path));
        if (const auto [it, isNew] = seen.emplace(lowered(path), path); !isNew)
            return clash(it->second, path);
    }
    for (const auto& [lower, path] : seen) {
        for (auto slash = lower.find('/'); slash != std::string::npos; slash = lower.find('/', slash + 1)) {
            if (const auto it = seen.find(lower.substr(0, slash)); it != seen.end())
                return clash(it->second, path);
        }
    }
    return {};
}

std::string escapedPath(std::string_view path)
{
    static constexpr char digits[] = "0123456789ABCDEF";
    std::string escaped;
    for (const char c : path) {
        if (isNameChar(c) || c == '/' || c == '~') {
            escaped += c;
            continue;
        }
        const auto byte = static_cast<unsigned char>(c);
        escaped += '%';
        escaped += digits[byte >> 4U];
        escaped += digits[byte & 15U];
    }
    return escaped;
}

} // namespace gb::hub
