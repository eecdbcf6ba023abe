// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <QFrame>
#include <QTimer>

#include <backend/api/client.h>

class QVBoxLayout;

namespace gb::ui {

// The newest calls, whoever made them; each leads to where it can be looked at and sent again.
class CallsCard final : public QFrame
{
    Q_OBJECT

public:
    explicit CallsCard(api::Client& client, QWidget* parent = nullptr);
    void refresh() { m_soon.start(); }

Q_SIGNALS:
    void chosen(const QString& call);

private:
    void ask();
    void showCalls(const Json& calls);
    QWidget* row(const Json& call);

    api::Client& m_client;
    QVBoxLayout* m_rows = nullptr;
    QTimer m_soon;
    std::string m_shown;
};

} // namespace gb::ui
