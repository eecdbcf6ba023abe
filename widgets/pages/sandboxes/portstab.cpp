// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

#include "portstab.h"

#include <QDesktopServices>
#include <QHBoxLayout>
#include <QIntValidator>
#include <QLabel>
#include <QLineEdit>
#include <QPushButton>
#include <QThread>
#include <QUrl>

#include <backend/base/clock.h>
#include <widgets/controls/banner.h>
#include <widgets/controls/buttons.h>
#include <widgets/controls/frames.h>
#include <widgets/controls/labels.h>
#include <widgets/controls/meter.h>
#include <widgets/controls/numbers.h>
#include <widgets/controls/tokens.h>
#include <widgets/itemmodels/fields.h>

#include "text.h"

namespace gb::ui {
namespace {

constexpr int highestPort = 65'535;
constexpr int meterPauseMs = 1000;
constexpr double nsPerMs = 1e6;

} // namespace

PortsTab::PortsTab(api::Client& client, QWidget* parent) : SandboxTab(client, parent)
{
    m_banner = new Banner;
    m_port = new QLineEdit;
    m_port->setPlaceholderText(SandboxText::tr("port inside, like 8000"));
    m_port->setAccessibleName(SandboxText::tr("Port inside"));
    m_port->setValidator(new QIntValidator(1, highestPort, m_port));
    auto* add = makeButton(SandboxText::tr("Open on this machine"), ButtonKind::Primary);
    auto* line = new QHBoxLayout;
    line->setSpacing(space::s);
    line->addWidget(m_port, 1);
    line->addWidget(add);
    line->addStretch(2);
    auto* note = makeLabel(SandboxText::tr("While a port is open, every user of this machine can reach it."),
        TextRole::Secondary);
    note->setWordWrap(true);
    m_rows = new QVBoxLayout;
    m_rows->setSpacing(space::s);
    auto* layout = new QVBoxLayout(this);
    layout->setContentsMargins(space::l, space::l, space::l, space::l);
    layout->setSpacing(space::m);
    layout->addLayout(line);
    layout->addWidget(note);
    layout->addWidget(m_banner);
    layout->addLayout(m_rows);
    layout->addStretch(1);
    setFocusProxy(m_port);
    connect(add, &QPushButton::clicked, this, &PortsTab::open);
    connect(m_port, &QLineEdit::returnPressed, this, &PortsTab::open);
}

void PortsTab::changed(bool other)
{
    if (other) {
        m_banner->dismiss();
        clearLayout(m_rows);
    }
    setEnabled(m_ready);
    activated();
}

void PortsTab::activated()
{
    if (isLive())
        load();
}

void PortsTab::load()
{
    m_client.call(this, "sandboxes.ports", {{"sandbox", m_sandbox}},
        [this, of = m_sandbox](Result<api::Answer> answer) {
            if (of != m_sandbox)
                return;
            if (answer)
                showPorts(answer->body.contains("ports") ? answer->body["ports"] : Json(Json::array()));
            else
                m_banner->showError(SandboxText::tr("The ports are not known"), answer.error());
        });
}

void PortsTab::open()
{
    const auto port = m_port->text().toInt();
    if (port < 1 || !m_ready)
        return;
    m_banner->dismiss();
    const Json params{{"sandbox", m_sandbox}, {"port", port}, {"tcp", true}};
    m_client.call(this, "sandboxes.port", params, [this](Result<api::Answer> answer) {
        if (!answer)
            return m_banner->showError(SandboxText::tr("The port was not opened"), answer.error());
        m_port->clear();
        load();
    });
}

void PortsTab::showPorts(const Json& ports)
{
    clearLayout(m_rows);
    for (const auto& port : ports) {
        auto* card = makeFrame(FrameKind::Card);
        auto* row = new QHBoxLayout(card);
        row->setContentsMargins(space::l, space::s, space::l, space::s);
        const auto inside =
            port.contains("path") ? textField(port, "path") : QString::number(integerOr(port, "port_inside"));
        const auto host = stringOr(port, "host");
        const auto outside = integerOr(port, "port");
        const auto address = host.empty()
            ? textField(port, "socket")
            : QStringLiteral("http://%1:%2").arg(QString::fromStdString(host)).arg(outside);
        row->addWidget(makeLabel(inside, TextRole::Strong));
        auto* where = makeLabel(address, TextRole::Mono);
        where->setTextInteractionFlags(Qt::TextSelectableByMouse | Qt::TextSelectableByKeyboard);
        row->addWidget(where, 1);
        if (!host.empty()) {
            auto* show = makeButton(
                SandboxText::tr("Open in the browser"), ButtonKind::Normal, QStringLiteral("external"));
            connect(
                show, &QPushButton::clicked, this, [address] { QDesktopServices::openUrl(QUrl(address)); });
            row->addWidget(show);
        }
        auto* close = makeIconButton(QStringLiteral("close"), SandboxText::tr("Close this port"));
        connect(close, &QToolButton::clicked, this, [this, id = stringOr(port, "id")] {
            m_client.call(this, "sandboxes.port_close", {{"sandbox", m_sandbox}, {"id", id}},
                [this](Result<api::Answer>) { load(); });
        });
        row->addWidget(close);
        m_rows->addWidget(card);
    }
    if (ports.empty())
        m_rows->addWidget(makeLabel(SandboxText::tr("No port is open."), TextRole::Secondary));
}

MetersTab::MetersTab(api::Client& client, QWidget* parent) : SandboxTab(client, parent)
{
    m_cpu = new Meter(SandboxText::tr("Processors"));
    m_memory = new Meter(SandboxText::tr("Memory"));
    m_disk = new Meter(SandboxText::tr("Disk"));
    m_processes = new Meter(SandboxText::tr("Processes"));
    m_note = makeLabel({}, TextRole::Secondary);
    auto* layout = new QVBoxLayout(this);
    layout->setContentsMargins(space::l, space::l, space::l, space::l);
    layout->setSpacing(space::m);
    for (auto* meter : {m_cpu, m_memory, m_disk, m_processes})
        layout->addWidget(meter);
    layout->addWidget(m_note);
    layout->addStretch(1);
    m_next.setSingleShot(true);
    m_next.setInterval(meterPauseMs);
    connect(&m_next, &QTimer::timeout, this, &MetersTab::ask);
}

void MetersTab::changed(bool)
{
    m_cpuMs = -1;
    m_note->setText(m_ready ? QString() : SandboxText::tr("It is not running."));
    activated();
}

void MetersTab::activated()
{
    isLive() ? ask() : m_next.stop();
}

void MetersTab::ask()
{
    if (!isLive())
        return;
    m_client.call(this, "sandboxes.meters", {{"sandbox", m_sandbox}},
        [this, of = m_sandbox](Result<api::Answer> answer) {
            if (of != m_sandbox)
                return;
            if (answer)
                take(answer->body);
            else
                m_note->setText(QString::fromStdString(answer.error().message));
            if (isLive())
                m_next.start();
        });
}

void MetersTab::take(const Json& reading)
{
    m_note->clear();
    const auto now = monotonicNs();
    const auto cpuMs = integerOr(reading, "cpu_ms");
    if (m_cpuMs >= 0 && now > m_at) {
        const auto share = static_cast<double>(cpuMs - m_cpuMs) / (static_cast<double>(now - m_at) / nsPerMs);
        m_cpu->setReading(
            share, QThread::idealThreadCount(), SandboxText::tr("%1 in use").arg(share, 0, 'f', 2));
    }
    m_cpuMs = cpuMs;
    m_at = now;
    const auto memory = numberOr(reading, "memory");
    m_memory->setReading(memory, 0, bytesText(memory));
    const auto disk = numberOr(reading, "disk");
    m_disk->setReading(disk, 0, bytesText(disk));
    const auto processes = numberOr(reading, "processes");
    m_processes->setReading(processes, 0, countText(static_cast<std::int64_t>(processes)));
}

} // namespace gb::ui
