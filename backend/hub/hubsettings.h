// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <functional>

#include <backend/base/files.h>
#include <backend/transfer/engine.h>

namespace gb::hub {

// Where models come from and where they are kept, as the official client's variables say it: HF_ENDPOINT,
// HF_TOKEN or the token file, HF_HOME, HF_HUB_CACHE, HF_HUB_OFFLINE.
struct HubSettings
{
    std::string endpoint = "https://huggingface.co"; // no slash at the end
    std::string token;
    fs::path cache;
    bool offline = false;
    transfer::NetworkOptions network;

    static HubSettings fromEnvironment(const std::function<std::string(const char*)>& variable);
};

} // namespace gb::hub
