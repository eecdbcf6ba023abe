// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

#include "headerbar.h"

#include <QHBoxLayout>
#include <QLabel>
#include <QMenu>

#include <widgets/controls/buttons.h>
#include <widgets/controls/icons.h>
#include <widgets/controls/labels.h>
#include <widgets/controls/numbers.h>
#include <widgets/controls/statepill.h>
#include <widgets/controls/theme.h>
#include <widgets/itemmodels/livestate.h>

#include "text.h"

namespace gb::ui {

HeaderBar::HeaderBar(api::Client& client, QWidget* parent) : QFrame(parent), m_client(client)
{
    setProperty("gbFrame", QStringLiteral("bar"));
    m_experiment = makeButton(ShellText::tr("No experiment"), ButtonKind::Normal, QStringLiteral("folder"));
    m_experiment->setProperty("gbMenu", true);
    m_experiment->setMaximumWidth(320);
    m_menu = new QMenu(m_experiment);
    m_experiment->setMenu(m_menu);
    m_state = new StatePill;
    m_cost = makeLabel({}, TextRole::Secondary);
    m_cost->setToolTip(ShellText::tr("Cost so far of what is alive"));
    m_search = makeButton(ShellText::tr("Search or run…"), ButtonKind::Normal, QStringLiteral("search"));
    m_search->setToolTip(ShellText::tr("Every page, action and experiment (Ctrl+K)"));
    connect(m_search, &QPushButton::clicked, this, &HeaderBar::paletteRequested);
    m_bell = makeIconButton(QStringLiteral("bell"), ShellText::tr("Notifications"));
    m_bell->setToolButtonStyle(Qt::ToolButtonTextBesideIcon);
    connect(m_bell, &QToolButton::clicked, this, &HeaderBar::notificationsRequested);
    m_layout = new QHBoxLayout(this);
    m_layout->setContentsMargins(space::m, space::s, space::m, space::s);
    m_layout->setSpacing(space::m);
    m_layout->addWidget(m_experiment);
    auto* alive = makeIconButton(QStringLiteral("chevron-down"), ShellText::tr("What is alive"));
    connect(alive, &QToolButton::clicked, this, &HeaderBar::aliveRequested);
    m_layout->addWidget(m_state);
    m_layout->addWidget(alive);
    m_layout->addWidget(m_cost);
    m_layout->addStretch();
    m_layout->addWidget(m_search);
    m_layout->addWidget(m_bell);
    setRecent({});
    setUnread(0);
    showState();
    connect(&m_client, &api::Client::stateChanged, this, &HeaderBar::showState);
}

void HeaderBar::setExperiment(const QString& name, const QString& folder)
{
    m_experiment->setText(m_experiment->fontMetrics().elidedText(name, Qt::ElideRight, 240));
    m_experiment->setToolTip(folder.toHtmlEscaped());
    m_experiment->setAccessibleName(ShellText::tr("Experiment %1").arg(name));
}

void HeaderBar::setRecent(const QList<QPair<QString, QString>>& nameAndFolder)
{
    m_menu->clear();
    for (const auto& [name, folder] : nameAndFolder) {
        auto* action = m_menu->addAction(icon(QStringLiteral("folder")), name);
        action->setToolTip(folder);
        connect(
            action, &QAction::triggered, this, [this, path = folder] { Q_EMIT experimentRequested(path); });
    }
    if (!nameAndFolder.isEmpty())
        m_menu->addSeparator();
    m_menu->addAction(
        icon(QStringLiteral("plus")), ShellText::tr("New experiment…"), this, &HeaderBar::newRequested);
    m_menu->addAction(
        icon(QStringLiteral("folder")), ShellText::tr("Open folder…"), this, &HeaderBar::openRequested);
}

void HeaderBar::setUnread(int count)
{
    m_bell->setText(count > 0 ? QString::number(count) : QString());
    m_bell->setAccessibleName(
        count > 0 ? ShellText::tr("%n new notification(s)", nullptr, count) : ShellText::tr("Notifications"));
}

QWidget* HeaderBar::bell() const
{
    return m_bell;
}

QWidget* HeaderBar::state() const
{
    return m_state;
}

void HeaderBar::showState()
{
    const auto alive = aliveItems(m_client);
    double cost = 0;
    double perHour = 0;
    bool failed = false;
    for (const auto& item : alive) {
        cost += item.cost;
        perHour += item.costPerHour;
        failed |= item.state == QLatin1String("failed");
    }
    const auto count = static_cast<int>(alive.size());
    if (alive.isEmpty())
        m_state->setState(ShellText::tr("nothing alive"), Tone::Neutral);
    else
        m_state->setState(
            ShellText::tr("%1 alive").arg(count), failed ? Tone::Error : Tone::Success, alive.first().since);
    m_cost->setText(
        perHour > 0 ? ShellText::tr("%1 · %2/h").arg(moneyText(cost), moneyText(perHour)) : moneyText(cost));
}

} // namespace gb::ui
