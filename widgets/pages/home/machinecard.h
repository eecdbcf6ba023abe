// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <QFrame>

#include <backend/api/client.h>

class QVBoxLayout;

namespace gb::ui {

// The doctor's findings, worst first; what is fine is one line.
class MachineCard final : public QFrame
{
    Q_OBJECT

public:
    explicit MachineCard(api::Client& client, QWidget* parent = nullptr);

    void check();
    void showChecks(const Json& checks);
    bool settled() const { return m_settled; }

Q_SIGNALS:
    void copied(const QString& command);

private:
    void showFailure(const Error& error);
    QWidget* finding(const Json& check);

    api::Client& m_client;
    QVBoxLayout* m_rows = nullptr;
    bool m_settled = false;
    bool m_allShown = false;
    Json m_checks;
};

} // namespace gb::ui
