// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

#include "latelycard.h"

#include <algorithm>

#include <QHBoxLayout>

#include <backend/base/clock.h>
#include <widgets/controls/buttons.h>
#include <widgets/controls/frames.h>
#include <widgets/controls/icons.h>
#include <widgets/controls/labels.h>
#include <widgets/controls/numbers.h>
#include <widgets/controls/theme.h>
#include <widgets/itemmodels/fields.h>

#include "text.h"

namespace gb::ui {
namespace {

constexpr std::size_t latelyRows = 6;

} // namespace

QString runOutcome(const Json& run)
{
    const auto calls = integerOr(run, "calls");
    const auto errors = integerOr(run, "errors");
    auto text = HomeText::tr("%n call(s)", nullptr, static_cast<int>(calls));
    if (errors > 0)
        text += QStringLiteral(" · ") + HomeText::tr("%n error(s)", nullptr, static_cast<int>(errors));
    return text;
}

LatelyCard::LatelyCard(api::Client& client, QWidget* parent) : QFrame(parent), m_client(client)
{
    setProperty("gbFrame", QStringLiteral("card"));
    m_rows = new QVBoxLayout(this);
    m_rows->setContentsMargins(space::l, space::m, space::l, space::m);
    m_rows->setSpacing(space::s);
    m_client.watch({"runs"});
    connect(&m_client, &api::Client::stateChanged, this, [this](const QString& topic) {
        if (topic == QLatin1String("runs"))
            showRuns();
    });
    connect(&Theme::instance(), &Theme::changed, this, [this] {
        m_shown.clear();
        showRuns();
    });
    showRuns();
}

void LatelyCard::showRuns()
{
    std::vector<Json> runs;
    if (const auto& items = m_client.items("runs"); items.is_object())
        for (const auto& item : items)
            if (item.is_object() && (integerOr(item, "calls") > 0 || stringOr(item, "kind") == "agent"))
                runs.push_back(item);
    std::ranges::stable_sort(
        runs, std::greater(), [](const Json& run) { return timeField(run, "started_at"); });
    runs.resize(std::min(runs.size(), latelyRows));
    QString key = QStringLiteral("-");
    for (const auto& run : runs)
        key += textField(run, "id") + runOutcome(run) + textField(run, "state");
    if (key == m_shown)
        return;
    m_shown = key;
    clearLayout(m_rows);
    if (runs.empty()) {
        auto* nothing =
            makeLabel(HomeText::tr("No calls yet. Serve an interface file and call one of its functions."),
                TextRole::Secondary);
        nothing->setWordWrap(true);
        m_rows->addWidget(nothing);
    }
    for (const auto& run : runs) {
        const bool byAgent = stringOr(run, "kind") == "agent";
        auto* mark = new QLabel;
        mark->setPixmap(iconPixmap(byAgent ? QStringLiteral("agent") : QStringLiteral("person"), 20,
            tokens().secondary, devicePixelRatioF()));
        const auto title = textField(run, "title");
        auto* open = makeIconButton(QStringLiteral("chevron-right"), HomeText::tr("Show %1").arg(title));
        connect(open, &QToolButton::clicked, this,
            [this, id = textField(run, "id"), byAgent] { Q_EMIT chosen(id, byAgent); });
        auto* row = new QHBoxLayout;
        row->setSpacing(space::s);
        row->addWidget(mark);
        row->addWidget(new ElidedLabel(title), 1);
        row->addWidget(makeLabel(runOutcome(run), TextRole::Caption));
        row->addWidget(makeLabel(agoText(timeField(run, "started_at"), wallMs()), TextRole::Caption));
        row->addWidget(open);
        m_rows->addLayout(row);
    }
}

} // namespace gb::ui
