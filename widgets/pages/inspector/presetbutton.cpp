// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

#include "presetbutton.h"

#include <utility>

#include <QAction>
#include <QInputDialog>
#include <QMenu>
#include <QMessageBox>

#include <widgets/controls/buttons.h>
#include <widgets/controls/icons.h>
#include <widgets/itemmodels/fields.h>

#include "text.h"

namespace gb::ui {
namespace {

// A menu reads "&" as a mark.
QString menuText(QString name)
{
    return name.replace(QLatin1Char('&'), QStringLiteral("&&"));
}

} // namespace

PresetButton::PresetButton(api::Client& client, Arguments arguments, QWidget* parent)
    : QPushButton(parent), m_client(client), m_arguments(std::move(arguments))
{
    setText(InspectorText::tr("Presets"));
    setToolTip(InspectorText::tr("Arguments kept in the experiment (Ctrl+Shift+P)"));
    setEnabled(false);
    m_menu = new QMenu(this);
    m_menu->setToolTipsVisible(true);
    setMenu(m_menu);
    connect(m_menu, &QMenu::aboutToShow, this, &PresetButton::ask);
    m_open = makeAction(
        this, InspectorText::tr("Presets…"), QStringLiteral("pin"), QStringLiteral("Ctrl+Shift+P"));
    connect(m_open, &QAction::triggered, this, [this] {
        if (isEnabled())
            showMenu();
    });
    m_save = makeAction(this, InspectorText::tr("Keep these arguments…"), QStringLiteral("plus"),
        QStringLiteral("Ctrl+Shift+S"));
    connect(m_save, &QAction::triggered, this, &PresetButton::askName);
    fillMenu();
}

void PresetButton::setFunction(const std::string& interface, const std::string& function)
{
    setEnabled(!function.empty());
    if (interface == m_interface && function == m_function)
        return;
    m_interface = interface;
    m_function = function;
    m_presets = Json::array();
    m_current.clear();
    fillMenu();
    ask();
}

void PresetButton::ask()
{
    if (m_function.empty())
        return;
    m_client.call(this, "presets.list", {{"interface", m_interface}, {"fn", m_function}},
        [this, function = m_function](const Result<api::Answer>& answer) {
            if (function != m_function)
                return;
            const auto before = std::exchange(
                m_presets, answer ? answer->body.value("presets", Json::array()) : Json::array());
            // A menu that is open does not move under the hand.
            if (m_presets != before)
                fillMenu();
            if (!answer)
                Q_EMIT refused(InspectorText::tr("The presets could not be read"), answer.error());
        });
}

void PresetButton::fillMenu()
{
    m_menu->clear();
    auto* renames = new QMenu(InspectorText::tr("Rename"), m_menu);
    auto* deletes = new QMenu(InspectorText::tr("Delete"), m_menu);
    for (const auto& preset : m_presets) {
        const auto name = textField(preset, "name");
        const auto problem = textField(preset, "problem");
        const auto arguments = objectOr(preset, "arguments");
        auto* load = m_menu->addAction(menuText(name), this, [this, name, arguments] {
            m_current = name;
            Q_EMIT chosen(name, arguments);
        });
        load->setEnabled(problem.isEmpty());
        load->setToolTip(
            problem.isEmpty() ? compactJson(arguments).left(300).toHtmlEscaped() : problem.toHtmlEscaped());
        if (!problem.isEmpty())
            load->setText(InspectorText::tr("%1 — cannot be read").arg(menuText(name)));
        renames->addAction(menuText(name), this, [this, name] { rename(name); });
        deletes->addAction(menuText(name), this, [this, name, arguments] {
            change("presets.rm", {{"name", name.toStdString()}},
                InspectorText::tr("The preset was not deleted"),
                [this, name, arguments] { Q_EMIT deleted(name, arguments); });
        });
    }
    if (m_presets.empty())
        m_menu->addAction(InspectorText::tr("None for this function yet"))->setEnabled(false);
    m_menu->addSeparator();
    m_menu->addAction(m_save);
    if (m_presets.empty())
        return;
    m_menu->addMenu(renames);
    m_menu->addMenu(deletes);
}

void PresetButton::askName()
{
    if (!isEnabled())
        return;
    bool given = false;
    const auto name = QInputDialog::getText(this, InspectorText::tr("Keep these arguments"),
        InspectorText::tr("Name (a file of this name is written into the experiment):"), QLineEdit::Normal,
        m_current, &given);
    if (!given || name.isEmpty())
        return;
    bool exists = false;
    for (const auto& preset : m_presets)
        exists |= textField(preset, "name") == name;
    if (exists
        && QMessageBox::question(this, InspectorText::tr("Keep these arguments"),
               InspectorText::tr("There is a preset “%1” already. Replace it?").arg(name))
            != QMessageBox::Yes)
        return;
    save(name, exists);
}

void PresetButton::save(const QString& name, bool replace)
{
    const auto arguments = m_arguments();
    if (!arguments)
        return Q_EMIT refused(InspectorText::tr("These arguments cannot be kept"), arguments.error());
    change("presets.save", {{"name", name.toStdString()}, {"arguments", *arguments}, {"replace", replace}},
        InspectorText::tr("The preset was not saved"), [this, name] { m_current = name; });
}

void PresetButton::restore(const QString& name, const Json& arguments)
{
    change("presets.save", {{"name", name.toStdString()}, {"arguments", arguments}},
        InspectorText::tr("The preset was not saved"));
}

void PresetButton::rename(const QString& name)
{
    bool given = false;
    const auto to = QInputDialog::getText(this, InspectorText::tr("Rename the preset"),
        InspectorText::tr("New name:"), QLineEdit::Normal, name, &given);
    if (given && !to.isEmpty() && to != name)
        change("presets.rename", {{"name", name.toStdString()}, {"to", to.toStdString()}},
            InspectorText::tr("The preset was not renamed"));
}

void PresetButton::change(
    const std::string& method, Json params, const QString& failure, std::function<void()> done)
{
    params["interface"] = m_interface;
    params["fn"] = m_function;
    m_client.call(this, method, std::move(params),
        [this, failure, done = std::move(done)](const Result<api::Answer>& answer) {
            if (!answer)
                Q_EMIT refused(failure, answer.error());
            else if (done)
                done();
            ask();
        });
}

} // namespace gb::ui
