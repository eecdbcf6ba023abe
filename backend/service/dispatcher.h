// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <memory>
#include <set>

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
// A method of runAtOnce() does not wait for its op's record, and its handler bears being asked again where
// that was lost.
class Dispatcher : public QObject
{
    Q_OBJECT

public:
    Dispatcher(Store* store, QObject* parent = nullptr);

    Binder& binder() { return m_binder; }
    const Binder& binder() const { return m_binder; }
    // What a method wants to find again if the daemon dies in the middle; recorded with the op.
    void setIntent(std::string_view method, std::function<std::string(const Json& params)> data);

    void runAtOnce(std::string_view method) { m_atOnce.emplace(method); }

    void dispatch(Connection* connection, api::Incoming& request); // moves from it
    int openOps() const { return static_cast<int>(m_ops.size()); }

private:
    struct Op
    {
        std::vector<Reply> waiting; // all who asked; the first is the one that began it
        std::string method;
        std::string digest;
    };
    using Handler = Binder::Handler;

    void beginOp(const api::Method& method, api::Incoming& incoming, Reply reply);
    // A big request must not be copied on its way through the store's callback.
    using RequestPtr = std::shared_ptr<api::Incoming>;
    void onBegun(const std::string& op, OpBegun begun, const Handler& handler, const RequestPtr& request);
    void runOp(const std::string& op, bool resumed, const Handler& handler, const RequestPtr& request);
    void onOutcome(const std::string& op, const Result<api::Answer>& outcome);
    void answerAll(const std::string& op, const Result<api::Answer>& outcome);

    Store* m_store;
    Binder m_binder;
    std::map<std::string, std::function<std::string(const Json&)>, std::less<>> m_intents;
    std::set<std::string, std::less<>> m_atOnce;
    std::map<std::string, Op> m_ops;
};

} // namespace gb::service
