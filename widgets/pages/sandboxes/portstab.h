// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <QTimer>

#include "sandboxtab.h"

class QLabel;
class QLineEdit;
class QVBoxLayout;

namespace gb::ui {

class Banner;
class Meter;

// Ports inside that can be reached from here, and what the sandbox uses.
class PortsTab final : public SandboxTab
{
    Q_OBJECT

public:
    explicit PortsTab(api::Client& client, QWidget* parent = nullptr);

protected:
    void changed(bool other) override;
    void activated() override;

private:
    void load();
    void showPorts(const Json& ports);
    void open();

    Banner* m_banner = nullptr;
    QLineEdit* m_port = nullptr;
    QVBoxLayout* m_rows = nullptr;
};

class MetersTab final : public SandboxTab
{
    Q_OBJECT

public:
    explicit MetersTab(api::Client& client, QWidget* parent = nullptr);

protected:
    void changed(bool other) override;
    void activated() override;

private:
    void ask();
    void take(const Json& reading);

    QTimer m_next;
    std::int64_t m_cpuMs = -1;
    std::int64_t m_at = 0;
    QLabel* m_note = nullptr;
    Meter *m_cpu = nullptr, *m_memory = nullptr, *m_disk = nullptr, *m_processes = nullptr;
};

} // namespace gb::ui
