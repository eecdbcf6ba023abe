// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <memory>

#include "control.h"
#include "framesocket.h"
#include "requestgatherer.h"

namespace gb::rpc {

// One daemon on the control socket.
class ControlConnection : public KeeperObserver, public std::enable_shared_from_this<ControlConnection>
{
public:
    explicit ControlConnection(ControlServer& server);
    ~ControlConnection() override;

    void open(UniqueFd fd);
    void close();

    void stateChanged() override;
    void callEvent(const Call& call, const CallEvent& event) override;
    void recordStored(std::uint64_t seq, const CallOutcome& outcome, const Frame& frame) override;
    void printed(const char*, std::string_view) override { }

private:
    static const RequestMethods<ControlConnection>& methods();
    void frame(std::string& json, SharedText attachment);

    void hello(std::int64_t id, const Json& params, SharedText attachment);
    void schema(std::int64_t id, const Json& params, SharedText attachment);
    void call(std::int64_t id, const Json& params, SharedText attachment);
    void startCall(std::int64_t id, CallRequest request, Result<CallBody> body);
    void cancel(std::int64_t id, const Json& params, SharedText attachment);
    void reload(std::int64_t id, const Json& params, SharedText attachment);
    void records(std::int64_t id, const Json& params, SharedText attachment);
    void ack(std::int64_t id, const Json& params, SharedText attachment);
    void tensor(std::int64_t id, const Json& params, SharedText attachment);
    void mintToken(std::int64_t id, const Json& params, SharedText attachment);
    void revokeToken(std::int64_t id, const Json& params, SharedText attachment);
    void shutdown(std::int64_t id, const Json& params, SharedText attachment);

    void answer(std::int64_t id, const Json& result);
    void refuse(std::int64_t id, const Error& error);
    void answerStats(std::int64_t id, const TensorPtr& tensor);
    void answerTile(std::int64_t id, const TensorPtr& tensor, const TileRequest& request);
    void answerCall(std::int64_t id, const CallOutcome& outcome);
    // The JSON without its last brace, and a text that goes as attachment or as chunks.
    void sendWithText(std::int64_t id, std::string resultMembers, const SharedText& text);
    void pumpRecords();
    Json stateJson() const;

    ControlServer& m_server;
    std::shared_ptr<FrameSocket> m_socket;
    RequestGatherer m_requests;
    std::uint64_t m_nextRecord = 0; // 0: not asked for
};

} // namespace gb::rpc
