// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <memory>

#include <QFrame>

#include <backend/base/error.h>
#include <backend/base/json.h>

class QVBoxLayout;

namespace gb::ui {

class MachineFindings;

// The doctor's findings, worst first; what is fine is one line.
class MachineCard final : public QFrame
{
    Q_OBJECT

public:
    explicit MachineCard(std::shared_ptr<MachineFindings> findings, QWidget* parent = nullptr);

Q_SIGNALS:
    void copied(const QString& command);

private:
    void show();
    void showChecks(const Json& checks);
    void showFailure(const Error& error);
    QWidget* finding(const Json& check);

    std::shared_ptr<MachineFindings> m_findings;
    QVBoxLayout* m_rows = nullptr;
    bool m_allShown = false;
};

} // namespace gb::ui
