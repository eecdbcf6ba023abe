// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

#include "ratelimit.h"

#include <QComboBox>
#include <QHBoxLayout>

#include <widgets/controls/labels.h>
#include <widgets/controls/numbers.h>
#include <widgets/controls/theme.h>
#include <widgets/itemmodels/fields.h>

#include "text.h"

namespace gb::ui {
namespace {

constexpr const char* rateKey = "models.bytes_per_second";

QString rateChoice(std::int64_t bytesPerSecond)
{
    return bytesPerSecond > 0 ? rateText(static_cast<double>(bytesPerSecond)) : ModelsText::tr("no limit");
}

} // namespace

RateLimit::RateLimit(api::Client& client, QWidget* parent) : QWidget(parent), m_client(client)
{
    m_choice = new QComboBox;
    m_choice->setObjectName(QStringLiteral("rate"));
    m_choice->setAccessibleName(ModelsText::tr("Limit of all downloads together"));
    m_choice->setToolTip(m_choice->accessibleName());
    m_choice->setSizeAdjustPolicy(QComboBox::AdjustToContents);
    auto* line = new QHBoxLayout(this);
    line->setContentsMargins(0, 0, 0, 0);
    line->setSpacing(space::s);
    line->addWidget(makeLabel(ModelsText::tr("Limit"), TextRole::Secondary));
    line->addWidget(m_choice);
    show(0);
    connect(m_choice, &QComboBox::activated, this, [this] { set(m_choice->currentData().toLongLong()); });
    connect(&m_client, &api::Client::connected, this, &RateLimit::ask);
    if (m_client.state() == api::Client::State::Connected)
        ask();
}

void RateLimit::show(std::int64_t bytesPerSecond)
{
    std::vector<std::int64_t> rates = {
        0, 1'000'000, 5'000'000, 10'000'000, 25'000'000, 50'000'000, 100'000'000};
    // The settings take any number.
    if (const auto place = std::ranges::lower_bound(rates, bytesPerSecond);
        place == rates.end() || *place != bytesPerSecond)
        rates.insert(place, bytesPerSecond);
    m_choice->clear();
    for (const auto rate : rates)
        m_choice->addItem(rateChoice(rate), static_cast<qint64>(rate));
    m_choice->setCurrentText(rateChoice(bytesPerSecond));
}

void RateLimit::ask()
{
    m_client.call(this, "settings.get", {{"key", rateKey}}, [this](Result<api::Answer> answer) {
        if (answer)
            show(integerOr(answer->body, "value"));
    });
}

void RateLimit::set(std::int64_t bytesPerSecond)
{
    const Json params = {{"key", rateKey}, {"value", bytesPerSecond}};
    m_client.call(this, "settings.set", params, [this](Result<api::Answer> answer) {
        if (answer)
            return;
        Q_EMIT refused(answer.error());
        ask();
    });
}

} // namespace gb::ui
