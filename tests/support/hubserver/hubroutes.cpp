// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

// The protocol: which request means what.

#include <algorithm>
#include <cstring>

#include <backend/base/hash.h>
#include <backend/transfer/digest.h>

#include "hubanswer.h"

namespace gb::test {
namespace {

using transfer::Digest;

std::string digestOf(const HubFile& file, Digest::Kind kind)
{
    Digest digest(kind, file.size());
    std::string chunk;
    for (std::uint64_t at = 0; at < file.size(); at += chunk.size()) {
        chunk.resize(static_cast<std::size_t>(std::min<std::uint64_t>(file.size() - at, 1U << 20U)));
        file.read(at, chunk.data(), chunk.size());
        digest.add(chunk);
    }
    return digest.hex();
}

std::uint64_t generatedWord(std::uint64_t index)
{
    std::uint64_t z = (index + 1) * 0x9e3779b97f4a7c15ULL;
    z = (z ^ (z >> 30U)) * 0xbf58476d1ce4e5b9ULL;
    return z ^ (z >> 27U);
}

std::string unescaped(std::string_view text)
{
    std::string plain;
    for (std::size_t i = 0; i < text.size(); ++i) {
        if (text[i] == '%' && i + 2 < text.size()) {
            plain += static_cast<char>(std::stoi(std::string(text.substr(i + 1, 2)), nullptr, 16));
            i += 2;
        } else {
            plain += text[i];
        }
    }
    return plain;
}

Json treeEntry(const std::string& path, const HubFile& file)
{
    Json entry{{"type", "file"}, {"oid", file.blobId()}, {"size", file.size()}, {"path", path}};
    if (file.lfs)
        entry["lfs"] = Json{{"oid", file.sha256()}, {"size", file.size()}, {"pointerSize", 134}};
    return entry;
}

} // namespace

std::string sha256Of(std::string_view bytes)
{
    return sha256Hex(bytes);
}

void HubFile::read(std::uint64_t offset, char* to, std::size_t count) const
{
    if (generated == 0) {
        std::memcpy(to, content.data() + offset, count);
        return;
    }
    while (count > 0) {
        const std::uint64_t word = generatedWord(offset / 8);
        const std::size_t within = offset % 8;
        const std::size_t part = std::min<std::size_t>(8 - within, count);
        std::memcpy(to, reinterpret_cast<const char*>(&word) + within, part);
        to += part;
        offset += part;
        count -= part;
    }
}

std::string HubFile::sha256() const
{
    if (digest.empty())
        digest = digestOf(*this, Digest::Kind::Sha256);
    return digest;
}

std::string HubFile::blobId() const
{
    // An LFS file's blob is its pointer; any 40 digits do.
    return lfs ? sha256().substr(0, 40) : digestOf(*this, Digest::Kind::GitBlob);
}

void HubServer::setLfsHost(HubServer* other)
{
    const std::lock_guard lock(m_mutex);
    m_lfsHost = other;
    if (!other)
        return;
    const std::lock_guard otherLock(other->m_mutex);
    for (auto& [name, repo] : m_repos) {
        for (auto& [path, file] : repo.files) {
            if (file.lfs)
                other->m_lfs[file.sha256()] = std::make_shared<HubFile>(file);
        }
    }
}

void HubServer::Answer::apply(const Fault& fault)
{
    if (fault.kind == Fault::Kind::Gzip)
        headers.push_back("Content-Encoding: gzip");
    if (fault.kind == Fault::Kind::Truncate && file)
        cut = fault.bytes;
}

void HubServer::Answer::applyRange(
    const std::string& range, const std::optional<Fault>& fault, std::uint64_t& first, std::uint64_t& count)
{
    if (!file || status != 200 || !range.starts_with("bytes=")
        || (fault && fault->kind == Fault::Kind::IgnoreRange))
        return;
    first = std::stoull(range.substr(6));
    std::uint64_t last = std::stoull(range.substr(range.find('-') + 1));
    last = std::min(last, bodySize() - 1);
    if (first >= bodySize()) {
        *this = Answer{.status = 416};
        count = 0;
        return;
    }
    count = last - first + 1;
    status = 206;
    const std::uint64_t shift = fault && fault->kind == Fault::Kind::WrongRange ? 1 : 0;
    headers.push_back("Content-Range: bytes " + std::to_string(first + shift) + "-"
        + std::to_string(last + shift) + "/" + std::to_string(bodySize()));
}

std::string HubServer::Answer::head(std::uint64_t length) const
{
    std::string text = "HTTP/1.1 " + std::to_string(status) + " X\r\n";
    for (const std::string& header : headers)
        text += header + "\r\n";
    return text + "Content-Length: " + std::to_string(length) + "\r\n\r\n";
}

void HubServer::Answer::read(std::uint64_t offset, std::string& chunk) const
{
    if (file)
        file->read(offset, chunk.data(), chunk.size());
    else
        std::memcpy(chunk.data(), text.data() + offset, chunk.size());
}

auto HubServer::route(const HubRequest& request) -> Answer
{
    const std::string path = unescaped(request.path.substr(0, request.path.find('?')));
    if (path.starts_with("/lfs/")) {
        const auto it = m_lfs.find(path.substr(5));
        return it == m_lfs.end() ? Answer{.status = 404} : Answer{.file = it->second};
    }
    for (auto& [name, repo] : m_repos) {
        const std::string api = "/api/models/" + name;
        const std::string files = "/" + name + "/resolve/";
        if (!repo.movedTo.empty() && (path.starts_with(api + "/") || path.starts_with(files))) {
            std::string moved = request.path;
            return Answer{.status = 307,
                .headers = {"Location: " + moved.replace(moved.find(name), name.size(), repo.movedTo)}};
        }
        if (path.starts_with(api + "/"))
            return modelInfo(name, repo, path.substr(api.size() + 1), request);
        if (path.starts_with(files))
            return file(repo, path.substr(files.size()), request);
    }
    return Answer{.status = 401, .headers = {"X-Error-Code: RepoNotFound"}, .text = "{}"};
}

auto HubServer::modelInfo(
    const std::string& name, HubRepo& repo, const std::string& rest, const HubRequest& request) -> Answer
{
    const auto slash = rest.find('/');
    const std::string revision = rest.substr(slash + 1);
    if (revision != "main" && revision != repo.commit)
        return Answer{.status = 404, .headers = {"X-Error-Code: RevisionNotFound"}};
    if (rest.starts_with("tree/"))
        return tree(repo, request.path.substr(request.path.find('?') + 1), request.path);
    Json info{{"id", name}, {"sha", repo.commit}, {"private", false}, {"gated", false}};
    if (!repo.gated.empty())
        info["gated"] = repo.gated;
    return Answer{.text = info.dump()};
}

auto HubServer::tree(const HubRepo& repo, const std::string& query, const std::string& path) -> Answer
{
    std::vector<Json> entries;
    for (const auto& [name, file] : repo.files)
        entries.push_back(treeEntry(name, file));
    entries.insert(entries.end(), repo.extraTree.begin(), repo.extraTree.end());
    std::size_t first = 0;
    if (const auto cursor = query.find("cursor="); cursor != std::string::npos)
        first = std::stoul(query.substr(cursor + 7));
    const std::size_t last = m_treePage == 0 ? entries.size() : std::min(entries.size(), first + m_treePage);
    Answer answer;
    answer.text = Json(std::vector<Json>(entries.begin() + static_cast<std::ptrdiff_t>(first),
                           entries.begin() + static_cast<std::ptrdiff_t>(last)))
                      .dump();
    if (last < entries.size())
        answer.headers.push_back("Link: <" + url() + path.substr(0, path.find('?'))
            + "?recursive=true&cursor=" + std::to_string(last) + ">; rel=\"next\"");
    return answer;
}

auto HubServer::file(HubRepo& repo, const std::string& path, const HubRequest& request) -> Answer
{
    const auto slash = path.find('/');
    const std::string revision = path.substr(0, slash);
    const std::string commit = "X-Repo-Commit: " + repo.commit;
    if (revision != "main" && revision != repo.commit)
        return Answer{.status = 404, .headers = {"X-Error-Code: RevisionNotFound"}};
    const auto it = repo.files.find(path.substr(slash + 1));
    if (it == repo.files.end())
        return Answer{.status = 404, .headers = {commit, "X-Error-Code: EntryNotFound"}};
    const std::string authorization = request.header("authorization");
    if (!repo.gated.empty() && authorization != "Bearer " + m_token)
        return Answer{.status = authorization.empty() ? 401 : 403,
            .headers = {
                commit, "X-Error-Code: GatedRepo", "X-Error-Message: Access to this model is restricted."}};
    const HubFile& file = it->second;
    if (!file.lfs)
        return Answer{
            .headers = {commit, "ETag: \"" + file.blobId() + "\""}, .file = std::make_shared<HubFile>(file)};
    std::vector<std::string> headers = {
        commit, "X-Linked-Etag: \"" + file.sha256() + "\"", "X-Linked-Size: " + std::to_string(file.size())};
    if (!m_lfsHost) {
        headers.push_back("ETag: \"" + file.sha256() + "\"");
        return Answer{.headers = std::move(headers), .file = std::make_shared<HubFile>(file)};
    }
    headers.push_back("Location: " + m_lfsHost->url() + "/lfs/" + file.sha256() + "?Signature=s");
    return Answer{.status = 302, .headers = std::move(headers)};
}

} // namespace gb::test
