// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

#include "machinecard.h"

#include <algorithm>

#include <QClipboard>
#include <QGuiApplication>
#include <QHBoxLayout>

#include <widgets/controls/buttons.h>
#include <widgets/controls/errortext.h>
#include <widgets/controls/frames.h>
#include <widgets/controls/icons.h>
#include <widgets/controls/labels.h>
#include <widgets/controls/theme.h>
#include <widgets/itemmodels/fields.h>
#include <widgets/itemmodels/machinefindings.h>

#include "text.h"

namespace gb::ui {
namespace {

constexpr int machineFindings = 4;

int severity(const Json& check)
{
    const auto state = stringOr(check, "state");
    return state == "failed" ? 0 : state == "warning" ? 1 : 2;
}

} // namespace

MachineCard::MachineCard(std::shared_ptr<MachineFindings> findings, QWidget* parent)
    : QFrame(parent), m_findings(std::move(findings))
{
    setProperty("gbFrame", QStringLiteral("card"));
    m_rows = new QVBoxLayout(this);
    m_rows->setContentsMargins(space::l, space::m, space::l, space::m);
    m_rows->setSpacing(space::m);
    m_rows->addWidget(makeLabel(HomeText::tr("Checking this machine…"), TextRole::Secondary));
    connect(m_findings.get(), &MachineFindings::changed, this, &MachineCard::show);
    connect(&Theme::instance(), &Theme::changed, this, &MachineCard::show);
    show();
}

void MachineCard::show()
{
    if (m_findings->error())
        showFailure(*m_findings->error());
    else if (m_findings->checks().is_array())
        showChecks(m_findings->checks());
}

void MachineCard::showFailure(const Error& error)
{
    clearLayout(m_rows);
    auto* sentence = makeLabel(
        HomeText::tr("The check did not finish. %1").arg(errorSentence(error)), TextRole::Secondary);
    sentence->setWordWrap(true);
    auto* again = makeButton(HomeText::tr("Check again"), ButtonKind::Normal, QStringLiteral("refresh"));
    connect(again, &QPushButton::clicked, this, [this] { m_findings->look(true); });
    m_rows->addWidget(sentence);
    m_rows->addWidget(again, 0, Qt::AlignLeft);
}

void MachineCard::showChecks(const Json& checks)
{
    clearLayout(m_rows);
    std::vector<Json> sorted;
    for (const auto& check : checks)
        if (check.is_object())
            sorted.push_back(check);
    std::ranges::stable_sort(sorted, {}, severity);
    const auto bad = std::ranges::count_if(sorted, [](const Json& check) { return severity(check) < 2; });
    const auto fine = static_cast<int>(sorted.size() - static_cast<std::size_t>(bad));
    int shown = 0;
    for (const auto& check : sorted)
        if (m_allShown || (severity(check) < 2 && shown < machineFindings)) {
            m_rows->addWidget(finding(check));
            ++shown;
        }
    auto* foot = new QHBoxLayout;
    auto* mark = new QLabel;
    mark->setPixmap(iconPixmap(bad ? QStringLiteral("info") : QStringLiteral("success"), 20,
        bad ? tokens().secondary : tokens().success, devicePixelRatioF()));
    foot->addWidget(mark);
    foot->addWidget(new ElidedLabel(bad ? HomeText::tr("%n check(s) in order", nullptr, fine)
                                        : HomeText::tr("Everything is in order."),
                        TextRole::Secondary),
        1);
    auto* all = makeButton(
        m_allShown ? HomeText::tr("Show problems only") : HomeText::tr("Show all"), ButtonKind::Link);
    connect(all, &QPushButton::clicked, this, [this] {
        m_allShown = !m_allShown;
        show();
    });
    foot->addWidget(all);
    m_rows->addLayout(foot);
}

QWidget* MachineCard::finding(const Json& check)
{
    const auto level = severity(check);
    const auto tone = level == 0 ? Tone::Error : level == 1 ? Tone::Warning : Tone::Success;
    auto* mark = new QLabel;
    mark->setPixmap(iconPixmap(level == 0 ? QStringLiteral("error")
            : level == 1                  ? QStringLiteral("warning")
                                          : QStringLiteral("success"),
        20, toneColor(tokens(), tone), devicePixelRatioF()));
    mark->setAccessibleName(textField(check, "state"));
    auto* title = new ElidedLabel(textField(check, "title"), TextRole::Strong);
    auto* widget = new QWidget;
    auto* words = new QVBoxLayout;
    words->setSpacing(2);
    words->addWidget(title);
    if (const auto meaning = textField(check, level < 2 ? "meaning" : "detail"); !meaning.isEmpty()) {
        auto* label = makeLabel(meaning, TextRole::Secondary);
        label->setWordWrap(true);
        words->addWidget(label);
    }
    if (const auto fix = textField(check, "fix"); !fix.isEmpty() && level < 2) {
        auto* line = new QHBoxLayout;
        auto* command = new ElidedLabel(fix, TextRole::Mono);
        auto* copy = makeIconButton(QStringLiteral("copy"), HomeText::tr("Copy the fix"));
        connect(copy, &QToolButton::clicked, this, [this, fix] {
            QGuiApplication::clipboard()->setText(fix);
            Q_EMIT copied(fix);
        });
        line->addWidget(command, 1);
        line->addWidget(copy);
        words->addLayout(line);
    }
    auto* row = new QHBoxLayout(widget);
    row->setContentsMargins(0, 0, 0, 0);
    row->setSpacing(space::s);
    row->addWidget(mark, 0, Qt::AlignTop);
    row->addLayout(words, 1);
    return widget;
}

} // namespace gb::ui
