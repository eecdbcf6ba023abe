// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <QFrame>

#include <backend/api/client.h>

class QVBoxLayout;

namespace gb::ui {

// 12 calls · 1 error
QString runOutcome(const Json& run);

// The newest runs with what came of them; one click leads to each.
class LatelyCard final : public QFrame
{
    Q_OBJECT

public:
    explicit LatelyCard(api::Client& client, QWidget* parent = nullptr);

Q_SIGNALS:
    void chosen(const QString& run, bool byAgent);

private:
    void showRuns();

    api::Client& m_client;
    QVBoxLayout* m_rows = nullptr;
    QString m_shown;
};

} // namespace gb::ui
