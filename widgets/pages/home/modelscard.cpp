// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

#include "modelscard.h"

#include <algorithm>

#include <QHBoxLayout>

#include <widgets/controls/buttons.h>
#include <widgets/controls/emptystate.h>
#include <widgets/controls/errortext.h>
#include <widgets/controls/labels.h>
#include <widgets/controls/numbers.h>
#include <widgets/controls/theme.h>
#include <widgets/itemmodels/fields.h>

#include "rows.h"
#include "text.h"

namespace gb::ui {
namespace {

constexpr int fewestModels = 4;

} // namespace

ModelsCard::ModelsCard(api::Client& client, QWidget* parent) : QFrame(parent), m_client(client)
{
    setProperty("gbFrame", QStringLiteral("card"));
    m_empty = new EmptyState(QStringLiteral("models"), HomeText::tr("No models yet"),
        HomeText::tr("A model that is fetched once is there for every experiment."));
    m_empty->hide();
    m_rows = new FittingRows(fewestModels);
    m_room = new ElidedLabel(HomeText::tr("Looking…"), TextRole::Secondary);
    m_all = makeButton(HomeText::tr("All models"), ButtonKind::Link);
    connect(m_all, &QPushButton::clicked, this, [this] { Q_EMIT chosen({}); });
    auto* foot = new QHBoxLayout;
    foot->setContentsMargins(space::s, 0, 0, 0);
    foot->addWidget(m_room, 1);
    foot->addWidget(m_all);
    auto* layout = new QVBoxLayout(this);
    layout->setContentsMargins(space::s, space::s, space::s, space::s);
    layout->setSpacing(space::xs);
    layout->addWidget(m_empty, 1);
    layout->addWidget(m_rows, 1);
    layout->addLayout(foot);
}

void ModelsCard::refresh()
{
    m_client.call(this, "models.ls", Json::object(), [this](const Result<api::Answer>& answer) {
        if (answer)
            showModels(answer->body);
        else
            m_room->setElidedText(errorSentence(answer.error()));
    });
}

void ModelsCard::showModels(const Json& cache)
{
    std::vector<Json> models;
    for (const auto& model : cache.value("models", Json::array()))
        if (model.is_object())
            models.push_back(model);
    std::ranges::stable_sort(
        models, std::greater(), [](const Json& model) { return timeField(model, "last_used"); });
    QList<QWidget*> rows;
    for (const auto& model : models) {
        const auto name = textField(model, "repo");
        auto* row = new RowButton(HomeText::tr("Show %1").arg(name));
        connect(row, &RowButton::clicked, this, [this, name] { Q_EMIT chosen(name); });
        row->line()->addWidget(new ElidedLabel(name), 1);
        row->line()->addWidget(makeLabel(bytesText(numberOr(model, "bytes")), TextRole::Caption));
        rows += row;
    }
    m_rows->setRows(rows);
    m_rows->setVisible(!rows.isEmpty());
    m_empty->setVisible(rows.isEmpty());
    const auto free = bytesText(numberOr(cache, "free"));
    m_room->setElidedText(rows.isEmpty()
            ? HomeText::tr("%1 free").arg(free)
            : HomeText::tr("%1 in all; %2 free").arg(bytesText(numberOr(cache, "bytes")), free));
    m_all->setText(rows.isEmpty() ? HomeText::tr("Fetch a model") : HomeText::tr("All models"));
}

} // namespace gb::ui
