// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <QFrame>

#include <backend/api/client.h>

namespace gb::ui {

// What is alive, each with its cost and a way to stop it; opens below the header.
class AlivePopup final : public QFrame
{
    Q_OBJECT

public:
    AlivePopup(api::Client& client, QWidget* over);

    void openBelow(QWidget* anchor);
};

} // namespace gb::ui
