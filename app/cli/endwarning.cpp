// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

#include "endwarning.h"

#include <algorithm>

#include <backend/base/clock.h>
#include <backend/base/shellword.h>

#include "command.h"

namespace gb::cli {

EndWarning::EndWarning(Session& session, std::string sandbox, const Console& console, Screen screen)
    : m_session(session), m_sandbox(std::move(sandbox)), m_console(console), m_screen(screen)
{
    QObject::connect(&session.client(), &api::Client::stateChanged, &m_guard, [this](const QString& topic) {
        if (topic == QLatin1String("sandboxes"))
            look();
    });
    session.client().watch({"sandboxes"});
}

void EndWarning::look()
{
    constexpr std::int64_t nsPerMs = 1'000'000;
    for (const auto& [id, item] : m_session.client().items("sandboxes").items()) {
        const std::string name = stringOr(item, "name");
        if (name != m_sandbox && !id.starts_with(m_sandbox))
            continue;
        const bool isEnding = boolOr(item, "ending");
        if (isEnding && !m_hasTold) {
            const std::int64_t left = std::max<std::int64_t>(0, integerOr(item, "ends_at") - wallMs());
            const std::string text = "glovebox: " + printable(name) + " ends in " + duration(left * nsPerMs)
                + "; longer: glovebox sandbox extend " + shellWord(printable(name)) + " 30m";
            m_console.note(m_screen == Screen::Raw ? "\r\n" + text + "\r" : text);
        }
        m_hasTold = isEnding; // moved ends warn again
    }
}

} // namespace gb::cli
