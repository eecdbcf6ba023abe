// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <backend/api/client.h>
#include <widgets/controls/page.h>

class QLabel;
class QLineEdit;
class QStackedWidget;
class QTreeView;

namespace gb::ui {

class Banner;
class DetailsPanel;
class ElidedLabel;
class ModelDetails;
class ModelUse;
class ModelsItemModel;
class PageBar;
class ProgressRow;
struct ModelRow;

// What is being downloaded and what is in the cache; adding, pausing, verifying, deleting.
class ModelsPage final : public Page
{
    Q_OBJECT

public:
    explicit ModelsPage(api::Client& client, QWidget* parent = nullptr);

    QAction* primaryAction() override { return m_add; }
    QList<QAction*> pageActions() override;
    void refresh() override;
    // The name of a model.
    void showPlace(const QString& place) override;
    void find() override;
    bool settled() const override;

    ModelsItemModel* model() const { return m_model; }
    QTreeView* view() const { return m_view; }

protected:
    bool eventFilter(QObject* watched, QEvent* event) override;

private:
    void createActions();
    QAction* rowAction(const QString& text, const QString& iconName, void (ModelsPage::*act)(const ModelRow&),
        const QString& shortcut = {});
    PageBar* createBar();
    void createView();
    QWidget* createFooter();
    QWidget* createMiddle();
    void addModel();
    void lookFirst();
    void pause(const ModelRow& row);
    void resume(const ModelRow& row);
    void cancel(const ModelRow& row);
    void verify(const ModelRow& row);
    void askToDelete(const ModelRow& row);
    QString usersText(const QString& repo) const;
    void verifyModel(const QString& model, bool repair);
    void showVerified(const QString& model, const Json& job, bool repaired);
    void removeModel(const QString& repo, const Json& params);
    void removeLoose(const QStringList& repos);
    // Asks once, in place; `act` then does it.
    void askOnce(const QString& title, const QString& why, const QString& yes, std::function<void()> act);
    void send(const char* method, const Json& params, const QString& whatFailed);
    void sendRemoval(const Json& params, std::function<void(std::int64_t)> freed);
    void showCurrent();
    void showColumns();
    void showFooter();
    void showMenu(const QPoint& at);
    const ModelRow* current() const;

    api::Client& m_client;
    ModelsItemModel* m_model = nullptr;
    ModelUse* m_use = nullptr;
    QTreeView* m_view = nullptr;
    QStackedWidget* m_stack = nullptr;
    QLineEdit* m_field = nullptr;
    Banner* m_banner = nullptr;
    ProgressRow* m_verifying = nullptr;
    std::string m_verifyJob;
    DetailsPanel* m_panel = nullptr;
    QStackedWidget* m_sides = nullptr;
    ModelDetails* m_details = nullptr;
    ElidedLabel* m_footer = nullptr;
    QAction* m_add = nullptr;
    QAction* m_look = nullptr;
    QAction* m_pause = nullptr;
    QAction* m_resume = nullptr;
    QAction* m_cancel = nullptr;
    QAction* m_verify = nullptr;
    QAction* m_delete = nullptr;
    QAction* m_pauseAll = nullptr;
    QAction* m_resumeAll = nullptr;
    QAction* m_free = nullptr;
    QAction* m_refresh = nullptr;
    QString m_wanted; // to be selected once it is there
};

} // namespace gb::ui
