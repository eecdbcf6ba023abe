// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <QFrame>
#include <QTimer>

#include <backend/api/client.h>

class QVBoxLayout;

namespace gb::ui {

// What is alive right now, with its cost so far and a way to stop it.
class AliveCard final : public QFrame
{
    Q_OBJECT

public:
    explicit AliveCard(api::Client& client, QWidget* parent = nullptr);

private:
    void showItems();

    api::Client& m_client;
    QVBoxLayout* m_rows = nullptr;
    QTimer m_soon;
    QString m_shown; // what is on screen, to leave it alone while nothing changed
};

} // namespace gb::ui
