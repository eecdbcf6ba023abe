// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

#include "mainwindow.h"

#include <QAction>
#include <QApplication>
#include <QCloseEvent>
#include <QDir>
#include <QDragEnterEvent>
#include <QFileDialog>
#include <QFileInfo>
#include <QHBoxLayout>
#include <QMimeData>
#include <QSettings>
#include <QShortcut>
#include <QStackedWidget>
#include <QTimer>

#include <widgets/controls/banner.h>
#include <widgets/controls/errortext.h>
#include <widgets/controls/lookstore.h>
#include <widgets/controls/splitter.h>
#include <widgets/controls/theme.h>
#include <widgets/itemmodels/fields.h>
#include <widgets/itemmodels/livestate.h>

#include "alivepopup.h"
#include "closequestion.h"
#include "commandpalette.h"
#include "headerbar.h"
#include "helppanel.h"
#include "notifications.h"
#include "rail.h"
#include "text.h"
#include "tray.h"

namespace gb::ui {

MainWindow::MainWindow(api::Client& client, const QString& firstPage)
    : m_client(client), m_table(pageTable(client))
{
    setWindowTitle(ShellText::tr("Glovebox"));
    setAcceptDrops(true);
    setMinimumSize(800, 560);
    resize(1280, 800);
    m_pages.resize(m_table.size());
    m_client.watch({"jobs", "models", "interfaces", "calls", "runs", "sandboxes", "daemon"});
    createLayout();
    createShortcuts();
    connectService();
    m_stack->setFocus();
    restoreGeometry(remembered().value(QStringLiteral("window/geometry")).toByteArray());
    if (!showPage(firstPage))
        showIndex(0);
}

void MainWindow::createLayout()
{
    m_rail = new Rail;
    m_header = new HeaderBar(m_client);
    m_connection = new Banner;
    m_stack = new QStackedWidget;
    m_tray = new Tray(m_client);
    auto* column = new QVBoxLayout;
    column->setSpacing(0);
    column->addWidget(m_header);
    m_notice = new QVBoxLayout;
    m_notice->addWidget(m_connection);
    m_notice->setContentsMargins(space::xl, 0, space::xl, 0);
    column->addLayout(m_notice);
    column->addWidget(m_stack, 1);
    auto* upper = new QHBoxLayout;
    upper->setSpacing(0);
    upper->addWidget(m_rail);
    upper->addLayout(column, 1);
    auto* layout = new QVBoxLayout(this);
    layout->setContentsMargins(0, 0, 0, 0);
    layout->setSpacing(0);
    layout->addLayout(upper, 1);
    layout->addWidget(m_tray);
    m_palette = new CommandPalette(this);
    m_notifications = new Notifications(m_client, this);
    m_alive = new AlivePopup(m_client, this);
    m_help = new HelpPanel(this);

    for (std::size_t i = 0; i < m_table.size(); ++i)
        m_rail->addPage(m_table[i].title, m_table[i].iconName, QStringLiteral("Ctrl+%1").arg(i + 1),
            i + 1 == m_table.size());
    connect(m_rail, &Rail::chosen, this, &MainWindow::showIndex);
    connect(m_header, &HeaderBar::paletteRequested, this, [this] { m_palette->open(commands()); });
    connect(m_header, &HeaderBar::experimentRequested, this, &MainWindow::openExperiment);
    connect(m_header, &HeaderBar::openRequested, this, &MainWindow::chooseFolder);
    connect(m_header, &HeaderBar::newRequested, this, &MainWindow::newExperiment);
    connect(m_header, &HeaderBar::notificationsRequested, this,
        [this] { m_notifications->openBelow(m_header->bell()); });
    connect(m_header, &HeaderBar::aliveRequested, this, [this] { m_alive->openBelow(m_header->state()); });
    connect(m_notifications, &Notifications::unreadChanged, m_header, &HeaderBar::setUnread);
    connect(m_tray, &Tray::failed, this, [this](const QString& what, const Error& error) {
        m_notifications->add(Tone::Error, what, errorSentence(error));
    });
}

void MainWindow::createShortcuts()
{
    const auto add = [this](const QString& keys, auto act) {
        auto* shortcut = new QShortcut(QKeySequence(keys), this);
        connect(shortcut, &QShortcut::activated, this, act);
    };
    for (std::size_t i = 0; i < m_table.size(); ++i)
        add(QStringLiteral("Ctrl+%1").arg(i + 1), [this, i] { showIndex(static_cast<int>(i)); });
    add(QStringLiteral("Ctrl+K"), [this] { m_palette->open(commands()); });
    add(QStringLiteral("F1"), [this] { m_help->open(currentPage()->id()); });
    add(QStringLiteral("F5"), [this] { currentPage()->refresh(); });
    add(QStringLiteral("F11"), [this] { setWindowState(windowState() ^ Qt::WindowFullScreen); });
    add(QStringLiteral("Ctrl+F"), [this] { currentPage()->find(); });
    add(QStringLiteral("Ctrl+N"), [this] { newExperiment(); });
    add(QStringLiteral("Ctrl+Q"), [this] { close(); });
    const auto primary = [this] {
        auto* action = currentPage()->primaryAction();
        if (action && action->isEnabled())
            action->trigger();
        else if (action)
            currentPage()->showObstacle();
    };
    add(QStringLiteral("Ctrl+Return"), primary);
    add(QStringLiteral("Ctrl+Enter"), primary);
}

void MainWindow::connectService()
{
    connect(&m_client, &api::Client::connected, this, [this] {
        showConnection(nullptr);
        loadRecent();
        loadScheme();
        const auto last = remembered().value(QStringLiteral("window/experiment")).toString();
        if (!m_asked && !last.isEmpty())
            openExperiment(last);
    });
    connect(
        &m_client, &api::Client::disconnected, this, [this](const Error& error) { showConnection(&error); });
}

void MainWindow::showConnection(const Error* error)
{
    m_notice->setContentsMargins(space::xl, error ? space::m : 0, space::xl, 0);
    if (!error) {
        m_connection->dismiss();
        return;
    }
    m_connection->show(Tone::Warning, ShellText::tr("The background service is away"),
        ShellText::tr(
            "The window reconnects by itself. Sandboxes and served interfaces go on in the meantime."),
        errorDetails(*error));
}

Page* MainWindow::page(int index)
{
    auto& made = m_pages.at(static_cast<std::size_t>(index));
    if (made)
        return made;
    made = m_table.at(static_cast<std::size_t>(index)).make();
    m_stack->addWidget(made);
    connect(made, &Page::pageRequested, this, &MainWindow::showPage);
    connect(made, &Page::experimentRequested, this, &MainWindow::openExperiment);
    connect(made, &Page::notificationRequested, this,
        [this](Tone tone, const QString& title, const QString& text) {
            m_notifications->add(tone, title, text);
        });
    if (!m_experiment.isEmpty())
        made->setExperiment(m_experiment);
    // Actions with a shortcut work while their page is in front.
    for (auto* action : made->pageActions()) {
        action->setShortcutContext(Qt::WidgetWithChildrenShortcut);
        made->addAction(action);
    }
    return made;
}

Page* MainWindow::currentPage() const
{
    return m_pages.at(static_cast<std::size_t>(m_current));
}

void MainWindow::showIndex(int index)
{
    auto* shown = page(index);
    m_current = index;
    m_stack->setCurrentWidget(shown);
    // From here Tab goes into the page.
    if (const auto* focus = QApplication::focusWidget(); !focus || focus == m_stack)
        shown->setFocus();
    m_rail->setCurrent(index);
    setWindowTitle(m_experiment.isEmpty()
            ? ShellText::tr("%1 — Glovebox").arg(shown->title())
            : ShellText::tr("%1 — %2 — Glovebox").arg(shown->title(), QDir(m_experiment).dirName()));
}

bool MainWindow::showPage(const QString& id, const QString& place)
{
    for (std::size_t i = 0; i < m_table.size(); ++i) {
        if (m_table[i].id != id)
            continue;
        showIndex(static_cast<int>(i));
        if (!place.isEmpty())
            currentPage()->showPlace(place);
        return true;
    }
    return false;
}

bool MainWindow::settled() const
{
    return m_client.state() == api::Client::State::Connected && currentPage()->settled();
}

std::vector<Command> MainWindow::commands()
{
    std::vector<Command> all;
    for (auto* action : currentPage()->pageActions())
        if (action->isEnabled() && action->isVisible())
            all.push_back({action->text(), currentPage()->title(), action->property("gbIcon").toString(),
                action->shortcut().toString(QKeySequence::NativeText), [action] { action->trigger(); }});
    for (std::size_t i = 0; i < m_table.size(); ++i)
        all.push_back({ShellText::tr("Go to %1").arg(m_table[i].title), {}, m_table[i].iconName,
            QStringLiteral("Ctrl+%1").arg(i + 1), [this, i] { showIndex(static_cast<int>(i)); }});
    for (const auto& [name, folder] : m_recent)
        all.push_back({ShellText::tr("Open %1").arg(name), folder, QStringLiteral("folder"), {},
            [this, path = folder] { openExperiment(path); }});
    all.push_back({ShellText::tr("New experiment…"), {}, QStringLiteral("plus"), QStringLiteral("Ctrl+N"),
        [this] { newExperiment(); }});
    all.push_back(
        {ShellText::tr("Open folder…"), {}, QStringLiteral("folder"), {}, [this] { chooseFolder(); }});
    all.push_back({ShellText::tr("Show notifications"), {}, QStringLiteral("bell"), {},
        [this] { m_notifications->openBelow(m_header->bell()); }});
    all.push_back({ShellText::tr("What is alive"), {}, QStringLiteral("stop"), {},
        [this] { m_alive->openBelow(m_header->state()); }});
    all.push_back({ShellText::tr("Show all jobs"), {}, QStringLiteral("download"), {},
        [this] { m_tray->setOpen(true); }});
    all.push_back({ShellText::tr("Help for this page"), {}, QStringLiteral("help"), QStringLiteral("F1"),
        [this] { m_help->open(currentPage()->id()); }});
    all.push_back({ShellText::tr("Refresh this page"), {}, QStringLiteral("refresh"), QStringLiteral("F5"),
        [this] { currentPage()->refresh(); }});
    all.push_back({ShellText::tr("Close the window"), {}, QStringLiteral("close"), QStringLiteral("Ctrl+Q"),
        [this] { close(); }});
    return all;
}

void MainWindow::chooseFolder()
{
    const auto folder = QFileDialog::getExistingDirectory(this, ShellText::tr("Open an experiment folder"));
    if (!folder.isEmpty())
        openExperiment(folder);
}

void MainWindow::newExperiment()
{
    QFileDialog dialog(this, ShellText::tr("A folder for the new experiment"));
    dialog.setAcceptMode(QFileDialog::AcceptSave);
    dialog.setFileMode(QFileDialog::AnyFile);
    dialog.setOptions(QFileDialog::ShowDirsOnly | QFileDialog::DontConfirmOverwrite);
    dialog.setLabelText(QFileDialog::Accept, ShellText::tr("Create"));
    dialog.setLabelText(QFileDialog::FileName, ShellText::tr("Folder:"));
    if (dialog.exec() != QDialog::Accepted || dialog.selectedFiles().isEmpty())
        return;
    m_asked = true;
    const auto folder = dialog.selectedFiles().first();
    const Json params = {{"path", folder.toStdString()}};
    m_client.call(this, "experiments.new", params, [this, folder](Result<api::Answer> answer) {
        if (!answer) {
            m_notifications->add(Tone::Error, ShellText::tr("%1 was not created").arg(QDir(folder).dirName()),
                errorSentence(answer.error()));
            return;
        }
        showExperiment(answer->body);
        loadRecent();
        showPage(QStringLiteral("sandbox"), QStringLiteral("name"));
    });
}

void MainWindow::openExperiment(const QString& folder)
{
    m_asked = true;
    const Json params = {{"path", folder.toStdString()}};
    m_client.call(this, "experiments.open", params, [this, folder](Result<api::Answer> answer) {
        if (!answer) {
            m_notifications->add(Tone::Error, ShellText::tr("%1 was not opened").arg(QDir(folder).dirName()),
                errorSentence(answer.error()));
            return;
        }
        showExperiment(answer->body);
        loadRecent();
    });
}

void MainWindow::showExperiment(const Json& experiment)
{
    m_experiment = textField(experiment, "path");
    auto name = textField(experiment, "name");
    if (name.isEmpty())
        name = QDir(m_experiment).dirName();
    m_header->setExperiment(name, m_experiment);
    setWindowTitle(ShellText::tr("%1 — %2 — Glovebox").arg(currentPage()->title(), name));
    remembered().setValue(QStringLiteral("window/experiment"), m_experiment);
    for (auto* made : m_pages)
        if (made)
            made->setExperiment(m_experiment);
}

void MainWindow::loadRecent()
{
    m_client.call(this, "experiments.list", Json::object(), [this](Result<api::Answer> answer) {
        if (!answer)
            return;
        m_recent.clear();
        const auto found = answer->body.find("experiments");
        if (found != answer->body.end() && found->is_array())
            for (const auto& experiment : *found)
                if (experiment.is_object() && m_recent.size() < 10) {
                    const auto folder = textField(experiment, "path");
                    const auto name = textField(experiment, "name");
                    m_recent.append({name.isEmpty() ? QDir(folder).dirName() : name, folder});
                }
        m_header->setRecent(m_recent);
    });
}

void MainWindow::loadScheme()
{
    m_client.call(this, "settings.get", {{"key", "window.theme"}}, [this](Result<api::Answer> answer) {
        if (!answer || m_schemeFixed)
            return;
        const auto name = stringOr(answer->body, "value");
        auto look = Theme::instance().look();
        look.scheme = name == "dark" ? Scheme::Dark : name == "light" ? Scheme::Light : Scheme::System;
        if (look == Theme::instance().look())
            return;
        rememberLook(look);
        Theme::instance().apply(look);
    });
}

void MainWindow::dragEnterEvent(QDragEnterEvent* event)
{
    const auto urls = event->mimeData()->urls();
    if (urls.size() == 1 && urls.first().isLocalFile())
        event->acceptProposedAction();
}

void MainWindow::dropEvent(QDropEvent* event)
{
    event->acceptProposedAction();
    openExperiment(event->mimeData()->urls().first().toLocalFile());
}

void MainWindow::closeEvent(QCloseEvent* event)
{
    remembered().setValue(QStringLiteral("window/geometry"), saveGeometry());
    const auto alive = aliveItems(m_client);
    if (m_closing || alive.isEmpty() || m_client.state() != api::Client::State::Connected) {
        event->accept();
        return;
    }
    const auto answer = askAboutAlive(this, alive);
    if (answer == CloseAnswer::Cancel) {
        event->ignore();
    } else if (answer == CloseAnswer::KeepRunning) {
        event->accept();
    } else {
        event->ignore();
        stopEverything();
    }
}

void MainWindow::stopEverything()
{
    auto waiting = std::make_shared<int>(0);
    for (const auto& item : aliveItems(m_client)) {
        if (!item.stoppable)
            continue;
        ++*waiting;
        stopItem(m_client, this, item, [this, waiting](Status status) {
            if (!status)
                m_notifications->add(
                    Tone::Error, ShellText::tr("Something was not stopped"), errorSentence(status.error()));
            else if (--*waiting == 0) {
                m_closing = true;
                close();
            }
        });
    }
}

} // namespace gb::ui
