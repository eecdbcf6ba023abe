// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <optional>

#include <QObject>

#include <backend/api/client.h>

namespace gb::ui {

// What the doctor says of this machine, looked for once for everybody in the window: looking starts every
// Python there is.
class MachineFindings final : public QObject
{
    Q_OBJECT

public:
    explicit MachineFindings(api::Client& client);

    // Looks unless somebody already has; `again` looks in any case. One look at a time.
    void look(bool again = false);
    const Json& checks() const { return m_checks; } // null until the first answer
    const std::optional<Error>& error() const { return m_error; } // of the last look
    bool settled() const { return !m_looking && (m_checks.is_array() || m_error); }

Q_SIGNALS:
    void changed();

private:
    void end(Result<Json> job);

    api::Client& m_client;
    Json m_checks;
    std::optional<Error> m_error;
    bool m_looking = false;
};

} // namespace gb::ui
