// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

#include "hubclient.h"

#include <backend/base/json.h>

namespace gb::hub {
namespace {

constexpr std::size_t pageLimit = 32U << 20U;
constexpr int mostPages = 1000;

std::string withoutQuotes(std::string etag)
{
    if (etag.starts_with("W/"))
        etag.erase(0, 2);
    if (etag.size() >= 2 && etag.front() == '"' && etag.back() == '"')
        etag = etag.substr(1, etag.size() - 2);
    return etag;
}

// <address>; rel="next"
std::string nextPage(const std::string& link)
{
    const auto relation = link.find("rel=\"next\"");
    if (relation == std::string::npos)
        return {};
    const auto close = link.rfind('>', relation);
    const auto open = close == std::string::npos ? close : link.rfind('<', close);
    return open == std::string::npos ? std::string() : link.substr(open + 1, close - open - 1);
}

std::uint64_t sizeFrom(const Json& entry, const char* key)
{
    return static_cast<std::uint64_t>(std::max<std::int64_t>(integerOr(entry, key), 0));
}

Result<RemoteFile> fileFrom(const Json& entry)
{
    RemoteFile file;
    file.path = stringOr(entry, "path");
    file.size = sizeFrom(entry, "size");
    file.blobId = stringOr(entry, "oid");
    file.xetHash = stringOr(entry, "xetHash");
    if (const Json lfs = objectOr(entry, "lfs"); !lfs.empty()) {
        file.sha256 = stringOr(lfs, "oid");
        file.size = sizeFrom(lfs, "size");
    }
    // The hash becomes a file's name in the cache and the only proof of its content.
    if (!transfer::isHex(file.blobId, 40) || (!file.sha256.empty() && !transfer::isHex(file.sha256, 64)))
        return fail("hub.bad_answer", "the hub lists " + file.path.substr(0, 200) + " without a usable hash");
    return file;
}

} // namespace

Error hubError(Error error, const std::string& repo, const std::string& page)
{
    if (!error.code.starts_with("http."))
        return error;
    const auto status = integerOr(error.data, "status");
    const std::string code = stringOr(error.data, "error_code");
    const std::string said = stringOr(error.data, "error_message");
    const auto as = [&](const char* ours, std::string message) {
        error.data["repo"] = repo;
        error.data["page"] = page;
        return Error{ours, std::move(message), error.data};
    };
    if (code == "GatedRepo")
        return as("hub.gated", "access to " + repo + " has to be requested at " + page);
    if (code == "RevisionNotFound")
        return as("hub.revision_not_found", repo + " has no such revision");
    if (code == "EntryNotFound")
        return as("hub.file_not_found", repo + " has no such file");
    if (status == 401 && said == "Invalid credentials in Authorization header")
        return as("hub.bad_token", "the hub does not accept the token");
    // A bare 401 is what the hub says about a model that is not there, or not there for this token.
    if (code == "RepoNotFound" || status == 401 || status == 404)
        return as("hub.model_not_found", "there is no model " + repo + ", or this token may not see it");
    if (status == 403)
        return as("hub.forbidden", said.empty() ? "the hub refuses access to " + repo : said);
    if (status == 429)
        return as("hub.rate_limited", "the hub asks to slow down");
    return as(status >= 500 ? "hub.unavailable" : "hub.refused", error.message);
}

HubClient::HubClient(transfer::Downloader& downloader, HubSettings settings, transfer::RetryPolicy retry,
    transfer::CancelFlag cancel)
    : m_downloader(downloader), m_settings(std::move(settings)), m_retry(retry), m_cancel(std::move(cancel))
{ }

transfer::Credential HubClient::credential() const
{
    return {transfer::originOf(m_settings.endpoint), m_settings.token};
}

std::string HubClient::fileUrl(const ModelInfo& model, const std::string& path) const
{
    return m_settings.endpoint + "/" + model.repo + "/resolve/" + model.commit + "/" + escapedPath(path);
}

Result<transfer::Response> HubClient::get(transfer::Request request, const std::string& repo) const
{
    if (m_settings.offline)
        return fail("hub.offline", "HF_HUB_OFFLINE forbids the network");
    request.credential = credential();
    Result<transfer::Response> response = transfer::fetch(m_downloader.engine, request, m_retry, m_cancel);
    if (!response)
        return response;
    const bool redirected = response->status >= 300 && response->status < 400;
    if (!response->isSuccess() && !redirected)
        return fail(hubError(transfer::statusError(*response), repo, pageUrl(repo)));
    return response;
}

Result<Json> HubClient::getJson(const std::string& url, const std::string& repo, std::string* next) const
{
    transfer::Request request;
    request.url = url;
    request.bodyLimit = pageLimit;
    const auto response = get(std::move(request), repo);
    if (!response)
        return fail(response.error());
    if (next) {
        const std::string link = nextPage(response->header("Link"));
        *next = link.empty() ? link : transfer::resolveUrl(response->url, link);
    }
    auto json = parseJson(response->body, {.depth = 64, .keysPerObject = 100'000});
    if (!json)
        return fail("hub.bad_answer",
            "the hub's answer is no JSON; is the endpoint right, or a proxy in between?", Json{{"url", url}});
    return json;
}

Result<ModelInfo> HubClient::resolve(const ModelName& name) const
{
    const std::string url =
        m_settings.endpoint + "/api/models/" + name.repo + "/revision/" + escapedPath(name.revision);
    const auto json = getJson(url, name.repo);
    if (!json)
        return fail(json.error());
    ModelInfo info;
    info.commit = stringOr(*json, "sha");
    info.revision = name.revision;
    info.gated = stringOr(*json, "gated"); // false when it is not
    const auto canonical = ModelName::parse(stringOr(*json, "id", name.repo));
    if (!isCommit(info.commit) || !canonical)
        return fail("hub.bad_answer", "the hub names no commit for " + name.repo);
    info.repo = canonical->repo;
    return info;
}

Result<std::vector<RemoteFile>> HubClient::tree(const ModelInfo& model) const
{
    std::vector<RemoteFile> files;
    std::vector<std::string> paths;
    std::string url = m_settings.endpoint + "/api/models/" + model.repo + "/tree/" + model.commit
        + "?recursive=true&expand=false";
    for (int page = 0; !url.empty(); ++page) {
        std::string next;
        const auto entries = getJson(url, model.repo, &next);
        if (!entries)
            return fail(entries.error());
        if (!entries->is_array() || page >= mostPages)
            return fail("hub.bad_answer", "the hub's listing of " + model.repo + " has no end or no list");
        for (const Json& entry : *entries) {
            if (stringOr(entry, "type") != "file")
                continue;
            auto file = fileFrom(entry);
            if (!file)
                return fail(file.error());
            paths.push_back(file->path);
            files.push_back(std::move(*file));
        }
        url = std::move(next);
    }
    GB_TRY(checkPaths(paths));
    return files;
}

Result<RemoteFile> HubClient::head(const ModelInfo& model, const std::string& path) const
{
    transfer::Request request;
    request.method = "HEAD";
    request.url = fileUrl(model, path);
    request.redirects = transfer::Redirects::SameOrigin; // the one to the file's host is the answer
    const auto response = get(std::move(request), model.repo);
    if (!response)
        return fail(response.error());
    RemoteFile file;
    file.path = path;
    const std::string linked = response->header("X-Linked-Etag");
    const std::string etag = withoutQuotes(linked.empty() ? response->header("ETag") : linked);
    const std::string size = response->header("X-Linked-Size");
    file.size =
        std::strtoull((size.empty() ? response->header("Content-Length") : size).c_str(), nullptr, 10);
    file.xetHash = response->header("X-Xet-Hash");
    if (transfer::isHex(etag, 64))
        file.sha256 = etag;
    else if (transfer::isHex(etag, 40))
        file.blobId = etag;
    else
        return fail("hub.bad_answer", "the hub names no hash for " + path);
    return file;
}

Status HubClient::checkAccess(const ModelInfo& model, const RemoteFile& file) const
{
    const auto found = head(model, file.path);
    if (!found)
        return fail(found.error());
    if (found->etag() != file.etag() || found->size != file.size)
        return fail("hub.bad_answer",
            "the hub's listing and its file " + file.path + " contradict each other",
            Json{{"path", file.path}, {"listed", file.size}, {"sent", found->size}});
    return {};
}

Result<std::string> HubClient::read(
    const ModelInfo& model, const RemoteFile& file, std::uint64_t offset, std::uint64_t count) const
{
    if (offset >= file.size || count == 0)
        return std::string();
    transfer::Request request;
    request.url = fileUrl(model, file.path);
    request.range = transfer::ByteRange{offset, std::min(offset + count, file.size) - 1};
    // A server without ranges sends everything: not worth it unless the file is small.
    request.bodyLimit = static_cast<std::size_t>(std::max<std::uint64_t>(count, 1U << 20U));
    const auto response = get(request, model.repo);
    if (!response)
        return fail(response.error());
    const std::uint64_t wanted = request.range->last - offset + 1;
    if (response->status == 200 && response->body.size() >= offset + wanted)
        return response->body.substr(static_cast<std::size_t>(offset), static_cast<std::size_t>(wanted));
    const std::string range = response->header("Content-Range");
    if (response->status != 206 || response->body.size() != wanted
        || !range.starts_with("bytes " + std::to_string(offset) + "-"))
        return fail("net.wrong_range", "the server sent another part of " + file.path);
    return response->body;
}

} // namespace gb::hub
