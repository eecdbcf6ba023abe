// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <vector>

#include <QWidget>

#include <backend/api/client.h>

#include "pagetable.h"

class QStackedWidget;
class QVBoxLayout;

namespace gb::ui {

class AlivePopup;
class Banner;
class CommandPalette;
class HeaderBar;
class HelpPanel;
class Notifications;
class Rail;
class Tray;
struct Command;

// The window: it wires pages to the header, the rail, the palette and the tray, and knows nothing they do.
class MainWindow final : public QWidget
{
    Q_OBJECT

public:
    explicit MainWindow(api::Client& client, const QString& firstPage = QStringLiteral("home"));

    bool showPage(const QString& id, const QString& place = {});
    Page* currentPage() const;
    void openExperiment(const QString& folder);
    // Connected, and the page in front has what it shows.
    bool settled() const;
    std::vector<Command> commands();
    Tray* tray() const { return m_tray; }
    // The theme was given on the command line: the setting does not change it.
    void fixScheme() { m_schemeFixed = true; }

protected:
    void closeEvent(QCloseEvent* event) override;
    void dragEnterEvent(QDragEnterEvent* event) override;
    void dropEvent(QDropEvent* event) override;

private:
    void createLayout();
    void createShortcuts();
    void connectService();
    Page* page(int index);
    void showIndex(int index);
    void showExperiment(const Json& experiment);
    void loadRecent();
    void loadScheme();
    void chooseFolder();
    void newExperiment();
    void showConnection(const Error* error);
    void stopEverything();

    api::Client& m_client;
    std::vector<PageEntry> m_table;
    std::vector<Page*> m_pages;
    QList<QPair<QString, QString>> m_recent; // name, folder
    QString m_experiment; // folder
    Rail* m_rail = nullptr;
    HeaderBar* m_header = nullptr;
    Banner* m_connection = nullptr;
    QVBoxLayout* m_notice = nullptr;
    QStackedWidget* m_stack = nullptr;
    Tray* m_tray = nullptr;
    CommandPalette* m_palette = nullptr;
    Notifications* m_notifications = nullptr;
    AlivePopup* m_alive = nullptr;
    HelpPanel* m_help = nullptr;
    int m_current = -1;
    bool m_asked = false; // for an experiment, so that the last one is not opened over it
    bool m_closing = false;
    bool m_schemeFixed = false;
};

} // namespace gb::ui
