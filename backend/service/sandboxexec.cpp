// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

#include "sandboxexec.h"

#include <QTimer>

#include "sandboxes.h"

namespace gb::service {
namespace {

// Above this the command's link is not read until the client has caught up.
constexpr std::size_t waitAbove = 4U << 20U;
constexpr int lookAgainMs = 20;

// One command's link. It deletes itself when the command has ended or the keeper is gone.
class CommandFeed final : public QObject
{
public:
    CommandFeed(BoxLink* link, std::string sandbox, Reply reply)
        : m_link(link), m_sandbox(std::move(sandbox)), m_reply(std::move(reply))
    {
        m_link->setParent(this);
        m_look.setInterval(lookAgainMs);
        connect(&m_look, &QTimer::timeout, this, &CommandFeed::resumeIfRead);
        connect(m_link, &BoxLink::notified, this, &CommandFeed::onNotified);
        connect(m_link, &BoxLink::closed, this, [this] { deleteLater(); });
    }

    void start(const Json& body)
    {
        m_link->request("box.exec", body, [this](Result<api::Answer> answer) {
            if (answer)
                return m_reply.finish(std::move(*answer));
            m_reply.refuse(answer.error());
            deleteLater();
        });
    }

private:
    void onNotified(const api::Incoming& one)
    {
        const bool isExit = one.message.method == "box.exit";
        if (!isExit && one.message.method != "box.output")
            return;
        Json body{{"sandbox", m_sandbox}};
        body.update(one.message.body);
        m_reply.notify(isExit ? "sandboxes.exit" : "sandboxes.output", body, one.attachment);
        if (isExit) {
            m_link->disconnect(this);
            m_link->close();
            deleteLater();
        } else if (m_reply.unsent() > waitAbove && !m_look.isActive()) {
            m_link->setReading(false);
            m_look.start();
        }
    }

    void resumeIfRead()
    {
        if (m_reply.unsent() > waitAbove / 2)
            return;
        m_look.stop();
        m_link->setReading(true);
    }

    BoxLink* m_link;
    std::string m_sandbox;
    Reply m_reply;
    QTimer m_look;
};

} // namespace

void runInside(Sandboxes* sandboxes, const std::string& sandbox, Json body, Reply reply)
{
    if (reply.isResumed())
        return reply.refuse(Error{"sandbox.exec_interrupted",
            "the daemon ended while it started this command; it may have run, see sandboxes.commands"});
    const auto record = sandboxes->find(sandbox);
    if (!record)
        return reply.refuse(record.error());
    sandboxes->whenLinked(record->id,
        [sandboxes, id = record->id, body = std::move(body), reply](const Status& linked) mutable {
            if (!linked)
                return reply.refuse(linked.error());
            auto link = sandboxes->openLink(id);
            if (!link)
                return reply.refuse(link.error());
            auto* feed = new CommandFeed(*link, id, std::move(reply));
            feed->setParent(sandboxes);
            feed->start(body);
        });
}

} // namespace gb::service
