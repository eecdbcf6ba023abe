// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <map>
#include <string>

#include <rpc/keeper/keeper.h>
#include <rpc/mcp/endpoint.h>

#include "http_server.h"

namespace gb::rpc {

// /mcp: lends the keeper's functions to the protocol room and its answers to HTTP.
class KeeperMcp : public McpHost
{
public:
    explicit KeeperMcp(Keeper& keeper) : m_keeper(keeper), m_endpoint(*this) { }

    void handle(const HttpExchangePtr& exchange);

    Result<Json> schema() override;
    std::string schemaTag() override;
    bool mayCall(std::string_view caller, std::string_view function) override;
    Result<std::string> call(std::string_view caller, const std::string& function, std::string arguments,
        McpListener listener) override;
    void cancel(const std::string& call) override;

private:
    TokenPtr tokenOf(std::string_view caller) const;

    Keeper& m_keeper;
    McpEndpoint m_endpoint;
    std::map<std::string, TokenPtr, std::less<>> m_callers; // by the token's id
};

} // namespace gb::rpc
