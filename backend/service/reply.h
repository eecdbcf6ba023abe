// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <functional>
#include <map>
#include <memory>

#include <backend/api/answer.h>

namespace gb::service {

class Connection;

// Who called, as records show it.
struct Caller
{
    std::string kind = "person"; // person, script, agent
    std::string name;
    // What the client told of its environment (paths, proxies, tokens); never stored or shown.
    std::shared_ptr<const std::map<std::string, std::string>> environment = {};
};

// One request that waits for its answer; copies mean the same request. It outlives the connection it came on:
// a mutation goes on without its client, and the answer is then only remembered under its op. If every copy
// goes away without an answer, the client gets "rpc.unanswered".
class Reply
{
public:
    using Done = std::function<void(Result<api::Answer>)>;
    using Notify =
        std::function<void(std::string_view method, const Json& params, std::string_view attachment)>;

    // `unsent`: how many bytes wait for the caller to read.
    Reply(Done done, Notify notify, Caller caller, std::function<std::size_t()> unsent = {});

    void finish(Result<Json> result);
    void finish(api::Answer answer);
    void refuse(Error error);
    // Tells the caller something, also after the answer; nothing if it is gone.
    void notify(std::string_view method, const Json& params, std::string_view attachment = {}) const;
    std::size_t unsent() const;

    // Called at most once, when the client cancels. The handler then answers "cancelled" as soon as it can.
    void onCancel(std::function<void()> action);
    // Does that, from elsewhere and without keeping the request alive.
    std::function<void()> canceller() const;

    const Caller& caller() const;
    // Where the request came on; only while its handler is being called, and never for an op.
    Connection* connection() const;
    void setConnection(Connection* connection);
    // A mutation's op. `isResumed`: an earlier daemon began this very op and died; what it did may be done.
    const std::string& op() const;
    bool isResumed() const;
    void setOp(std::string op, bool resumed);

private:
    struct Shared;
    std::shared_ptr<Shared> m_shared;
};

} // namespace gb::service
