// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

#include "sandboxespage.h"

#include <QApplication>
#include <QClipboard>
#include <QMenu>
#include <QPushButton>
#include <QSettings>
#include <QStackedWidget>
#include <QVBoxLayout>

#include <widgets/controls/banner.h>
#include <widgets/controls/buttons.h>
#include <widgets/controls/errortext.h>
#include <widgets/controls/filterfield.h>
#include <widgets/controls/pagebar.h>
#include <widgets/controls/splitter.h>
#include <widgets/controls/toast.h>
#include <widgets/itemmodels/fields.h>

#include "experimentfile.h"
#include "filepane.h"
#include "interfacetab.h"
#include "planpanel.h"
#include "pythonscript.h"
#include "runningview.h"
#include "sandboxform.h"
#include "sandboxlist.h"
#include "text.h"

namespace gb::ui {
namespace {

constexpr auto ownDefault = "sandbox/default";

Json ownDefaults()
{
    const auto text = remembered().value(QLatin1String(ownDefault)).toString().toStdString();
    const auto json = parseJson(text);
    return json && json->is_object() ? *json : Json::object();
}

} // namespace

SandboxesPage::SandboxesPage(api::Client& client, QWidget* parent)
    : Page(QStringLiteral("sandbox"), SandboxText::tr("Sandbox"), QStringLiteral("sandbox"), parent),
      m_client(client), m_draft(new Draft(SandboxSpec().toJson(), sandboxProblems, this)),
      m_file(new ExperimentFile(client, *m_draft, this))
{
    m_client.watch({"jobs", "sandboxes", "interfaces"});
    createActions();
    createLayout();
    createPresets();
    connectFile();
    if (const auto own = ownDefaults(); !own.empty())
        m_draft->applyPreset(own);
    connect(m_draft, &Draft::changed, this, &SandboxesPage::updateActions);
    connect(m_file, &ExperimentFile::textChanged, this, &SandboxesPage::updateActions);
    connect(m_plan, &PlanPanel::phaseChanged, this, &SandboxesPage::updateActions);
    connect(
        m_plan, &PlanPanel::fieldRequested, m_form->form(), [this](const QString& path) { showPlace(path); });
    connect(m_plan, &PlanPanel::oneOfRequested, this,
        [this](const QStringList& paths) { showPlace(m_form->form()->firstOf(paths)); });
    connect(m_plan, &PlanPanel::problemsFound, m_form->form(), &DraftForm::setFindings);
    connect(m_plan, &PlanPanel::ready, this, [this](const QString& sandbox) {
        // Only who is still watching is taken along.
        if (m_stack->currentIndex() == 0)
            m_list->choose(sandbox);
        else
            m_plan->forget();
    });
    // What is chosen may become ready, or end, while it is looked at.
    connect(&m_client, &api::Client::stateChanged, this, [this](const QString& topic) {
        if (topic == QLatin1String("sandboxes") && !m_list->chosen().isEmpty())
            showSandbox(m_list->chosen());
    });
    connect(m_list, &SandboxList::sandboxChosen, this, &SandboxesPage::showSandbox);
    connect(&m_client, &api::Client::connected, this, &SandboxesPage::loadCapabilities);
    if (m_client.state() == api::Client::State::Connected)
        loadCapabilities();
    updateActions();
}

void SandboxesPage::createActions()
{
    const auto add = [this](const QString& text, const char* iconName, const char* keys, auto act) {
        auto* action = makeAction(this, text, QLatin1String(iconName), QLatin1String(keys));
        connect(action, &QAction::triggered, this, act);
        return action;
    };
    m_start = add(SandboxText::tr("Start"), "play", "", [this] { start(); });
    m_obstacle = add(SandboxText::tr("%n problem(s)", nullptr, 0), "error", "", [this] { showObstacle(); });
    m_save = add(SandboxText::tr("Save"), "check", "Ctrl+S", [this] { save(); });
    m_discard = add(SandboxText::tr("Discard changes"), "close", "", [this] { m_file->discard(); });
    m_undo = add(SandboxText::tr("Undo"), "undo", "Ctrl+Z", [this] { m_draft->undo(); });
    m_redo = add(SandboxText::tr("Redo"), "redo", "Ctrl+Shift+Z", [this] { m_draft->redo(); });
    m_showFile = add(SandboxText::tr("Show file"), "file", "Ctrl+Shift+E",
        [this](bool shown) { m_filePane->setVisible(shown); });
    m_showFile->setCheckable(true);
    m_copy = add(SandboxText::tr("Copy as Python"), "copy", "", [this] {
        QApplication::clipboard()->setText(
            pythonScript(m_draft->values(), SandboxSpec().toJson(), m_file->folder()));
        m_toast->show(Tone::Success, SandboxText::tr("The script is in the clipboard."));
    });
    m_asDefault = add(SandboxText::tr("Save as my default"), "pin", "", [this] { saveAsDefault(); });
}

QList<QAction*> SandboxesPage::pageActions()
{
    return {m_save, m_discard, m_undo, m_redo, m_showFile, m_copy, m_asDefault};
}

void SandboxesPage::createPresets()
{
    constexpr std::int64_t gib = 1LL << 30;
    const auto add = [this](const QString& title, const Json& fields) {
        connect(m_presets->addAction(title), &QAction::triggered, this, [this, title, fields] {
            m_draft->applyPreset(fields);
            m_toast->showUndo(SandboxText::tr("Preset “%1”").arg(title), [this] { m_draft->undo(); });
        });
    };
    add(SandboxText::tr("Small and short"),
        {{"memory", 4 * gib}, {"cpu", 2}, {"timeout", 3600}, {"idle_timeout", 900}});
    add(SandboxText::tr("Scoped, with torch"),
        {{"scoped", true}, {"execution_mode", "none"},
            {"python_packages", Json::array({"torch", "transformers", "accelerate"})}, {"timeout", 14'400}});
    add(SandboxText::tr("Notebook with torch"),
        {{"scoped", false}, {"execution_mode", "notebook"},
            {"python_packages", Json::array({"torch", "transformers", "accelerate"})}, {"timeout", 28'800}});
    m_presets->addSeparator();
    connect(m_presets->addAction(SandboxText::tr("My default")), &QAction::triggered, this, [this] {
        const auto own = ownDefaults();
        if (own.empty())
            m_toast->show(Tone::Info, SandboxText::tr("You have not saved a default yet."));
        else
            m_draft->applyPreset(own);
    });
    m_presets->addAction(m_asDefault);
}

void SandboxesPage::createLayout()
{
    m_bar = new PageBar(title());
    m_search = new FilterField(SandboxText::tr("Search in the form"));
    m_bar->addWidget(m_search, 1);
    m_presetButton = makeButton(SandboxText::tr("Presets"));
    m_presetButton->setProperty("gbMenu", true);
    m_presets = new QMenu(m_presetButton);
    m_presetButton->setMenu(m_presets);
    m_bar->addWidget(m_presetButton);
    for (auto* action : {m_undo, m_redo})
        m_bar->addIcon(action);
    for (auto* action : {m_showFile, m_copy, m_save})
        m_bar->addAction(action);
    m_bar->addAction(m_obstacle, ButtonKind::Danger);
    m_bar->setPrimary(m_start);
    m_banner = new Banner;
    auto* layout = new QVBoxLayout(this);
    layout->setContentsMargins(0, 0, 0, 0);
    layout->setSpacing(0);
    auto* top = new QVBoxLayout;
    top->setContentsMargins(space::xl, space::m, space::xl, space::m);
    top->setSpacing(space::s);
    top->addWidget(m_bar);
    top->addWidget(m_banner);
    layout->addLayout(top);
    // From outside in: every widget that is put into another is styled anew with all that is in it.
    auto* columns = new Splitter(QStringLiteral("sandbox/columns"), Qt::Horizontal, this);
    layout->addWidget(columns, 1);
    m_stack = new QStackedWidget(columns);
    auto* setUp = new Splitter(QStringLiteral("sandbox/setup"), Qt::Horizontal, m_stack);
    m_stack->addWidget(setUp);
    m_form = new SandboxForm(m_client, *m_draft, *m_file, setUp);
    m_filePane = new FilePane(*m_file, *m_draft, setUp);
    m_filePane->hide();
    m_plan = new PlanPanel(m_client, *m_draft, setUp);
    m_plan->setDescriber(
        [form = m_form->form()](const SpecProblem& problem) { return form->sentences(problem); });
    setUp->setDefaults({60, 40, 36});
    m_list = new SandboxList(m_client, *m_form->form(), columns);
    columns->insertWidget(0, m_list);
    columns->setDefaults({17, 83});
    m_toast = new Toast(this);
    connect(m_search, &FilterField::filterChanged, this,
        [this](const QString& words) { m_form->form()->search(words); });
    connect(
        m_form, &SandboxForm::notice, this, [this](const QString& text) { m_toast->show(Tone::Info, text); });
}

RunningView* SandboxesPage::running()
{
    if (m_running)
        return m_running;
    m_running = new RunningView(m_client);
    m_running->tab<InterfaceTab>()->setFolder(m_folder);
    m_stack->addWidget(m_running);
    connect(m_running, &RunningView::pageRequested, this, &Page::pageRequested);
    connect(m_running, &RunningView::copyRequested, this, [this](const Json& spec) {
        m_draft->set(spec);
        m_list->choose({});
    });
    return m_running;
}

void SandboxesPage::connectFile()
{
    connect(m_file, &ExperimentFile::opened, this, [this] {
        m_banner->dismiss();
        updateActions();
    });
    connect(m_file, &ExperimentFile::unreadable, this, [this](const Error& error) {
        m_banner->show(Tone::Error, SandboxText::tr("experiment.toml cannot be read as it stands"),
            QString::fromStdString(error.message));
        m_banner->addAction(SandboxText::tr("Show the file"), [this] { m_showFile->trigger(); });
    });
    connect(m_file, &ExperimentFile::changedOnDisk, this, &SandboxesPage::askAboutChange);
}

void SandboxesPage::askAboutChange(const QStringList& both, bool text)
{
    if (both.isEmpty() && !text) {
        m_banner->dismiss();
        m_toast->show(Tone::Info, SandboxText::tr("experiment.toml was changed outside; the form follows."));
        return;
    }
    auto mine = both;
    if (text)
        mine += SandboxText::tr("the file's text");
    m_banner->show(Tone::Warning, SandboxText::tr("experiment.toml was changed outside"),
        SandboxText::tr("You changed these here as well, and yours are shown: %1")
            .arg(mine.join(QStringLiteral(", "))));
    m_banner->addAction(SandboxText::tr("Keep mine"), [this] { m_banner->dismiss(); });
    m_banner->addAction(SandboxText::tr("Take theirs"), [this, both] {
        m_file->takeTheirText();
        for (const auto& field : both)
            m_draft->reset(field.toStdString());
        m_banner->dismiss();
    });
}

void SandboxesPage::setExperiment(const QString& folder)
{
    m_file->open(folder);
    m_plan->setExperiment(folder);
    m_folder = folder;
    if (m_running)
        m_running->tab<InterfaceTab>()->setFolder(folder);
}

void SandboxesPage::loadCapabilities()
{
    m_client.call(this, "secrets.list", Json::object(), [this](Result<api::Answer> answer) {
        QStringList names;
        if (answer && answer->body.contains("secrets"))
            for (const auto& secret : answer->body["secrets"])
                names += textField(secret, "name");
        m_form->setStoredSecrets(names);
    });
    m_client.call(this, "sandboxes.capabilities", Json::object(), [this](Result<api::Answer> answer) {
        m_settled = true;
        if (answer) {
            m_form->setCapabilities(answer->body);
            return;
        }
        // The next daemon is asked again.
        if (answer.error().code == "api.disconnected")
            return;
        m_banner->showError(SandboxText::tr("What this machine can do is not known"), answer.error());
        m_banner->addAction(SandboxText::tr("Try again"), [this] { refresh(); });
    });
}

void SandboxesPage::refresh()
{
    m_banner->dismiss();
    loadCapabilities();
    m_plan->plan();
    if (m_running)
        m_running->refresh();
}

void SandboxesPage::find()
{
    if (m_stack->currentIndex() == 0)
        m_search->setFocus(Qt::ShortcutFocusReason);
    else
        running()->find();
}

bool SandboxesPage::settled() const
{
    return m_settled && m_file->settled() && m_plan->settled();
}

void SandboxesPage::updateActions()
{
    const bool setUp = m_stack->currentIndex() == 0;
    m_start->setEnabled(setUp && m_file->isReadable() && m_plan->canStart());
    m_start->setVisible(setUp);
    const auto obstacles = static_cast<int>(m_plan->obstacles().size());
    m_obstacle->setText(SandboxText::tr("%n problem(s)", nullptr, obstacles));
    m_obstacle->setToolTip(SandboxText::tr("It cannot start like this. Show what to mend first."));
    m_obstacle->setVisible(setUp && obstacles > 0);
    m_start->setToolTip(!m_file->isReadable() ? SandboxText::tr("experiment.toml cannot be read as it stands")
            : obstacles > 0                   ? m_obstacle->toolTip()
                                              : SandboxText::tr("Start (Ctrl+Enter)"));
    m_save->setEnabled(setUp && m_file->hasFolder() && m_file->hasChanges() && m_draft->isValid());
    m_discard->setEnabled(setUp && m_file->hasChanges());
    m_undo->setEnabled(setUp && m_draft->canUndo());
    m_redo->setEnabled(setUp && m_draft->canRedo());
    for (auto* action : {m_save, m_undo, m_redo, m_showFile, m_copy})
        action->setVisible(setUp);
    m_asDefault->setEnabled(m_draft->isValid());
    m_search->setVisible(setUp);
    m_presetButton->setVisible(setUp);
}

void SandboxesPage::start()
{
    // What runs is what the file says, so that it can be found again.
    if (m_file->hasFolder() && m_file->hasChanges())
        save();
    m_plan->start();
}

void SandboxesPage::showObstacle()
{
    if (m_stack->currentIndex() != 0)
        return;
    if (m_file->isReadable())
        m_plan->showObstacle();
    else
        m_banner->enter();
}

void SandboxesPage::save()
{
    m_file->save([this](Status status) {
        if (status)
            m_toast->show(Tone::Success, SandboxText::tr("Saved in experiment.toml."));
        else if (status.error().code == "experiments.changed")
            m_toast->show(Tone::Warning,
                SandboxText::tr(
                    "Not saved: experiment.toml was just changed outside. Look at it, then save."));
        else
            m_banner->showError(SandboxText::tr("experiment.toml was not saved"), status.error());
    });
}

void SandboxesPage::saveAsDefault()
{
    const auto defaults = SandboxSpec().toJson();
    Json own = Json::object();
    for (const auto& [field, value] : m_draft->values().items())
        if (field != "name" && (!defaults.contains(field) || defaults[field] != value))
            own[field] = value;
    remembered().setValue(QLatin1String(ownDefault), compactJson(own));
    m_toast->show(Tone::Success, SandboxText::tr("New sandboxes begin like this from now on."));
}

void SandboxesPage::showSandbox(const QString& sandbox)
{
    const auto& items = m_client.items("sandboxes");
    const auto id = sandbox.toStdString();
    const auto state = items.is_object() && items.contains(id) ? stringOr(items[id], "state") : std::string();
    const bool building = state == "planned" || state == "building" || state == "starting";
    if (building && m_plan->sandbox() != id)
        m_plan->follow(id, stringOr(items[id], "job"));
    const bool setUp = sandbox.isEmpty() || building;
    if (!setUp && m_plan->phase() == PlanPanel::Phase::Ready && m_plan->sandbox() == id)
        m_plan->forget();
    // Start goes away with the form; the next in line would be Stop, where one more Enter ends it all.
    const auto* focus = QApplication::focusWidget();
    const bool leaving = !setUp && (m_bar->isAncestorOf(focus) || m_stack->widget(0)->isAncestorOf(focus));
    if (!setUp || m_running)
        running()->show(setUp ? QString() : sandbox);
    m_stack->setCurrentIndex(setUp ? 0 : 1);
    if (leaving)
        running()->enter();
    m_list->showOutline(setUp);
    updateActions();
}

void SandboxesPage::showPlace(const QString& place)
{
    const auto& items = m_client.items("sandboxes");
    if (items.is_object() && items.contains(place.toStdString()))
        return m_list->choose(place);
    if (!m_list->chosen().isEmpty())
        m_list->choose({});
    if (place.isEmpty())
        return;
    m_search->clear();
    m_form->form()->showField(place.toStdString());
}

} // namespace gb::ui
