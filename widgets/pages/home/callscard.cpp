// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

#include "callscard.h"

#include <QHBoxLayout>

#include <backend/base/clock.h>
#include <widgets/controls/buttons.h>
#include <widgets/controls/emptystate.h>
#include <widgets/controls/icons.h>
#include <widgets/controls/keyvaluelist.h>
#include <widgets/controls/labels.h>
#include <widgets/controls/numbers.h>
#include <widgets/controls/statepill.h>
#include <widgets/controls/theme.h>
#include <widgets/itemmodels/callsitemmodel.h>

#include "rows.h"
#include "text.h"

namespace gb::ui {
namespace {

constexpr int callRows = 40; // what a high window has room for
constexpr int fewestCalls = 6;
constexpr int callsSettleMs = 500; // an agent calls often
constexpr int commandsWidth = 460;

QString callMark(const CallSummary& call)
{
    if (call.state == QLatin1String("ok"))
        return QStringLiteral("success");
    return call.isRunning() ? QStringLiteral("clock") : QStringLiteral("error");
}

} // namespace

CallsCard::CallsCard(api::Client& client, QWidget* parent) : QFrame(parent), m_client(client)
{
    setProperty("gbFrame", QStringLiteral("card"));
    auto* layout = new QVBoxLayout(this);
    layout->setContentsMargins(space::s, space::s, space::s, space::s);
    m_empty = createEmpty();
    layout->addWidget(m_empty);
    m_full = new QWidget;
    auto* inside = new QVBoxLayout(m_full);
    inside->setContentsMargins(0, 0, 0, 0);
    inside->setSpacing(space::xs);
    m_rows = new FittingRows(fewestCalls);
    inside->addWidget(m_rows, 1);
    auto* all = makeButton(HomeText::tr("All calls"), ButtonKind::Link);
    connect(all, &QPushButton::clicked, this, [this] { Q_EMIT chosen({}); });
    inside->addWidget(all, 0, Qt::AlignRight);
    layout->addWidget(m_full);
    m_soon.setSingleShot(true);
    m_soon.setInterval(callsSettleMs);
    connect(&m_soon, &QTimer::timeout, this, &CallsCard::ask);
    connect(&m_client, &api::Client::stateChanged, this, [this](const QString& topic) {
        if (topic == QLatin1String("runs") && !m_soon.isActive())
            m_soon.start();
    });
    connect(&Theme::instance(), &Theme::changed, this, [this] {
        m_shown.clear();
        m_soon.start();
    });
    showCalls(Json::array());
}

QWidget* CallsCard::createEmpty()
{
    auto* box = new QWidget;
    auto* column = new QVBoxLayout(box);
    column->setContentsMargins(space::m, 0, space::m, space::l);
    column->addStretch(1);
    column->addWidget(new EmptyState(QStringLiteral("inspector"), HomeText::tr("No calls yet"),
        HomeText::tr("Start an example above, or serve a file of yours from a terminal. Calls by you, by "
                     "scripts and by agents appear here as they are made.")));
    auto* commands = new KeyValueList;
    commands->setRows(
        {{HomeText::tr("Serve a file of yours"), QStringLiteral("glovebox serve interface.py"), true},
            {HomeText::tr("Look at the calls"), QStringLiteral("glovebox calls ls"), true},
            {HomeText::tr("Everything else"), QStringLiteral("glovebox help"), true}});
    commands->setMaximumWidth(commandsWidth);
    connect(commands, &KeyValueList::copied, this, &CallsCard::copied);
    auto* line = new QHBoxLayout;
    line->addStretch(1);
    line->addWidget(commands, 100);
    line->addStretch(1);
    column->addLayout(line);
    column->addStretch(2);
    return box;
}

void CallsCard::ask()
{
    m_client.call(this, "calls.list", {{"limit", callRows}}, [this](const Result<api::Answer>& answer) {
        if (answer)
            showCalls(answer->body.value("calls", Json::array()));
    });
}

void CallsCard::showCalls(const Json& calls)
{
    const auto key = "-" + calls.dump(-1, ' ', false, Json::error_handler_t::replace);
    if (key == m_shown)
        return;
    m_shown = key;
    m_times.clear();
    QList<QWidget*> rows;
    for (const auto& call : calls)
        rows += row(call);
    m_rows->setRows(rows);
    m_full->setVisible(!rows.isEmpty());
    m_empty->setVisible(rows.isEmpty());
}

void CallsCard::showTimes()
{
    for (const auto& [label, at] : m_times)
        label->setText(agoText(at, wallMs()));
}

QWidget* CallsCard::row(const Json& json)
{
    const auto call = CallSummary::fromJson(json);
    const auto tone = call.state == QLatin1String("ok") ? Tone::Success : StatePill::toneOf(call.state);
    auto* mark = new QLabel;
    mark->setPixmap(iconPixmap(callMark(call), 16, toneColor(tokens(), tone), devicePixelRatioF()));
    mark->setAccessibleName(call.state);
    auto* function = new ElidedLabel(call.function, TextRole::Strong);
    auto* result = new ElidedLabel(
        QString(call.preview).replace(QLatin1Char('\n'), QLatin1Char(' ')), TextRole::Secondary);
    auto* who = makeLabel(call.callerKind, TextRole::Caption);
    who->setFixedWidth(who->fontMetrics().horizontalAdvance(QStringLiteral("notebook")));
    auto* when = makeLabel(agoText(call.at, wallMs()), TextRole::Caption);
    m_times.append({when, call.at});
    when->setToolTip(exactTimeText(call.at));
    when->setFixedWidth(when->fontMetrics().horizontalAdvance(QStringLiteral("59 min ago  ")));
    when->setAlignment(Qt::AlignRight | Qt::AlignVCenter);
    auto* button = new RowButton(HomeText::tr("Show this call of %1").arg(call.function));
    button->setAccessibleDescription(call.preview);
    connect(button, &RowButton::clicked, this, [this, id = call.id] { Q_EMIT chosen(id); });
    button->line()->addWidget(mark);
    button->line()->addWidget(function, 2);
    button->line()->addWidget(result, 5);
    button->line()->addWidget(who);
    button->line()->addWidget(when);
    return button;
}

} // namespace gb::ui
