// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

#include "pagetable.h"

#include <widgets/itemmodels/machinefindings.h>
#include <widgets/pages/home/homepage.h>
#include <widgets/pages/inspector/inspectorpage.h>
#include <widgets/pages/models/modelspage.h>
#include <widgets/pages/sandboxes/sandboxespage.h>
#include <widgets/pages/settings/settingspage.h>

#include "comingpage.h"
#include "text.h"

namespace gb::ui {
namespace {

PageEntry coming(const char* id, const QString& title, const QString& sentence, const char* command)
{
    const auto name = QString::fromLatin1(id);
    return {name, title, name, [=, line = QString::fromLatin1(command)] {
                return new ComingPage(name, title, name, sentence, line);
            }};
}

} // namespace

std::vector<PageEntry> pageTable(api::Client& client)
{
    const auto findings = std::make_shared<MachineFindings>(client);
    std::vector<PageEntry> pages;
    pages.push_back({QStringLiteral("home"), ShellText::tr("Home"), QStringLiteral("home"),
        [&client, findings] { return new HomePage(client, findings); }});
    pages.push_back({QStringLiteral("sandbox"), ShellText::tr("Sandbox"), QStringLiteral("sandbox"),
        [&client] { return new SandboxesPage(client); }});
    pages.push_back({QStringLiteral("models"), ShellText::tr("Models"), QStringLiteral("models"),
        [&client] { return new ModelsPage(client); }});
    pages.push_back({QStringLiteral("inspector"), ShellText::tr("Inspector"), QStringLiteral("inspector"),
        [&client] { return new InspectorPage(client); }});
    pages.push_back(coming("runs", ShellText::tr("Runs"),
        ShellText::tr("Calls of served functions are recorded all the same, and can be listed."),
        "glovebox calls ls"));
    pages.push_back(coming("notebook", ShellText::tr("Notebook"),
        ShellText::tr("A script or a notebook of your own can call served functions over HTTP."), ""));
    pages.push_back(coming("snapshots", ShellText::tr("Snapshots"),
        ShellText::tr("A snapshot keeps a sandbox's files together with how it was made."), ""));
    pages.push_back({QStringLiteral("settings"), ShellText::tr("Settings"), QStringLiteral("settings"),
        [&client, findings] { return new SettingsPage(client, findings); }});
    return pages;
}

} // namespace gb::ui
