// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <backend/sandbox/sandboxprovider.h>

namespace gb::service {

// Models of the hub's cache, wherever the client's environment says that it is.
class HubModelSource final : public ModelSource
{
public:
    Result<std::vector<File>> files(
        const std::string& model, const std::map<std::string, std::string>& environment) override;
    std::vector<LocalModel> list(const std::map<std::string, std::string>& environment) override;
};

} // namespace gb::service
