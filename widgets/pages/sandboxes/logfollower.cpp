// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

#include "logfollower.h"

#include <widgets/controls/ansi.h>

namespace gb::ui {
namespace {

constexpr int logPauseMs = 250;
constexpr int logChunk = 256 * 1024;
constexpr qsizetype keptTail = 16 * 1024;

} // namespace

LogFollower::LogFollower(api::Client& client, QObject* parent) : QObject(parent), m_client(client)
{
    m_next.setSingleShot(true);
    m_next.setInterval(logPauseMs);
    connect(&m_next, &QTimer::timeout, this, &LogFollower::readOn);
}

void LogFollower::follow(const std::string& sandbox)
{
    if (sandbox == m_sandbox)
        return;
    m_sandbox = sandbox;
    m_offset = 0;
    m_tail.clear();
    Q_EMIT began();
    readOn();
}

void LogFollower::setActive(bool active)
{
    m_active = active;
    if (active)
        readOn();
}

void LogFollower::readOn()
{
    if (m_sandbox.empty() || m_asking)
        return;
    m_asking = true;
    const Json params{{"sandbox", m_sandbox}, {"offset", m_offset}, {"limit", logChunk}};
    m_client.call(this, "sandboxes.log", params, [this, asked = m_sandbox](Result<api::Answer> answer) {
        m_asking = false;
        if (asked != m_sandbox)
            return readOn();
        if (!answer) {
            if (m_active)
                m_next.start();
            return;
        }
        const auto bytes = QByteArray::fromStdString(stringOr(answer->body, "text"));
        const auto next = integerOr(answer->body, "next");
        const bool more = next < integerOr(answer->body, "size") && next > m_offset;
        m_offset = next;
        m_tail = (m_tail + bytes).right(keptTail);
        if (!bytes.isEmpty())
            Q_EMIT arrived(bytes);
        if (more)
            readOn();
        else if (m_active)
            m_next.start();
    });
}

QString LogFollower::lastLines(int count) const
{
    // Without colours: it is shown as plain text.
    std::string plain;
    AnsiParser parser;
    for (const auto& piece : parser.feed({m_tail.constData(), static_cast<std::size_t>(m_tail.size())}))
        plain += piece.text;
    auto lines = QString::fromStdString(plain).split(QLatin1Char('\n'), Qt::SkipEmptyParts);
    return lines.mid(qMax<qsizetype>(0, lines.size() - count)).join(QLatin1Char('\n'));
}

} // namespace gb::ui
