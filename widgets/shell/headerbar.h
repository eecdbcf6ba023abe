// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <QFrame>

#include <backend/api/client.h>

class QHBoxLayout;
class QLabel;
class QMenu;
class QPushButton;
class QToolButton;

namespace gb::ui {

class StatePill;

// The experiment, what is alive and what it costs, and the ways to everything else. The one primary action
// stands in the page's own bar.
class HeaderBar final : public QFrame
{
    Q_OBJECT

public:
    explicit HeaderBar(api::Client& client, QWidget* parent = nullptr);

    void setExperiment(const QString& name, const QString& folder);
    void setRecent(const QList<QPair<QString, QString>>& nameAndFolder);
    void setUnread(int count);
    QWidget* bell() const;
    QWidget* state() const;

Q_SIGNALS:
    void experimentRequested(const QString& folder);
    void newRequested();
    void openRequested();
    void paletteRequested();
    void notificationsRequested();
    void aliveRequested();

private:
    void showState();

    api::Client& m_client;
    QPushButton* m_experiment = nullptr;
    QMenu* m_menu = nullptr;
    StatePill* m_state = nullptr;
    QLabel* m_cost = nullptr;
    QPushButton* m_search = nullptr;
    QToolButton* m_bell = nullptr;
    QHBoxLayout* m_layout = nullptr;
};

} // namespace gb::ui
