// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

#include "inspectorpage.h"

#include <QApplication>
#include <QShowEvent>
#include <QVBoxLayout>

#include <backend/base/ids.h>
#include <widgets/controls/buttons.h>
#include <widgets/controls/splitter.h>
#include <widgets/itemmodels/fields.h>

#include "callpanel.h"
#include "historypanel.h"
#include "text.h"

namespace gb::ui {

InspectorPage::InspectorPage(api::Client& client, QWidget* parent)
    : Page(QStringLiteral("inspector"), InspectorText::tr("Inspector"), QStringLiteral("inspector"), parent),
      m_client(client)
{
    m_functions = new FunctionList(client);
    m_call = new CallPanel(client);
    m_history = new HistoryPanel(client);
    for (QWidget* side : {static_cast<QWidget*>(m_functions), static_cast<QWidget*>(m_history)}) {
        side->setMinimumWidth(180);
        side->setAttribute(Qt::WA_StyledBackground);
        side->setProperty("gbSide", true);
    }
    m_call->setMinimumWidth(360);
    auto* splitter = new Splitter(QStringLiteral("inspector"), Qt::Horizontal);
    splitter->addWidget(m_functions);
    splitter->addWidget(m_call);
    splitter->addWidget(m_history);
    splitter->setDefaults({22, 50, 28});
    auto* layout = new QVBoxLayout(this);
    layout->setContentsMargins(0, 0, 0, 0);
    layout->addWidget(splitter);
    createActions();

    connect(m_functions, &FunctionList::chosen, this, [this](const FunctionList::Function& function) {
        m_call->setFunction(function);
        m_history->follow(m_call->shownCall());
        showWaitingPlace();
    });
    connect(m_history, &HistoryPanel::chosen, this, &InspectorPage::showHistoryCall);
    connect(m_history, &HistoryPanel::resendRequested, this, [this](const CallSummary& call) {
        showHistoryCall(call);
        m_call->focusArguments();
    });
    connect(m_functions, &FunctionList::activated, m_call, &CallPanel::focusArguments);
    connect(m_call, &CallPanel::callStarted, m_history, &HistoryPanel::follow);
    connect(m_call, &CallPanel::callEnded, m_history, &HistoryPanel::refresh);
    // Selecting rebuilds nothing, so this does not come back here.
    connect(
        m_functions, &FunctionList::listed, this,
        [this] {
            showWaitingPlace();
            if (m_place.isEmpty() && !m_functions->current() && m_call->shownCall().isEmpty())
                m_functions->selectFirst();
        },
        Qt::QueuedConnection);
}

void InspectorPage::createActions()
{
    auto* filter = makeAction(
        this, InspectorText::tr("Filter functions"), QStringLiteral("filter"), QStringLiteral("Ctrl+L"));
    connect(filter, &QAction::triggered, m_functions, &FunctionList::focusFilter);
    auto* toHistory = makeAction(
        this, InspectorText::tr("Go to the calls"), QStringLiteral("history"), QStringLiteral("Ctrl+H"));
    connect(toHistory, &QAction::triggered, m_history, &HistoryPanel::focusList);
    auto* reload =
        makeAction(this, InspectorText::tr("Reload the interface file"), QStringLiteral("refresh"));
    connect(reload, &QAction::triggered, this, [this] {
        const auto* function = m_functions->current();
        if (!function)
            return;
        m_client.call(this, "interfaces.reload", {{"interface", function->interfaceId.toStdString()}},
            [this](Result<api::Answer> answer) {
                if (answer)
                    Q_EMIT notificationRequested(
                        Tone::Success, InspectorText::tr("Reloaded"), textField(answer->body, "reason"));
                else
                    Q_EMIT notificationRequested(Tone::Error, InspectorText::tr("The file was not reloaded"),
                        QString::fromStdString(answer.error().message));
            });
    });
    connect(m_call->wideAction(), &QAction::toggled, this, [this](bool wide) {
        m_functions->setVisible(!wide);
        m_history->setVisible(!wide);
    });
    auto* errors = makeAction(this, InspectorText::tr("Show calls that failed"), QStringLiteral("error"));
    connect(
        errors, &QAction::triggered, this, [this] { m_history->setFilter(QStringLiteral("status:error")); });
    m_actions = {m_call->runAction(), m_call->cancelAction(), m_call->jsonAction(), m_call->wideAction(),
        m_call->sourceAction(), filter, toHistory, reload, errors};
    m_actions += m_call->presetActions();
    m_actions += m_call->copyActions();
    m_actions += m_history->historyActions();
}

QAction* InspectorPage::primaryAction()
{
    return m_call->runAction();
}

QList<QAction*> InspectorPage::pageActions()
{
    return m_actions;
}

void InspectorPage::refresh()
{
    m_history->refresh();
}

void InspectorPage::showPlace(const QString& place)
{
    m_place = place;
    showWaitingPlace();
}

void InspectorPage::showWaitingPlace()
{
    if (m_place.isEmpty())
        return;
    const auto place = m_place;
    if (isId(place.toStdString())) {
        if (m_client.state() != api::Client::State::Connected || !m_functions->settled())
            return;
        m_place.clear();
        // While it runs it has no record yet.
        if (const auto& running = m_client.items("calls");
            running.is_object() && running.contains(place.toStdString()))
            return showHistoryCall(CallSummary::fromJson(objectOr(running, place.toStdString())));
        m_client.call(this, "calls.get", {{"call", place.toStdString()}}, [this](Result<api::Answer> answer) {
            if (answer)
                showHistoryCall(CallSummary::fromJson(answer->body));
            else
                Q_EMIT notificationRequested(Tone::Error, InspectorText::tr("The call could not be read"),
                    QString::fromStdString(answer.error().message));
        });
        return;
    }
    // A function by name, or as INTERFACE/function.
    const auto slash = place.indexOf(QLatin1Char('/'));
    const auto interface = slash < 0 ? QString() : place.left(slash);
    const auto name = place.mid(slash + 1);
    if (!m_functions->find(name, interface))
        return;
    m_place.clear();
    m_functions->select(name, interface);
}

void InspectorPage::showHistoryCall(const CallSummary& call)
{
    const auto* function = m_functions->find(call.function, call.interfaceId);
    // The interface may have been served again since: the same function by name will do.
    if (!function)
        function = m_functions->find(call.function);
    const QSignalBlocker quiet(m_functions);
    if (function)
        m_functions->select(call.function, function->interfaceId);
    m_history->follow(call.id);
    m_call->showCall(call.id, function);
}

// The page's shortcuts need the focus to be in it, also when it was opened by one of the window's.
void InspectorPage::showEvent(QShowEvent* event)
{
    Page::showEvent(event);
    if (!isAncestorOf(QApplication::focusWidget()))
        m_functions->focusFilter();
}

void InspectorPage::find()
{
    m_call->find();
}

bool InspectorPage::settled() const
{
    return m_functions->settled() && m_history->settled() && m_call->settled();
}

} // namespace gb::ui
