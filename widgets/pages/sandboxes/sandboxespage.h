// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <backend/api/client.h>
#include <widgets/controls/page.h>
#include <widgets/forms/draft.h>

class QMenu;
class QPushButton;
class QStackedWidget;

namespace gb::ui {

class Banner;
class ExperimentFile;
class FilePane;
class FilterField;
class PageBar;
class PlanPanel;
class RunningView;
class SandboxForm;
class SandboxList;
class Toast;

// Setting up a sandbox by clicking, watching it start, and working with the ones there are.
class SandboxesPage final : public Page
{
    Q_OBJECT

public:
    explicit SandboxesPage(api::Client& client, QWidget* parent = nullptr);

    QAction* primaryAction() override { return m_start; }
    void showObstacle() override;
    QList<QAction*> pageActions() override;
    void refresh() override;
    void find() override;
    bool settled() const override;
    // The id of a sandbox, or the name of a field.
    void showPlace(const QString& place) override;
    void setExperiment(const QString& folder) override;

    Draft& draft() { return *m_draft; }
    SandboxForm* form() const { return m_form; }
    PlanPanel* planPanel() const { return m_plan; }
    SandboxList* list() const { return m_list; }
    RunningView* running(); // made when it is first needed
    FilePane* filePane() const { return m_filePane; }

private:
    void createActions();
    void createPresets();
    void createLayout();
    void connectFile();
    void askAboutChange(const QStringList& both, bool text);
    void loadCapabilities();
    void updateActions();
    void start();
    void save();
    void saveAsDefault();
    void showSandbox(const QString& sandbox);

    api::Client& m_client;
    Draft* m_draft = nullptr;
    ExperimentFile* m_file = nullptr;
    PageBar* m_bar = nullptr;
    FilterField* m_search = nullptr;
    Banner* m_banner = nullptr;
    SandboxList* m_list = nullptr;
    SandboxForm* m_form = nullptr;
    FilePane* m_filePane = nullptr;
    PlanPanel* m_plan = nullptr;
    RunningView* m_running = nullptr;
    QStackedWidget* m_stack = nullptr;
    QString m_folder;
    Toast* m_toast = nullptr;
    QMenu* m_presets = nullptr;
    QPushButton* m_presetButton = nullptr;
    QAction *m_start = nullptr, *m_save = nullptr, *m_discard = nullptr, *m_undo = nullptr, *m_redo = nullptr;
    QAction* m_obstacle = nullptr; // beside Start while there is something to mend first
    QAction *m_showFile = nullptr, *m_copy = nullptr, *m_asDefault = nullptr;
    bool m_settled = false;
};

} // namespace gb::ui
