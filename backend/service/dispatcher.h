// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <backend/api/channel.h>
#include <backend/api/methods.h>
#include <backend/store/store.h>

#include "binder.h"
#include "connection.h"

namespace gb::service {

// From a request to its handler: hello first, then the method table, then the op.
//
// An op is recorded durably before its handler runs, and its outcome after it. So a repeat finds the first
// outcome; one that comes while the first is still running waits with it; and one whose first was cut short
// by the daemon's death runs again with Reply::isResumed(), for the handler to find out what had been done.
class Dispatcher : public QObject
{
    Q_OBJECT

public:
    Dispatcher(Store* store, QObject* parent = nullptr);

    Binder& binder() { return m_binder; }
    // What a method wants to find again if the daemon dies in the middle; recorded with the op.
    void setIntent(std::string_view method, std::function<std::string(const Json& params)> data);

    void dispatch(Connection* connection, const api::Incoming& request);
    int openOps() const { return static_cast<int>(m_ops.size()); }

private:
    struct Op
    {
        std::vector<Reply> waiting; // all who asked; the first is the one that began it
        std::string method;
        std::string digest;
    };
    using Handler = Binder::Handler;

    void beginOp(const api::Method& method, Json params, std::string attachment, Reply reply);
    void onBegun(const std::string& op, OpBegun begun, Handler handler, Json params, std::string attachment);
    void runOp(const std::string& op, bool resumed, const Handler& handler, const Json& params,
        std::string attachment);
    void onOutcome(const std::string& op, const Result<api::Answer>& outcome);
    void answerAll(const std::string& op, const Result<api::Answer>& outcome);

    Store* m_store;
    Binder m_binder;
    std::map<std::string, std::function<std::string(const Json&)>, std::less<>> m_intents;
    std::map<std::string, Op> m_ops;
};

} // namespace gb::service
