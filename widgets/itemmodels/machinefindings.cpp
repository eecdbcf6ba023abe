// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

#include "machinefindings.h"

#include "livestate.h"

namespace gb::ui {

MachineFindings::MachineFindings(api::Client& client) : m_client(client) { }

void MachineFindings::look(bool again)
{
    if (m_looking || (!again && m_checks.is_array()))
        return;
    m_looking = true;
    m_client.call(this, "doctor.run", Json::object(), [this](Result<api::Answer> answer) {
        if (!answer)
            return end(fail(answer.error()));
        whenJobEnds(
            m_client, this, stringOr(answer->body, "job"), [this](Result<Json> job) { end(std::move(job)); });
    });
}

void MachineFindings::end(Result<Json> job)
{
    m_looking = false;
    m_error.reset();
    if (!job) {
        m_error = job.error();
    } else {
        const auto result = objectOr(*job, "result");
        const auto checks = result.find("checks");
        if (checks != result.end() && checks->is_array())
            m_checks = *checks;
        else
            m_error = Error::fromJson(objectOr(*job, "error"));
    }
    Q_EMIT changed();
}

} // namespace gb::ui
