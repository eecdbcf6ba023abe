// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

#include "homepage.h"

#include <QDir>
#include <QFile>
#include <QFileDialog>
#include <QGridLayout>
#include <QScrollArea>
#include <QTimer>

#include <widgets/controls/banner.h>
#include <widgets/controls/buttons.h>
#include <widgets/controls/frames.h>
#include <widgets/controls/labels.h>
#include <widgets/controls/pagebar.h>
#include <widgets/controls/theme.h>
#include <widgets/itemmodels/fields.h>
#include <widgets/itemmodels/machinefindings.h>

#include "alivecard.h"
#include "callscard.h"
#include "examplecard.h"
#include "experimentrow.h"
#include "machinecard.h"
#include "modelscard.h"
#include "text.h"

namespace gb::ui {
namespace {

constexpr int homeRecentRows = 6;
constexpr int timesMs = 30'000; // "2 min ago" stays true

// {name, what example.json says}, in the order they ask for.
QList<QPair<QString, Json>> bundledExamples()
{
    QList<QPair<QString, Json>> examples;
    QDir folder(QStringLiteral(":/glovebox/examples"));
    for (const auto& name : folder.entryList(QDir::Dirs)) {
        QFile file(folder.filePath(name + QStringLiteral("/example.json")));
        if (!file.open(QIODevice::ReadOnly))
            continue;
        if (const auto about = parseJson(file.readAll().toStdString()))
            examples.append({name, *about});
    }
    std::ranges::stable_sort(
        examples, {}, [](const auto& example) { return integerOr(example.second, "order"); });
    return examples;
}

} // namespace

HomePage::HomePage(api::Client& client, std::shared_ptr<MachineFindings> findings, QWidget* parent)
    : Page(QStringLiteral("home"), HomeText::tr("Home"), QStringLiteral("home"), parent), m_client(client),
      m_findings(std::move(findings))
{
    m_open =
        makeAction(this, HomeText::tr("Open folder…"), QStringLiteral("folder"), QStringLiteral("Ctrl+O"));
    connect(m_open, &QAction::triggered, this, [this] {
        const auto folder =
            QFileDialog::getExistingDirectory(this, HomeText::tr("Open an experiment folder"));
        if (!folder.isEmpty())
            Q_EMIT experimentRequested(folder);
    });
    m_refresh = makeAction(this, HomeText::tr("Check this machine again"), QStringLiteral("refresh"));
    connect(m_refresh, &QAction::triggered, this, &HomePage::refresh);
    createColumns();
    connect(&m_client, &api::Client::connected, this, &HomePage::begin);
    m_client.watch({"sandboxes", "runs"});
    connect(&m_client, &api::Client::stateChanged, this, [this](const QString& topic) {
        if (topic == QLatin1String("sandboxes") || topic == QLatin1String("runs"))
            showLive();
    });
    auto* minutes = new QTimer(this);
    connect(minutes, &QTimer::timeout, this, [this] {
        m_calls->showTimes();
        for (auto* row : m_experiments)
            row->update();
    });
    minutes->start(timesMs);
    if (m_client.state() == api::Client::State::Connected)
        begin();
}

QList<QAction*> HomePage::pageActions()
{
    return {m_open, m_refresh};
}

QVBoxLayout* HomePage::createLeft()
{
    auto* left = new QVBoxLayout;
    left->setSpacing(space::s);
    left->addWidget(makeLabel(HomeText::tr("Continue"), TextRole::Heading));
    auto* recentCard = makeFrame(FrameKind::Card);
    m_recent = new QVBoxLayout(recentCard);
    m_recent->setContentsMargins(space::s, space::s, space::s, space::s);
    m_recent->setSpacing(0);
    m_recent->addWidget(makeLabel(HomeText::tr("Looking…"), TextRole::Secondary));
    left->addWidget(recentCard);
    left->addSpacing(space::l);
    left->addWidget(makeLabel(HomeText::tr("New from an example"), TextRole::Heading));
    auto* examples = new QGridLayout;
    examples->setSpacing(space::m);
    int at = 0;
    for (const auto& [name, about] : bundledExamples()) {
        examples->addWidget(makeExample(name, about), at / 2, at % 2);
        ++at;
    }
    examples->setColumnStretch(0, 1);
    examples->setColumnStretch(1, 1);
    left->addLayout(examples);
    for (auto* card : m_examples)
        left->addWidget(card->banner());
    left->addSpacing(space::l);
    m_calls = new CallsCard(m_client);
    connect(m_calls, &CallsCard::chosen, this,
        [this](const QString& call) { Q_EMIT pageRequested(QStringLiteral("inspector"), call); });
    connect(m_calls, &CallsCard::copied, this, &HomePage::sayCopied);
    left->addWidget(makeLabel(HomeText::tr("Lately"), TextRole::Heading));
    left->addWidget(m_calls, 1);
    return left;
}

QVBoxLayout* HomePage::createRight()
{
    auto* right = new QVBoxLayout;
    right->setSpacing(space::s);
    m_alive = new AliveCard(m_client);
    right->addWidget(makeLabel(HomeText::tr("Alive now"), TextRole::Heading));
    right->addWidget(m_alive);
    right->addSpacing(space::l);
    auto* machine = new MachineCard(m_findings);
    right->addWidget(makeLabel(HomeText::tr("This machine"), TextRole::Heading));
    right->addWidget(machine);
    right->addSpacing(space::l);
    m_models = new ModelsCard(m_client);
    connect(m_models, &ModelsCard::chosen, this,
        [this](const QString& model) { Q_EMIT pageRequested(QStringLiteral("models"), model); });
    right->addWidget(makeLabel(HomeText::tr("Models on this machine"), TextRole::Heading));
    right->addWidget(m_models, 1);
    connect(machine, &MachineCard::copied, this, &HomePage::sayCopied);
    return right;
}

void HomePage::createColumns()
{
    m_banner = new Banner(this);
    auto* columns = new QHBoxLayout;
    columns->setSpacing(space::xl);
    columns->addLayout(createLeft(), 3);
    columns->addLayout(createRight(), 2);
    auto* content = new QWidget;
    auto* inside = new QVBoxLayout(content);
    inside->setContentsMargins(space::xl, space::l, space::xl, space::xl);
    inside->setSpacing(space::l);
    auto* bar = new PageBar(HomeText::tr("Home"));
    bar->setPrimary(m_open);
    inside->addWidget(bar);
    inside->addWidget(m_banner);
    inside->addLayout(columns, 1);
    auto* layout = new QVBoxLayout(this);
    layout->setContentsMargins(0, 0, 0, 0);
    layout->addWidget(makeScroll(content));
}

QWidget* HomePage::makeExample(const QString& name, const Json& about)
{
    auto* card = new ExampleCard(m_client, name, about);
    m_examples += card;
    connect(card, &ExampleCard::made, this, [this](const QString& folder) {
        Q_EMIT experimentRequested(folder);
        loadExperiments();
    });
    connect(card, &ExampleCard::served, this,
        [this](const QString& place) { Q_EMIT pageRequested(QStringLiteral("inspector"), place); });
    connect(card, &ExampleCard::pageRequested, this, &HomePage::pageRequested);
    return card;
}

void HomePage::sayCopied(const QString& command)
{
    Q_EMIT notificationRequested(Tone::Success, HomeText::tr("Copied"), command);
}

void HomePage::begin()
{
    loadExperiments();
    m_findings->look();
    m_calls->refresh();
    m_models->refresh();
}

void HomePage::refresh()
{
    loadExperiments();
    m_findings->look(true);
    m_calls->refresh();
    m_models->refresh();
}

bool HomePage::settled() const
{
    return m_loaded && m_findings->settled();
}

void HomePage::loadExperiments()
{
    m_client.call(this, "experiments.list", Json::object(), [this](Result<api::Answer> answer) {
        m_loaded = true;
        if (!answer) {
            showExperiments(Json::array());
            m_banner->showError(HomeText::tr("The list of experiments did not come"), answer.error());
            m_banner->addAction(HomeText::tr("Try again"), [this] { refresh(); });
            return;
        }
        m_banner->dismiss();
        const auto found = answer->body.find("experiments");
        showExperiments(found != answer->body.end() && found->is_array() ? *found : Json::array());
    });
}

void HomePage::showExperiments(const Json& experiments)
{
    clearLayout(m_recent);
    m_experiments.clear();
    int rows = 0;
    for (const auto& experiment : experiments) {
        if (!experiment.is_object() || rows++ == homeRecentRows)
            continue;
        auto* row = new ExperimentRow(experiment);
        connect(row, &ExperimentRow::chosen, this, &HomePage::experimentRequested);
        m_recent->addWidget(row);
        m_experiments += row;
    }
    if (rows > 0)
        return showLive();
    auto* empty =
        makeLabel(HomeText::tr("No experiments yet. Start an example below, open a folder, or drop a "
                               "folder on this window."),
            TextRole::Secondary);
    empty->setWordWrap(true);
    empty->setContentsMargins(space::s, space::s, space::s, space::s);
    m_recent->addWidget(empty);
}

void HomePage::showLive()
{
    for (const char* topic : {"sandboxes", "runs"})
        if (!m_client.items(topic).is_object())
            return;
    for (auto* row : m_experiments)
        row->showLive(m_client.items("sandboxes"), m_client.items("runs"));
}

} // namespace gb::ui
