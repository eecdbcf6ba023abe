// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <deque>
#include <string>
#include <vector>

#include <rpc/keeper/keeper.h>

#include "http_server.h"

namespace gb::rpc {

// The host's recent events with their numbers, and the clients that follow them (GET /v1/events?since=N).
// Kept in memory only: what must last is in the records.
class EventStream : public KeeperObserver
{
public:
    explicit EventStream(Keeper& keeper);
    ~EventStream() override;

    void follow(const HttpExchangePtr& exchange, std::uint64_t since);

    void stateChanged() override;
    void callEvent(const Call& call, const CallEvent& event) override;
    void recordStored(std::uint64_t seq, const CallOutcome& outcome, const Frame& frame) override;
    void printed(const char* stream, std::string_view text) override;

private:
    struct Entry
    {
        std::string text; // one server-sent event
        Caller caller; // of the call it is about; empty kind: everybody's
    };

    void add(const char* type, std::string_view data, const Caller& caller = {});
    static bool visible(const Entry& entry, const HttpExchange& exchange);

    Keeper& m_keeper;
    std::uint64_t m_next = 1;
    std::deque<Entry> m_entries; // the last one is m_next - 1
    std::vector<HttpExchangePtr> m_followers;
};

// One server-sent event.
std::string sseEvent(std::string_view type, std::string_view data, std::uint64_t id = 0);

} // namespace gb::rpc
