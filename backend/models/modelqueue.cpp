// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

// What the queue looks like: in its file, and to those who watch it.

#include <algorithm>

#include <backend/base/json.h>
#include <backend/base/log.h>

#include "modeldownloads_p.h"

namespace gb {
namespace {

std::optional<ModelDownloads::State> stateFrom(std::string_view text)
{
    using State = ModelDownloads::State;
    for (int i = 0; i <= static_cast<int>(State::Failed); ++i) {
        if (toString(static_cast<State>(i)) == text)
            return static_cast<State>(i);
    }
    return std::nullopt;
}

} // namespace

std::string_view toString(ModelDownloads::State state)
{
    using State = ModelDownloads::State;
    switch (state) {
    case State::Queued:
        return "queued";
    case State::Resolving:
        return "resolving";
    case State::Downloading:
        return "downloading";
    case State::Verifying:
        return "verifying";
    case State::Ready:
        return "ready";
    case State::WaitingAccess:
        return "waiting_access";
    case State::Stalled:
        return "stalled";
    case State::Paused:
        return "paused";
    case State::Failed:
        return "failed";
    }
    return {};
}

bool isFinal(ModelDownloads::State state)
{
    using State = ModelDownloads::State;
    return state == State::Ready || state == State::Failed || state == State::WaitingAccess
        || state == State::Paused;
}

Status ModelDownloads::load()
{
    std::error_code error;
    if (!fs::exists(m_file, error))
        return {};
    const auto text = readFile(m_file);
    if (!text)
        return fail(text.error());
    const auto json = parseJson(*text);
    if (!json || !json->contains("downloads") || !(*json)["downloads"].is_array())
        return fail("models.queue", m_file.string() + " is not a queue of downloads");
    for (const Json& entry : (*json)["downloads"]) {
        auto spec = DownloadSpec::fromJson(objectOr(entry, "spec"));
        if (!spec)
            continue;
        auto download = std::make_unique<Download>();
        download->id = stringOr(entry, "id");
        download->spec = std::move(*spec);
        download->needsToken = boolOr(objectOr(entry, "spec"), "needs_token");
        download->addedAt = integerOr(entry, "added_at");
        download->since = integerOr(entry, "since");
        download->outcome = objectOr(entry, "outcome");
        if (const Json reason = objectOr(entry, "reason"); !reason.empty())
            download->reason = Error::fromJson(reason);
        const auto state = stateFrom(stringOr(entry, "state"));
        download->state = state && isFinal(*state) ? *state : State::Queued;
        m_downloads.push_back(std::move(download));
    }
    return {};
}

void ModelDownloads::save()
{
    Json list = Json::array();
    for (const auto& download : m_downloads) {
        Json spec = download->spec.toJson();
        spec["needs_token"] = download->needsToken;
        Json entry{{"id", download->id}, {"spec", std::move(spec)}, {"state", toString(download->state)},
            {"since", download->since}, {"added_at", download->addedAt}, {"outcome", download->outcome}};
        if (download->reason)
            entry["reason"] = download->reason->toJson();
        list.push_back(std::move(entry));
    }
    const Json queue{{"version", 1}, {"downloads", std::move(list)}};
    if (const Status stored = writeFileAtomic(m_file, queue.dump(1), 0600); !stored)
        logWarning("models", "the queue could not be stored", stored.error().toJson());
}

Json ModelDownloads::item(const std::string& id) const
{
    const Download* download = find(id);
    if (!download)
        return {};
    const DownloadProgress& now = download->progress;
    Json item{{"id", id}, {"repo", download->spec.model.repo}, {"revision", download->spec.model.revision},
        {"choice", download->spec.choice.toJson()}, {"cache", download->spec.hub.cache.string()},
        {"state", toString(download->state)}, {"since", download->since}, {"added_at", download->addedAt},
        {"priority", download->spec.priority}, {"done", now.done}};
    if (now.planned) {
        item["total"] = now.total;
        item["found"] = now.found;
        item["connections"] = download->state == State::Downloading ? now.connections : 0;
        item["parts"] = now.parts;
    }
    if (download->state == State::Downloading || download->state == State::Stalled) {
        const double rate = download->state == State::Downloading ? download->samples.rate().value_or(0) : 0;
        item["rate"] = rate;
        if (rate > 1 && now.total >= now.done)
            item["remaining_s"] = static_cast<double>(now.total - now.done) / rate;
    }
    if (download->reason)
        item["reason"] = download->reason->toJson();
    else if (now.trouble && download->state == State::Downloading)
        item["trouble"] = now.trouble->toJson();
    if (download->state == State::Ready)
        item["outcome"] = download->outcome;
    return item;
}

} // namespace gb
