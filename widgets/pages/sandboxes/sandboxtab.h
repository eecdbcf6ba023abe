// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <QWidget>

#include <backend/api/client.h>

namespace gb::ui {

// One tab of a sandbox that was started. It works only while it is in front and its sandbox is ready.
class SandboxTab : public QWidget
{
    Q_OBJECT

public:
    explicit SandboxTab(api::Client& client, QWidget* parent = nullptr)
        : QWidget(parent), m_client(client) { }

    void show(const std::string& sandbox, bool ready)
    {
        if (sandbox == m_sandbox && ready == m_ready)
            return;
        const bool other = sandbox != m_sandbox;
        m_sandbox = sandbox;
        m_ready = ready;
        changed(other);
    }
    void setActive(bool active)
    {
        m_active = active;
        activated();
    }
    virtual void find() { }

Q_SIGNALS:
    void placeRequested(const QString& page, const QString& place);

protected:
    virtual void changed(bool other) = 0;
    virtual void activated() { }
    bool isLive() const { return m_ready && m_active && !m_sandbox.empty(); }

    api::Client& m_client;
    std::string m_sandbox;
    bool m_ready = false;
    bool m_active = false;
};

} // namespace gb::ui
