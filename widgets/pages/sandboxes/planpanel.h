// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <functional>

#include <QList>
#include <QTimer>
#include <QWidget>

#include <backend/api/client.h>
#include <backend/domain/sandboxspec.h>

class QLabel;
class QPushButton;
class QVBoxLayout;

namespace gb::ui {

class Banner;
class Draft;
class LogFollower;
class LogView;
class StepRow;

// What Start will do; on Start the same list shows how far it is, and where it went wrong.
class PlanPanel final : public QWidget
{
    Q_OBJECT

public:
    enum class Phase { Planning, Wrong, Planned, NoPlan, Asking, Starting, Failed, Cancelled, Ready };

    PlanPanel(api::Client& client, Draft& draft, QWidget* parent = nullptr);

    // How a problem with a field is said; without one it is the daemon's message.
    void setDescriber(std::function<QString(const SpecProblem&)> describe);
    void setExperiment(const QString& folder);
    void plan(); // anew, shortly
    void start();
    void cancel();
    // A sandbox that is being started already, by whomever.
    void follow(const std::string& sandbox, const std::string& job);
    void forget(); // back to the plan
    Phase phase() const { return m_phase; }
    bool canStart() const;
    // The fields that have to be mended before it can start; empty where it is no field's.
    QStringList obstacles() const;
    void showObstacle();
    bool isStarting() const { return m_phase == Phase::Starting; }
    std::string sandbox() const { return m_sandbox; }
    void showLog(bool shown);
    bool settled() const { return m_phase != Phase::Planning; }

Q_SIGNALS:
    void phaseChanged();
    void ready(const QString& sandbox);
    void fieldRequested(const QString& path);
    void oneOfRequested(const QStringList& paths); // the first as the form has them
    // What the plan found wrong with fields, beyond what the form knows.
    void problemsFound(const std::vector<gb::SpecProblem>& problems);

private:
    void askForPlan();
    void takePlan(const Json& plan);
    void showSteps(const Json& steps);
    void showWrong();
    void showProblems(const Json& problems);
    void offerAccess(const Json& steps);
    void offerPage(const QString& address);
    void askAboutGpu();
    void askForTrust();
    void send(bool trusted);
    void followJob();
    void ended(const Json& job);
    void failed(const Error& error, const QString& message);
    void setPhase(Phase phase);

    api::Client& m_client;
    Draft& m_draft;
    std::function<QString(const SpecProblem&)> m_describe;
    QString m_folder;
    Phase m_phase = Phase::Planning;
    QTimer m_soon;
    int m_round = 0;
    Json m_plan = Json::object();
    QStringList m_inTheWay; // of what the plan says
    std::string m_sandbox;
    std::string m_job;
    QLabel* m_title = nullptr;
    QLabel* m_summary = nullptr;
    Banner* m_banner = nullptr;
    QWidget* m_trust = nullptr;
    QVBoxLayout* m_reaches = nullptr;
    QVBoxLayout* m_rows = nullptr;
    QList<StepRow*> m_steps;
    QPushButton* m_logButton = nullptr;
    QPushButton* m_cancel = nullptr;
    QPushButton* m_back = nullptr;
    QPushButton* m_yes = nullptr;
    QPushButton* m_no = nullptr;
    LogView* m_log = nullptr;
    LogFollower* m_follower = nullptr;
};

} // namespace gb::ui
