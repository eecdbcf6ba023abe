// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <backend/api/client.h>
#include <widgets/controls/page.h>

#include "functionlist.h"

namespace gb::ui {

class CallPanel;
class HistoryPanel;
struct CallSummary;

// Functions, the call, and everybody's calls.
class InspectorPage final : public Page
{
    Q_OBJECT

public:
    explicit InspectorPage(api::Client& client, QWidget* parent = nullptr);

    QAction* primaryAction() override;
    QList<QAction*> pageActions() override;
    void refresh() override;
    // The name of a function, or the id of a call.
    void showPlace(const QString& place) override;
    void find() override;
    bool settled() const override;

protected:
    void showEvent(QShowEvent* event) override;

private:
    void createActions();
    void showWaitingPlace();
    void showHistoryCall(const CallSummary& call);

    api::Client& m_client;
    FunctionList* m_functions = nullptr;
    CallPanel* m_call = nullptr;
    HistoryPanel* m_history = nullptr;
    QList<QAction*> m_actions;
    QString m_place; // wanted, but not there yet
};

} // namespace gb::ui
