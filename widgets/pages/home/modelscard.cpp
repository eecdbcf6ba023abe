// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

#include "modelscard.h"

#include <algorithm>
#include <ranges>

#include <QHBoxLayout>

#include <widgets/controls/buttons.h>
#include <widgets/controls/frames.h>
#include <widgets/controls/labels.h>
#include <widgets/controls/numbers.h>
#include <widgets/controls/theme.h>
#include <widgets/itemmodels/fields.h>

#include "text.h"

namespace gb::ui {
namespace {

constexpr std::size_t modelRows = 6;

} // namespace

ModelsCard::ModelsCard(api::Client& client, QWidget* parent) : QFrame(parent), m_client(client)
{
    setProperty("gbFrame", QStringLiteral("card"));
    m_rows = new QVBoxLayout(this);
    m_rows->setContentsMargins(space::l, space::m, space::l, space::m);
    m_rows->setSpacing(space::s);
    m_rows->addWidget(makeLabel(HomeText::tr("Looking…"), TextRole::Secondary));
}

void ModelsCard::refresh()
{
    m_client.call(this, "models.ls", Json::object(),
        [this](const Result<api::Answer>& answer) { showModels(answer ? answer->body : Json::object()); });
}

void ModelsCard::showModels(const Json& cache)
{
    std::vector<Json> models;
    for (const auto& model : cache.value("models", Json::array()))
        if (model.is_object())
            models.push_back(model);
    std::ranges::stable_sort(
        models, std::greater(), [](const Json& model) { return timeField(model, "last_used"); });
    clearLayout(m_rows);
    for (const auto& model : models | std::views::take(modelRows)) {
        const auto name = textField(model, "repo");
        auto* open = makeIconButton(QStringLiteral("chevron-right"), HomeText::tr("Show %1").arg(name));
        connect(open, &QToolButton::clicked, this, [this, name] { Q_EMIT chosen(name); });
        auto* line = new QHBoxLayout;
        line->setSpacing(space::s);
        line->addWidget(new ElidedLabel(name), 1);
        line->addWidget(makeLabel(bytesText(numberOr(model, "bytes")), TextRole::Caption));
        line->addWidget(open);
        m_rows->addLayout(line);
    }
    auto* foot = new QHBoxLayout;
    const auto free = bytesText(numberOr(cache, "free"));
    const auto text = models.empty()
        ? HomeText::tr("None yet; %1 free.").arg(free)
        : HomeText::tr("%1 in all; %2 free.").arg(bytesText(numberOr(cache, "bytes")), free);
    foot->addWidget(new ElidedLabel(text, TextRole::Secondary), 1);
    auto* all = makeButton(
        models.empty() ? HomeText::tr("Fetch a model") : HomeText::tr("All models"), ButtonKind::Link);
    connect(all, &QPushButton::clicked, this, [this] { Q_EMIT chosen({}); });
    foot->addWidget(all);
    m_rows->addLayout(foot);
}

} // namespace gb::ui
