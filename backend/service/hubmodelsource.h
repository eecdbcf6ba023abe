// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <atomic>
#include <chrono>
#include <mutex>

#include <backend/hub/hubsettings.h>
#include <backend/sandbox/sandboxprovider.h>

namespace gb::service {

class ModelWaits;

// Where models come from is said by the client's environment, not by the daemon's. A token that it does not
// name may have been given to us to keep.
hub::HubSettings hubSettingsFrom(
    const std::map<std::string, std::string>& environment, const std::string& storedToken);

// Models of the hub's cache, wherever the client's environment says that it is; what is missing comes through
// the daemon's queue of downloads.
class HubModelSource final : public ModelSource
{
public:
    // Before it is asked for anything; `waits` lives until nobody asks any more.
    void useQueue(ModelWaits* waits) { m_waits = waits; }
    void setStoredToken(std::string token);

    Result<std::vector<File>> files(
        const std::string& model, const std::map<std::string, std::string>& environment) override;
    std::vector<LocalModel> list(const std::map<std::string, std::string>& environment) override;
    Missing lookUp(const std::string& model, const std::map<std::string, std::string>& environment) override;
    Status fetch(const std::string& model, const std::map<std::string, std::string>& environment,
        const std::function<void(const ModelProgress&)>& onProgress,
        const std::function<bool()>& isCancelled) override;

private:
    struct Known
    {
        std::chrono::steady_clock::time_point at;
        std::map<std::string, std::int64_t> bytes;
    };

    hub::HubSettings settingsFor(const std::map<std::string, std::string>& environment) const;

    std::atomic<ModelWaits*> m_waits = nullptr;
    mutable std::mutex m_mutex;
    std::string m_storedToken;
    std::map<std::string, std::chrono::steady_clock::time_point> m_away; // hubs that did not answer, since
    std::map<std::string, Known> m_known; // what the hub said lately: a plan is made at every change
};

} // namespace gb::service
