// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <QWidget>

#include <widgets/itemmodels/callsitemmodel.h>

class QAction;
class QLabel;
class QListView;
class QStackedWidget;

namespace gb::ui {

class FilterField;

class HistoryPanel final : public QWidget
{
    Q_OBJECT

public:
    explicit HistoryPanel(api::Client& client, QWidget* parent = nullptr);

    void refresh() { m_model->refresh(); }
    bool settled() const { return m_model->settled(); }
    void select(const QString& call);
    // The call that is looked at elsewhere: selected, or as soon as the list has it; none with an empty id.
    void follow(const QString& call);
    void setFilter(const QString& filter);
    void focusList();
    QListView* list() const { return m_list; }
    QList<QAction*> historyActions() const { return m_actions; }
    // Of the two selected calls, or of the selected one and the one of the same function before it.
    void compare();

Q_SIGNALS:
    void chosen(const gb::ui::CallSummary& call);
    void resendRequested(const gb::ui::CallSummary& call);

private:
    void showMenu(const QPoint& at);
    void createActions();
    void annotate(const CallSummary& call, const Json& change);
    void comment(const CallSummary& call);
    void exportCalls();
    void showEmpty();
    void selectAwaited();

    api::Client& m_client;
    CallsItemModel* m_model = nullptr;
    FilterField* m_filter = nullptr;
    QListView* m_list = nullptr;
    QStackedWidget* m_stack = nullptr;
    QString m_left; // to be selected, while it is not in the list
    bool m_removing = false;
    bool m_choosing = false; // by hand, which may be several at once
    QLabel* m_problem = nullptr;
    QList<QAction*> m_actions;
};

} // namespace gb::ui
