// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

#include "logtab.h"

#include <QVBoxLayout>

#include <widgets/controls/logview.h>
#include <widgets/controls/tokens.h>

#include "logfollower.h"

namespace gb::ui {

LogTab::LogTab(api::Client& client, QWidget* parent)
    : SandboxTab(client, parent), m_view(new LogView), m_follower(new LogFollower(client, this))
{
    auto* layout = new QVBoxLayout(this);
    layout->setContentsMargins(space::m, space::m, space::m, space::m);
    layout->addWidget(m_view);
    connect(m_follower, &LogFollower::began, m_view, &LogView::clear);
    connect(m_follower, &LogFollower::arrived, this, [this](const QByteArray& bytes) {
        m_view->append({bytes.constData(), static_cast<std::size_t>(bytes.size())});
    });
}

void LogTab::find()
{
    m_view->find();
}

void LogTab::changed(bool)
{
    m_follower->follow(m_sandbox);
    activated();
}

void LogTab::activated()
{
    m_follower->setActive(isLive());
    m_follower->readOn();
}

} // namespace gb::ui
