// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "sandboxtab.h"

namespace gb::ui {

class LogFollower;
class LogView;

// How the sandbox was started.
class LogTab final : public SandboxTab
{
    Q_OBJECT

public:
    explicit LogTab(api::Client& client, QWidget* parent = nullptr);
    void find() override;
    LogView* view() const { return m_view; }

protected:
    void changed(bool other) override;
    void activated() override;

private:
    LogView* m_view = nullptr;
    LogFollower* m_follower = nullptr;
};

} // namespace gb::ui
