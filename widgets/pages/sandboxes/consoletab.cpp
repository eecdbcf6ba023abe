// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

#include "consoletab.h"

#include <QHBoxLayout>
#include <QLabel>
#include <QPushButton>

#include <widgets/controls/banner.h>
#include <widgets/controls/buttons.h>
#include <widgets/controls/labels.h>
#include <widgets/controls/terminalview.h>
#include <widgets/controls/tokens.h>

#include "text.h"

namespace gb::ui {
namespace {

constexpr int consolePauseMs = 150;
constexpr int resizePauseMs = 60;
constexpr int consolePiece = 256 * 1024;
// bash where there is one; a login shell would replace the environment the sandbox was given.
constexpr auto shellLine = "if command -v bash >/dev/null 2>&1; then exec bash -i; else exec sh -i; fi";

} // namespace

ConsoleTab::ConsoleTab(api::Client& client, QWidget* parent) : SandboxTab(client, parent)
{
    m_view = new TerminalView;
    m_banner = new Banner;
    m_hint = makeLabel(SandboxText::tr("Ctrl+Tab leaves the console, Ctrl+Shift+C and V copy and paste."),
        TextRole::Caption);
    m_again = makeButton(SandboxText::tr("New shell"), ButtonKind::Normal, QStringLiteral("refresh"));
    m_again->hide();
    auto* below = new QHBoxLayout;
    below->addWidget(m_hint);
    below->addStretch(1);
    below->addWidget(m_again);
    auto* layout = new QVBoxLayout(this);
    layout->setContentsMargins(space::m, space::m, space::m, space::s);
    layout->setSpacing(space::s);
    layout->addWidget(m_banner);
    layout->addWidget(m_view, 1);
    layout->addLayout(below);
    setFocusProxy(m_view);
    m_next.setSingleShot(true);
    m_next.setInterval(consolePauseMs);
    m_resized.setSingleShot(true);
    m_resized.setInterval(resizePauseMs);
    connect(&m_next, &QTimer::timeout, this, &ConsoleTab::readOn);
    connect(&m_resized, &QTimer::timeout, this, &ConsoleTab::sendSize);
    connect(m_view, &TerminalView::typed, this, &ConsoleTab::type);
    connect(m_view, &TerminalView::resized, this, [this] { m_resized.start(); });
    connect(m_again, &QPushButton::clicked, this, &ConsoleTab::open);
    connect(&m_client, &api::Client::notified, this, &ConsoleTab::notified);
    // What came while nobody listened is asked for.
    connect(&m_client, &api::Client::connected, this, [this] {
        m_told = false;
        readOn();
    });
}

void ConsoleTab::changed(bool other)
{
    if (other) {
        m_command.clear();
        m_offset = 0;
        m_typed.clear();
        m_view->reset();
        m_banner->dismiss();
    }
    if (!m_ready && !m_command.empty())
        ended(SandboxText::tr("the sandbox has ended"));
    activated();
}

void ConsoleTab::activated()
{
    if (isLive() && m_command.empty() && !m_opening && !m_again->isVisibleTo(this))
        look();
    if (m_active)
        m_view->setFocus();
}

void ConsoleTab::look()
{
    m_opening = true;
    const auto asked = m_sandbox;
    m_client.call(
        this, "sandboxes.commands", {{"sandbox", asked}}, [this, asked](Result<api::Answer> answer) {
            m_opening = false;
            if (asked != m_sandbox || !m_ready)
                return;
            if (answer && answer->body.contains("commands"))
                for (const auto& command : answer->body["commands"])
                    if (boolOr(command, "terminal") && !boolOr(command, "exited"))
                        return attach(stringOr(command, "command"));
            open();
        });
}

void ConsoleTab::open()
{
    m_again->hide();
    m_banner->dismiss();
    m_view->reset();
    m_offset = 0;
    m_opening = true;
    const auto asked = m_sandbox;
    const Json params{{"sandbox", asked}, {"argv", {"/bin/sh", "-c", shellLine}},
        {"env", {{"TERM", "xterm-256color"}}}, {"stdin", true},
        {"terminal", {{"rows", m_view->screen().rows()}, {"columns", m_view->screen().columns()}}}};
    m_client.call(this, "sandboxes.exec", params, [this, asked](Result<api::Answer> answer) {
        m_opening = false;
        if (asked != m_sandbox)
            return;
        if (!answer) {
            m_banner->showError(SandboxText::tr("There is no shell"), answer.error());
            m_again->show();
            return;
        }
        m_told = true;
        m_command = stringOr(answer->body, "command");
        sendTyped();
    });
}

void ConsoleTab::attach(const std::string& command)
{
    m_command = command;
    m_offset = 0;
    m_told = false;
    readOn();
    sendSize();
}

void ConsoleTab::readOn()
{
    if (m_told || m_command.empty() || m_reading)
        return;
    m_reading = true;
    const Json params{{"sandbox", m_sandbox}, {"command", m_command}, {"stream", "stdout"},
        {"offset", m_offset}, {"limit", consolePiece}};
    m_client.call(this, "sandboxes.output", params, [this, asked = m_command](Result<api::Answer> answer) {
        m_reading = false;
        if (asked != m_command)
            return readOn();
        if (!answer) {
            if (answer.error().code != "api.disconnected")
                ended(QString::fromStdString(answer.error().message));
            return;
        }
        take(answer->attachment, integerOr(answer->body, "offset", m_offset));
        if (m_offset < integerOr(answer->body, "size"))
            readOn();
        else if (boolOr(answer->body, "exited"))
            ended(SandboxText::tr("the shell has ended"));
        else
            m_next.start();
    });
}

void ConsoleTab::take(const std::string& bytes, std::int64_t offset)
{
    // The same may come twice, by being told and by asking.
    const auto known =
        std::clamp<std::int64_t>(m_offset - offset, 0, static_cast<std::int64_t>(bytes.size()));
    m_view->write(std::string_view(bytes).substr(static_cast<std::size_t>(known)));
    m_offset = std::max(m_offset, offset + static_cast<std::int64_t>(bytes.size()));
}

void ConsoleTab::notified(const QString& method, const Json& params, const QByteArray& bytes)
{
    const bool output = method == QLatin1String("sandboxes.output");
    if ((!output && method != QLatin1String("sandboxes.exit")) || m_command.empty()
        || stringOr(params, "command") != m_command)
        return;
    if (output) {
        const auto offset = integerOr(params, "offset", m_offset);
        if (offset <= m_offset)
            return take(bytes.toStdString(), offset);
        // A piece is missing: everything is asked for from here on.
        m_told = false;
        return readOn();
    }
    ended(SandboxText::tr("the shell has ended with %1").arg(integerOr(params, "code")));
}

void ConsoleTab::ended(const QString& how)
{
    m_command.clear();
    m_typed.clear();
    m_next.stop();
    m_view->write("\r\n\x1b[2m[" + how.toStdString() + "]\x1b[0m\r\n");
    m_again->setVisible(m_ready);
}

void ConsoleTab::type(const QByteArray& bytes)
{
    if (m_command.empty() && !m_opening)
        return;
    m_typed += bytes;
    sendTyped();
}

void ConsoleTab::sendTyped()
{
    if (m_sending || m_typed.isEmpty() || m_command.empty())
        return;
    m_sending = true;
    const auto bytes = std::exchange(m_typed, {}).toStdString();
    const Json params{{"sandbox", m_sandbox}, {"command", m_command}};
    m_client.call(
        this, "sandboxes.stdin", params,
        [this](Result<api::Answer>) {
            m_sending = false;
            sendTyped();
        },
        bytes);
}

void ConsoleTab::sendSize()
{
    if (m_command.empty())
        return;
    const Json params{{"sandbox", m_sandbox}, {"command", m_command}, {"rows", m_view->screen().rows()},
        {"columns", m_view->screen().columns()}};
    m_client.call(this, "sandboxes.resize", params, [](Result<api::Answer>) {});
}

} // namespace gb::ui
