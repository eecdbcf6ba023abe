// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

#include "tray.h"

#include <QHBoxLayout>
#include <QLabel>
#include <QScrollArea>
#include <QSet>
#include <QToolButton>

#include <widgets/controls/buttons.h>
#include <widgets/controls/frames.h>
#include <widgets/controls/icons.h>
#include <widgets/controls/labels.h>
#include <widgets/controls/theme.h>
#include <widgets/itemmodels/fields.h>
#include <widgets/itemmodels/livestate.h>

#include "text.h"

namespace gb::ui {
namespace {

constexpr int trayHeight = 44;

} // namespace

Tray::Tray(api::Client& client, QWidget* parent) : QFrame(parent), m_client(client)
{
    setProperty("gbFrame", QStringLiteral("tray"));
    m_list = new QWidget;
    m_rows = new QVBoxLayout(m_list);
    m_rows->setContentsMargins(space::l, space::s, space::l, space::s);
    m_rows->addStretch();
    createLine();
    showJobs();
    showConnection();
    connect(&m_client, &api::Client::stateChanged, this, [this](const QString& topic) {
        if (topic == QLatin1String("jobs") || topic == QLatin1String("models"))
            showJobs();
    });
    connect(&m_client, &api::Client::connected, this, &Tray::showConnection);
    connect(&m_client, &api::Client::disconnected, this, &Tray::showConnection);
    connect(&Theme::instance(), &Theme::changed, this, &Tray::showConnection);
}

void Tray::createLine()
{
    auto* area = makeScroll(m_list);
    area->setMaximumHeight(260);
    area->hide();
    m_toggle = makeIconButton(QStringLiteral("chevron-up"), ShellText::tr("Show all jobs"));
    connect(m_toggle, &QToolButton::clicked, this, [this, area] { setOpen(!area->isVisible()); });
    m_idle = makeLabel(ShellText::tr("No jobs"), TextRole::Caption);
    m_first = new ProgressRow;
    m_first->setMaximumWidth(520);
    m_first->hide();
    connect(m_first, &ProgressRow::cancelRequested, this, [this] { cancel(m_firstJob); });
    m_connectionMark = new QLabel;
    m_connection = makeLabel({}, TextRole::Caption);
    auto* line = new QHBoxLayout;
    line->setContentsMargins(space::s, 2, space::m, 2);
    line->setSpacing(space::s);
    line->addWidget(m_toggle);
    line->addWidget(m_idle);
    line->addWidget(m_first, 1);
    line->addStretch();
    line->addWidget(m_connectionMark);
    line->addWidget(m_connection);
    auto* layout = new QVBoxLayout(this);
    layout->setContentsMargins(0, 1, 0, 0);
    layout->setSpacing(0);
    layout->addWidget(area);
    // One height, with a job or without: nothing jumps.
    auto* fixed = new QWidget;
    fixed->setLayout(line);
    fixed->setFixedHeight(trayHeight);
    layout->addWidget(fixed);
}

void Tray::setOpen(bool open)
{
    auto* area = findChild<QScrollArea*>();
    area->setVisible(open);
    m_toggle->setIcon(icon(open ? QStringLiteral("chevron-down") : QStringLiteral("chevron-up")));
    const auto text = open ? ShellText::tr("Hide the jobs") : ShellText::tr("Show all jobs");
    m_toggle->setToolTip(text);
    m_toggle->setAccessibleName(text);
}

void Tray::showJobs()
{
    const auto downloads = runningDownloads(m_client);
    auto running = runningJobs(m_client);
    running.insert(running.end(), downloads.begin(), downloads.end());
    m_first->setVisible(!running.empty());
    m_idle->setText(running.size() > 1 ? ShellText::tr("%n job(s)", nullptr, static_cast<int>(running.size()))
                                       : ShellText::tr("No jobs"));
    m_idle->setVisible(running.size() != 1);
    if (!running.empty()) {
        m_firstJob = textField(running.front(), "id");
        auto spec = progressOf(running.front());
        spec.message.clear();
        m_first->setProgress(spec);
    }
    std::vector<Json> all;
    const auto& items = m_client.items("jobs");
    if (items.is_object())
        for (const auto& job : items)
            if (job.is_object())
                all.push_back(job);
    all.insert(all.end(), downloads.begin(), downloads.end());
    placeRows(all);
}

void Tray::placeRows(const std::vector<Json>& jobs)
{
    QSet<QString> present;
    for (const auto& job : jobs) {
        const auto id = textField(job, "id");
        present.insert(id);
        auto*& row = m_byJob[id];
        if (!row) {
            row = new ProgressRow;
            connect(row, &ProgressRow::cancelRequested, this, [this, id] { cancel(id); });
            m_rows->insertWidget(0, row);
        }
        row->setProgress(progressOf(job));
    }
    m_byJob.removeIf([&present](const auto& entry) {
        if (present.contains(entry.key()))
            return false;
        entry.value()->deleteLater();
        return true;
    });
}

void Tray::cancel(const QString& job)
{
    const auto done = [this](Result<api::Answer> answer) {
        if (!answer)
            Q_EMIT failed(ShellText::tr("The job was not cancelled"), answer.error());
    };
    // A download keeps what it has, and goes on from the Models page.
    const auto& downloads = m_client.items("models");
    const auto id = job.toStdString();
    if (downloads.is_object() && downloads.contains(id))
        m_client.call(this, "models.pause", {{"download", id}}, done);
    else
        m_client.call(this, "jobs.cancel", {{"job", id}}, done);
}

void Tray::showConnection()
{
    const bool connected = m_client.state() == api::Client::State::Connected;
    m_connectionMark->setPixmap(iconPixmap(
        QStringLiteral("plug"), 16, connected ? tokens().success : tokens().warning, devicePixelRatioF()));
    m_connection->setText(connected ? ShellText::tr("connected") : ShellText::tr("connecting…"));
    m_connection->setToolTip(connected ? ShellText::tr("Background service, version %1, process %2")
                                             .arg(textField(m_client.daemonInfo(), "version"))
                                             .arg(integerOr(m_client.daemonInfo(), "pid"))
                                       : ShellText::tr("The window reconnects by itself."));
}

} // namespace gb::ui
