// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

#include "alivecard.h"

#include <QHBoxLayout>
#include <QPointer>

#include <widgets/controls/banner.h>
#include <widgets/controls/buttons.h>
#include <widgets/controls/frames.h>
#include <widgets/controls/icons.h>
#include <widgets/controls/labels.h>
#include <widgets/controls/numbers.h>
#include <widgets/controls/statepill.h>
#include <widgets/controls/theme.h>
#include <widgets/itemmodels/livestate.h>

#include "text.h"

namespace gb::ui {
namespace {

constexpr int aliveRows = 8;

QString aliveIcon(AliveItem::Kind kind)
{
    switch (kind) {
    case AliveItem::Kind::Sandbox:
        return QStringLiteral("sandbox");
    case AliveItem::Kind::Interface:
        return QStringLiteral("inspector");
    case AliveItem::Kind::Run:
        return QStringLiteral("runs");
    case AliveItem::Kind::Job:
        return QStringLiteral("download");
    }
    return {};
}

} // namespace

AliveCard::AliveCard(api::Client& client, QWidget* parent) : QFrame(parent), m_client(client)
{
    setProperty("gbFrame", QStringLiteral("card"));
    m_rows = new QVBoxLayout(this);
    m_rows->setContentsMargins(space::l, space::m, space::l, space::m);
    m_rows->setSpacing(space::s);
    m_soon.setSingleShot(true);
    m_soon.setInterval(0);
    connect(&m_soon, &QTimer::timeout, this, &AliveCard::showItems);
    connect(&m_client, &api::Client::stateChanged, &m_soon, qOverload<>(&QTimer::start));
    connect(&Theme::instance(), &Theme::changed, this, [this] {
        m_shown.clear();
        m_soon.start();
    });
    showItems();
}

void AliveCard::showItems()
{
    const auto items = aliveItems(m_client);
    QString key = QStringLiteral("-");
    for (const auto& item : items)
        key += item.id + item.state + item.title + moneyText(item.cost) + QLatin1Char('\n');
    if (key == m_shown)
        return;
    m_shown = key;
    clearLayout(m_rows);
    if (items.isEmpty()) {
        auto* nothing =
            makeLabel(HomeText::tr("Nothing is running, and nothing costs anything."), TextRole::Secondary);
        nothing->setWordWrap(true);
        m_rows->addWidget(nothing);
        return;
    }
    int shown = 0;
    for (const auto& item : items) {
        if (shown++ == aliveRows) {
            m_rows->addWidget(
                makeLabel(HomeText::tr("and %1 more").arg(items.size() - aliveRows), TextRole::Caption));
            break;
        }
        auto* icon = new QLabel;
        icon->setPixmap(iconPixmap(aliveIcon(item.kind), 20, tokens().secondary, devicePixelRatioF()));
        auto* pill = new StatePill;
        pill->setState(item.state, StatePill::toneOf(item.state), item.since);
        auto* row = new QHBoxLayout;
        row->setSpacing(space::s);
        row->addWidget(icon);
        row->addWidget(new ElidedLabel(item.title), 1);
        if (item.cost > 0 || item.costPerHour > 0)
            row->addWidget(makeLabel(moneyText(item.cost), TextRole::Caption));
        row->addWidget(pill);
        if (item.stoppable) {
            auto* stop = makeIconButton(QStringLiteral("stop"), HomeText::tr("Stop %1").arg(item.title));
            connect(stop, &QToolButton::clicked, this, [this, item, button = QPointer<QToolButton>(stop)] {
                button->setEnabled(false);
                stopItem(m_client, this, item, [button](Status status) {
                    if (!status && button) {
                        button->setEnabled(true);
                        button->setToolTip(QString::fromStdString(status.error().message));
                    }
                });
            });
            row->addWidget(stop);
        }
        m_rows->addLayout(row);
    }
}

} // namespace gb::ui
