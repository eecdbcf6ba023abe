// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

#include <backend/base/json.h>

#include "event_stream.h"
#include "router.h"

namespace gb::rpc {

void Router::events(const HttpExchangePtr& exchange, const std::string&)
{
    const std::string since = queryValue(exchange->head().query, "since");
    m_events->follow(exchange, std::strtoull(since.c_str(), nullptr, 10));
}

} // namespace gb::rpc
