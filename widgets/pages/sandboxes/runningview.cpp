// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

#include "runningview.h"

#include <QHBoxLayout>
#include <QLabel>
#include <QPushButton>
#include <QTabBar>
#include <QTabWidget>

#include <backend/base/clock.h>
#include <widgets/controls/banner.h>
#include <widgets/controls/buttons.h>
#include <widgets/controls/errortext.h>
#include <widgets/controls/frames.h>
#include <widgets/controls/labels.h>
#include <widgets/controls/numbers.h>
#include <widgets/controls/statepill.h>
#include <widgets/itemmodels/fields.h>

#include "consoletab.h"
#include "filestab.h"
#include "interfacetab.h"
#include "logtab.h"
#include "portstab.h"
#include "text.h"

namespace gb::ui {
namespace {

constexpr int extendSeconds = 1800;
constexpr int clockMs = 1000;

QString endReason(const std::string& reason)
{
    if (reason == "timeout")
        return SandboxText::tr("Its time was over.");
    if (reason == "idle")
        return SandboxText::tr("Nothing used it for as long as it may be idle.");
    if (reason == "memory")
        return SandboxText::tr("It took more memory than it may have.");
    if (reason == "disk")
        return SandboxText::tr("It wrote more to disk than it may, or was filling the disk.");
    if (reason == "files")
        return SandboxText::tr(
            "It made so many files that the disk has room for few more, whatever their size.");
    if (reason == "stopped")
        return SandboxText::tr("It was stopped.");
    return QString::fromStdString(reason);
}

} // namespace

RunningView::RunningView(api::Client& client, QWidget* parent) : QWidget(parent), m_client(client)
{
    auto* header = makeFrame(FrameKind::Bar);
    createHeader(header);
    m_banner = new Banner;
    m_tabs = new QTabWidget;
    m_tabs->setDocumentMode(true);
    m_tabs->tabBar()->setDrawBase(false);
    auto* layout = new QVBoxLayout(this);
    layout->setContentsMargins(0, 0, 0, 0);
    layout->setSpacing(0);
    layout->addWidget(header);
    auto* notice = new QVBoxLayout;
    notice->setContentsMargins(space::m, space::m, space::m, 0);
    notice->addWidget(m_banner);
    layout->addLayout(notice);
    layout->addWidget(m_tabs, 1);
    addTab(new LogTab(client), SandboxText::tr("Log"));
    addTab(new ConsoleTab(client), SandboxText::tr("Console"));
    addTab(new FilesTab(client), SandboxText::tr("Files"));
    addTab(new PortsTab(client), SandboxText::tr("Ports"));
    addTab(new MetersTab(client), SandboxText::tr("Meters"));
    addTab(new InterfaceTab(client), SandboxText::tr("Interface"));
    connect(m_tabs, &QTabWidget::currentChanged, this, [this](int now) {
        for (int i = 0; i < m_tabs->count(); ++i)
            static_cast<SandboxTab*>(m_tabs->widget(i))->setActive(i == now);
    });
    connect(&m_client, &api::Client::stateChanged, this, [this](const QString& topic) {
        if (topic == QLatin1String("sandboxes"))
            showItem();
    });
    m_clock.setInterval(clockMs);
    connect(&m_clock, &QTimer::timeout, this, &RunningView::showTime);
    static_cast<SandboxTab*>(m_tabs->widget(0))->setActive(true);
}

void RunningView::createHeader(QWidget* header)
{
    m_name = new ElidedLabel({}, TextRole::Heading);
    m_pill = new StatePill;
    m_left = makeLabel({}, TextRole::Secondary);
    m_extend = makeButton(SandboxText::tr("Extend by 30 min"), ButtonKind::Normal, QStringLiteral("clock"));
    m_stop = makeButton(SandboxText::tr("Stop"), ButtonKind::Danger, QStringLiteral("stop"));
    m_remove = makeButton(SandboxText::tr("Delete its files"), ButtonKind::Danger, QStringLiteral("trash"));
    m_again =
        makeButton(SandboxText::tr("Set up another like it"), ButtonKind::Normal, QStringLiteral("copy"));
    auto* layout = new QHBoxLayout(header);
    layout->setContentsMargins(space::l, space::s, space::l, space::s);
    layout->setSpacing(space::m);
    layout->addWidget(m_name, 1);
    for (QWidget* widget :
        std::initializer_list<QWidget*>{m_pill, m_left, m_extend, m_again, m_remove, m_stop})
        layout->addWidget(widget);
    connect(m_extend, &QPushButton::clicked, this, [this] { extend(extendSeconds); });
    connect(m_stop, &QPushButton::clicked, this, &RunningView::stop);
    connect(m_remove, &QPushButton::clicked, this, &RunningView::remove);
    connect(m_again, &QPushButton::clicked, this, [this] {
        m_client.call(this, "sandboxes.get", {{"sandbox", m_sandbox}}, [this](Result<api::Answer> answer) {
            if (answer)
                Q_EMIT copyRequested(objectOr(answer->body, "spec"));
            else
                m_banner->showError(
                    SandboxText::tr("How it was set up is not known any more"), answer.error());
        });
    });
}

void RunningView::addTab(SandboxTab* tab, const QString& title)
{
    m_tabs->addTab(tab, title);
    connect(tab, &SandboxTab::placeRequested, this, &RunningView::pageRequested);
}

void RunningView::showTab(SandboxTab* tab)
{
    m_tabs->setCurrentWidget(tab);
}

void RunningView::enter()
{
    m_tabs->tabBar()->setFocus(Qt::OtherFocusReason);
}

void RunningView::show(const QString& sandbox)
{
    if (sandbox.toStdString() == m_sandbox)
        return;
    m_sandbox = sandbox.toStdString();
    m_state.clear();
    m_banner->dismiss();
    m_sandbox.empty() ? m_clock.stop() : m_clock.start();
    showItem();
}

void RunningView::refresh()
{
    m_state.clear();
    showItem();
}

void RunningView::find()
{
    if (auto* tab = qobject_cast<SandboxTab*>(m_tabs->currentWidget()))
        tab->find();
}

void RunningView::showItem()
{
    const auto& items = m_client.items("sandboxes");
    const Json item = items.is_object() && items.contains(m_sandbox) ? items[m_sandbox] : Json::object();
    const auto state = stringOr(item, "state");
    auto name = textField(item, "name");
    if (name.isEmpty())
        name = sandbox().left(8);
    m_name->setElidedText(name);
    m_pill->setState(QString::fromStdString(state), StatePill::toneOf(QString::fromStdString(state)),
        timeField(item, "since"));
    m_endsAt = timeField(item, "ends_at");
    const bool ready = state == "ready";
    m_extend->setVisible(ready && m_endsAt > 0);
    m_stop->setVisible(ready || state == "stopping");
    m_stop->setEnabled(ready);
    const bool over = state == "stopped" || state == "failed";
    m_remove->setVisible(over);
    m_again->setVisible(over);
    showTime();
    for (int i = 0; i < m_tabs->count(); ++i)
        static_cast<SandboxTab*>(m_tabs->widget(i))->show(m_sandbox, ready);
    if (state == m_state)
        return;
    m_state = state;
    if (over)
        showEnd(item);
    else
        m_banner->dismiss();
}

void RunningView::showEnd(const Json& item)
{
    const auto error = objectOr(item, "error");
    if (!error.empty()) {
        m_banner->showError(SandboxText::tr("It failed"), Error::fromJson(error));
        return;
    }
    const auto reason = endReason(stringOr(item, "reason"));
    m_banner->show(Tone::Info, SandboxText::tr("This sandbox has ended"),
        reason.isEmpty() ? SandboxText::tr("Its files are kept until you delete them.") : reason);
}

void RunningView::showTime()
{
    const auto seconds = static_cast<double>(m_endsAt - wallMs()) / 1000;
    const bool counts = m_endsAt > 0 && m_state != "stopped" && m_state != "failed" && seconds > 0;
    m_left->setVisible(counts);
    if (!counts)
        return;
    m_left->setText(SandboxText::tr("%1 left").arg(clockText(seconds)));
    m_left->setToolTip(SandboxText::tr("Ends at %1").arg(exactTimeText(m_endsAt)));
}

void RunningView::change(const std::string& method, Json params, const QString& what, QPushButton* button)
{
    button->setEnabled(false);
    m_client.call(this, method, std::move(params), [this, what, button](Result<api::Answer> answer) {
        button->setEnabled(true);
        if (!answer)
            m_banner->showError(what, answer.error());
    });
}

void RunningView::extend(int seconds)
{
    change("sandboxes.extend", {{"sandbox", m_sandbox}, {"seconds", seconds}},
        SandboxText::tr("Its time was not extended"), m_extend);
}

void RunningView::stop()
{
    change("sandboxes.stop", {{"sandbox", m_sandbox}}, SandboxText::tr("It was not stopped"), m_stop);
}

void RunningView::remove()
{
    change("sandboxes.rm", {{"sandbox", m_sandbox}}, SandboxText::tr("Its files were not deleted"), m_remove);
}

} // namespace gb::ui
