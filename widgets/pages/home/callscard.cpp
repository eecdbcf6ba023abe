// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

#include "callscard.h"

#include <QHBoxLayout>

#include <backend/base/clock.h>
#include <widgets/controls/buttons.h>
#include <widgets/controls/frames.h>
#include <widgets/controls/icons.h>
#include <widgets/controls/labels.h>
#include <widgets/controls/numbers.h>
#include <widgets/controls/statepill.h>
#include <widgets/controls/theme.h>
#include <widgets/itemmodels/callsitemmodel.h>

#include "text.h"

namespace gb::ui {
namespace {

constexpr int callRows = 12;
constexpr int callsSettleMs = 500; // an agent calls often

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
    m_rows = new QVBoxLayout(this);
    m_rows->setContentsMargins(space::l, space::s, space::l, space::s);
    m_rows->setSpacing(space::xs);
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
    clearLayout(m_rows);
    for (const auto& call : calls)
        m_rows->addWidget(row(call));
    if (!calls.empty())
        return;
    auto* nothing =
        makeLabel(HomeText::tr("Calls by you, by scripts and by agents appear here as they are made."),
            TextRole::Secondary);
    nothing->setWordWrap(true);
    m_rows->addWidget(nothing);
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
    auto* open = makeIconButton(
        QStringLiteral("chevron-right"), HomeText::tr("Show this call of %1").arg(call.function));
    connect(open, &QToolButton::clicked, this, [this, id = call.id] { Q_EMIT chosen(id); });
    auto* widget = new QWidget;
    auto* line = new QHBoxLayout(widget);
    line->setContentsMargins(0, 0, 0, 0);
    line->setSpacing(space::s);
    line->addWidget(mark);
    line->addWidget(function, 2);
    line->addWidget(result, 4);
    line->addWidget(makeLabel(call.callerKind, TextRole::Caption));
    auto* when = makeLabel(agoText(call.at, wallMs()), TextRole::Caption);
    when->setToolTip(exactTimeText(call.at));
    line->addWidget(when);
    line->addWidget(open);
    return widget;
}

} // namespace gb::ui
