// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

#include "callpanel.h"

#include <QAction>
#include <QClipboard>
#include <QComboBox>
#include <QGuiApplication>
#include <QLabel>
#include <QPlainTextEdit>
#include <QTabWidget>
#include <QVBoxLayout>

#include <backend/base/clock.h>
#include <backend/base/ids.h>
#include <widgets/controls/banner.h>
#include <widgets/controls/buttons.h>
#include <widgets/controls/errortext.h>
#include <widgets/controls/harmless.h>
#include <widgets/controls/labels.h>
#include <widgets/controls/logview.h>
#include <widgets/controls/numbers.h>
#include <widgets/controls/progressrow.h>
#include <widgets/controls/splitter.h>
#include <widgets/controls/statepill.h>
#include <widgets/controls/theme.h>
#include <widgets/forms/argumentform.h>
#include <widgets/itemmodels/fields.h>
#include <widgets/viewers/resultview.h>

#include "callrecords.h"
#include "presetbutton.h"
#include "sourcepanel.h"
#include "text.h"
#include "timingbar.h"

namespace gb::ui {
namespace {

constexpr int itemsRedrawMs = 200;
constexpr int statisticsSoonMs = 400; // calls in a row are counted once
constexpr int runningSoonMs = 250; // a quick call does not blink
constexpr int resultTab = 0;
constexpr int outputTab = 1;
constexpr int detailsTab = 2;
constexpr int seenTab = 3;
constexpr int sourceTab = 4;

} // namespace

CallPanel::CallPanel(api::Client& client, QWidget* parent) : QWidget(parent), m_client(client)
{
    createActions();
    auto* splitter = new Splitter(QStringLiteral("inspector-call"), Qt::Vertical);
    splitter->addWidget(createUpper());
    splitter->addWidget(createLower());
    splitter->setDefaults({5, 6});
    auto* layout = new QVBoxLayout(this);
    layout->setContentsMargins(0, 0, 0, 0);
    layout->addWidget(splitter);
    m_itemsSoon.setSingleShot(true);
    m_itemsSoon.setInterval(itemsRedrawMs);
    connect(&m_itemsSoon, &QTimer::timeout, this, &CallPanel::showItems);
    m_statisticsSoon.setSingleShot(true);
    m_statisticsSoon.setInterval(statisticsSoonMs);
    connect(&m_statisticsSoon, &QTimer::timeout, this, &CallPanel::askStatistics);
    m_runningSoon.setSingleShot(true);
    m_runningSoon.setInterval(runningSoonMs);
    connect(&m_runningSoon, &QTimer::timeout, this, &CallPanel::showRunning);
    connect(&m_client, &api::Client::stateChanged, this, [this](const QString& topic) {
        if (topic == QLatin1String("calls"))
            followCall();
    });
    connect(&m_client, &api::Client::notified, this,
        [this](const QString& method, const Json& params, const QByteArray& attachment) {
            if (method == QLatin1String("calls.event") && stringOr(params, "call") == m_call)
                onEvent(params, attachment);
        });
    setRunning(false);
}

void CallPanel::createActions()
{
    m_run = makeAction(this, InspectorText::tr("Run"), QStringLiteral("play"));
    m_run->setToolTip(InspectorText::tr("Call the function (Ctrl+Enter)"));
    m_run->setEnabled(false);
    m_cancel =
        makeAction(this, InspectorText::tr("Cancel"), QStringLiteral("stop"), QStringLiteral("Ctrl+."));
    m_json = makeAction(
        this, InspectorText::tr("Arguments as JSON"), QStringLiteral("script"), QStringLiteral("Ctrl+J"));
    m_json->setCheckable(true);
    const std::pair<QString, CopyForm> copies[] = {{InspectorText::tr("Copy as command"), CopyForm::Command},
        {InspectorText::tr("Copy as curl"), CopyForm::Curl},
        {InspectorText::tr("Copy as Python"), CopyForm::Python},
        {InspectorText::tr("Copy as MCP JSON"), CopyForm::Mcp}};
    for (const auto& [text, form] : copies) {
        m_copies += makeAction(this, text, QStringLiteral("copy"));
        connect(m_copies.last(), &QAction::triggered, this, [this, form = form] { copyAs(form); });
    }
    m_wide = makeAction(
        this, InspectorText::tr("Result fills the page"), QStringLiteral("panel"), QStringLiteral("F11"));
    m_wide->setCheckable(true);
    connect(m_wide, &QAction::toggled, this, [this](bool wide) { m_upper->setVisible(!wide); });
    m_toSource = makeAction(
        this, InspectorText::tr("Edit the source"), QStringLiteral("edit"), QStringLiteral("Ctrl+Shift+E"));
    connect(m_toSource, &QAction::triggered, this, [this] { showSource(0); });
    connect(m_run, &QAction::triggered, this, &CallPanel::run);
    connect(m_cancel, &QAction::triggered, this, &CallPanel::cancel);
    connect(m_json, &QAction::toggled, this, [this](bool json) { m_form->showJson(json); });
}

QWidget* CallPanel::createUpper()
{
    m_name = new ElidedLabel(InspectorText::tr("Choose a function"), TextRole::Title);
    m_signature = new ElidedLabel({}, TextRole::Mono);
    m_doc = makeLabel({}, TextRole::Secondary);
    m_doc->setWordWrap(true);
    m_statistics = makeLabel({}, TextRole::Caption);
    m_statistics->hide();
    m_form = new ArgumentForm;
    m_form->hide(); // until there is a function
    auto* head = new QHBoxLayout;
    head->setSpacing(space::s);
    head->addWidget(m_name, 1);
    m_presets = new PresetButton(m_client, [this] { return m_form->arguments(); });
    connectPresets();
    head->addWidget(m_presets);
    head->addWidget(makeActionButton(m_cancel));
    head->addWidget(makeActionButton(m_run, ButtonKind::Primary));
    m_upper = new QWidget;
    auto* layout = new QVBoxLayout(m_upper);
    layout->setContentsMargins(space::l, space::m, space::l, space::s);
    layout->setSpacing(space::xs);
    layout->addLayout(head);
    layout->addWidget(m_signature);
    layout->addWidget(m_doc);
    layout->addWidget(m_statistics);
    layout->addWidget(m_form, 1);
    layout->addStretch();
    return m_upper;
}

void CallPanel::connectPresets()
{
    connect(m_presets, &PresetButton::chosen, this,
        [this](const QString&, const Json& arguments) { setArguments(arguments); });
    connect(m_presets, &PresetButton::refused, this,
        [this](const QString& what, const Error& error) { m_banner->showError(what, error); });
    connect(m_presets, &PresetButton::deleted, this, [this](const QString& name, const Json& arguments) {
        m_banner->show(Tone::Info, InspectorText::tr("The preset “%1” was deleted").arg(name));
        if (arguments.empty())
            return;
        m_banner->addAction(InspectorText::tr("Undo"), [this, name, arguments] {
            m_banner->dismiss();
            m_presets->restore(name, arguments);
        });
    });
}

QList<QAction*> CallPanel::presetActions() const
{
    return {m_presets->openAction(), m_presets->saveAction()};
}

QWidget* CallPanel::createLower()
{
    m_state = new StatePill;
    m_state->setState(InspectorText::tr("ready"), Tone::Neutral);
    m_timing = new TimingBar;
    m_progress = new ProgressRow;
    m_progress->hide();
    m_banner = new Banner;
    m_result = new ResultView;
    m_result->setFetch([this](Json wanted, api::AnswerHandler handler) {
        wanted["interface"] = m_interface;
        m_client.call(this, "calls.tensor", std::move(wanted), std::move(handler));
    });
    m_output = new LogView;
    m_details = new KeyValueList;
    auto* details = new QWidget;
    auto* inside = new QVBoxLayout(details);
    inside->setContentsMargins(0, space::m, 0, 0);
    inside->addWidget(m_details);
    m_noDetails =
        makeLabel(InspectorText::tr("Who called, with what, and how long it took stands here after a call."),
            TextRole::Secondary);
    m_noDetails->setWordWrap(true);
    inside->addWidget(m_noDetails);
    inside->addStretch(1);
    m_tabs = new QTabWidget;
    auto* result = new QWidget;
    auto* resultLayout = new QVBoxLayout(result);
    resultLayout->setContentsMargins(0, space::s, 0, 0);
    resultLayout->addWidget(m_result);
    m_tabs->addTab(result, InspectorText::tr("Result"));
    m_tabs->addTab(m_output, InspectorText::tr("Output"));
    m_tabs->addTab(details, InspectorText::tr("Details"));
    m_tabs->addTab(createSeen(), InspectorText::tr("What the agent sees"));
    m_source = new SourcePanel(m_client);
    m_tabs->addTab(m_source, InspectorText::tr("Source"));
    connect(m_tabs, &QTabWidget::currentChanged, this, [this](int tab) {
        if (tab == sourceTab && !m_interface.empty())
            m_source->showSource(m_interface, m_functionLine);
        if (tab == detailsTab)
            m_details->setRows(m_detailRows);
    });
    auto* line = new QHBoxLayout;
    line->setSpacing(space::m);
    line->addWidget(m_state);
    line->addWidget(m_timing, 1);
    auto* lower = new QWidget;
    auto* layout = new QVBoxLayout(lower);
    layout->setContentsMargins(space::l, space::m, space::l, space::m);
    layout->setSpacing(space::s);
    layout->addLayout(line);
    layout->addWidget(m_progress);
    layout->addWidget(m_banner);
    layout->addWidget(m_tabs, 1);
    return lower;
}

void CallPanel::setFunction(const FunctionList::Function& function)
{
    const auto name = stringOr(function.schema, "name");
    const auto inputSchema = objectOr(function.schema, "input_schema");
    const auto interface = function.interfaceId.toStdString();
    const bool same = name == m_functionName && interface == m_interface;
    m_interface = interface;
    m_functionName = name;
    m_functionLine = static_cast<int>(integerOr(function.schema, "line", 1));
    m_parameters = function.schema.value("parameters", Json::array());
    m_name->setElidedText(QString::fromStdString(name));
    static_cast<ElidedLabel*>(m_signature)
        ->setElidedText(QString::fromStdString(name) + textField(function.schema, "signature"));
    m_doc->setText(harmless(textField(function.schema, "summary").left(2000)));
    m_doc->setToolTip(harmless(textField(function.schema, "doc")).toHtmlEscaped());
    m_doc->setVisible(!m_doc->text().isEmpty());
    // After a reload of the file what was typed stays, as far as it fits.
    const auto before = same ? m_form->arguments() : Result<Json>(fail("other", ""));
    m_form->setSchema(inputSchema);
    if (before)
        m_form->setArguments(*before);
    m_form->show();
    m_run->setEnabled(true);
    m_presets->setFunction(m_interface, m_functionName);
    askStatistics();
    if (m_tabs->currentIndex() == seenTab)
        showSeen(m_seenForm->currentData().toString());
    if (same)
        return m_source->refresh();
    // Somebody at work in the editor stays there.
    if (m_tabs->currentIndex() == sourceTab && !m_source->isChanged())
        m_source->showSource(m_interface, m_functionLine);
    beginCall({});
    setDetails({});
    showNotCalled();
    setRunning(false);
}

void CallPanel::setArguments(const Json& kwargs)
{
    m_form->setArguments(kwargs);
}

void CallPanel::beginCall(const std::string& call)
{
    m_call = call;
    m_items.clear();
    m_itemsSoon.stop();
    m_runningSoon.stop();
    m_followed = false;
    m_forced = false;
    m_banner->dismiss();
    m_progress->hide();
    m_output->clear();
    m_timing->clear();
    m_tabs->setTabText(outputTab, InspectorText::tr("Output"));
}

// What comes of a call is not left behind the editor.
void CallPanel::showResultTab()
{
    if (m_tabs->currentIndex() == sourceTab || m_tabs->currentIndex() == seenTab)
        m_tabs->setCurrentIndex(resultTab);
}

void CallPanel::setRunning(bool running)
{
    m_running = running;
    m_cancel->setEnabled(running);
    m_cancel->setVisible(running);
    m_cancel->setText(m_forced ? InspectorText::tr("Force") : InspectorText::tr("Cancel"));
}

void CallPanel::run()
{
    const auto arguments = m_form->arguments();
    if (!arguments) {
        m_banner->show(Tone::Warning, InspectorText::tr("These arguments cannot be sent"),
            errorSentence(arguments.error()));
        return;
    }
    showResultTab();
    const auto call = newId(); // the op is the call's id, so that its events are known before the answer
    beginCall(call);
    m_since = wallMs();
    m_state->setState(InspectorText::tr("running"), Tone::Accent, m_since);
    m_runningSoon.start();
    setRunning(true);
    const Json params = {{"interface", m_interface}, {"fn", m_functionName}, {"op", call}};
    const Json payload = {{"args", Json::array()}, {"kwargs", *arguments}};
    m_client.call(
        this, "calls.run", params,
        [this, call](Result<api::Answer> answer) { onAnswer(call, std::move(answer)); },
        payload.dump(-1, ' ', false, Json::error_handler_t::replace));
    Q_EMIT callStarted(QString::fromStdString(call));
}

void CallPanel::cancel()
{
    // The first asks the function to stop; the second ends its worker.
    m_client.call(
        this, "calls.cancel", {{"call", m_call}, {"force", m_forced}}, [this](Result<api::Answer> answer) {
            if (!answer)
                m_banner->showError(InspectorText::tr("The call was not cancelled"), answer.error());
        });
    m_forced = true;
    setRunning(m_running);
}

void CallPanel::showSource(int line)
{
    if (m_interface.empty())
        return;
    m_tabs->setCurrentIndex(sourceTab);
    m_source->showSource(m_interface, line > 0 ? line : m_functionLine);
    m_source->setFocus();
}

void CallPanel::focusArguments()
{
    // The fields of a function just chosen are laid out at the next turn.
    QTimer::singleShot(0, this, [this] { m_form->setFocus(Qt::ShortcutFocusReason); });
}

void CallPanel::find()
{
    if (m_tabs->currentIndex() == outputTab)
        m_output->find();
    else
        m_result->find();
}

} // namespace gb::ui
