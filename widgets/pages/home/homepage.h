// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <memory>

#include <backend/api/client.h>
#include <widgets/controls/page.h>

class QVBoxLayout;

namespace gb::ui {

class AliveCard;
class Banner;
class CallsCard;
class ExampleCard;
class ExperimentRow;
class MachineFindings;
class ModelsCard;

// Where one begins: go on with an experiment, make one from an example, see what is alive and whether this
// machine is fit.
class HomePage final : public Page
{
    Q_OBJECT

public:
    HomePage(api::Client& client, std::shared_ptr<MachineFindings> findings, QWidget* parent = nullptr);

    QAction* primaryAction() override { return m_open; }
    QList<QAction*> pageActions() override;
    void refresh() override;
    bool settled() const override;

private:
    void begin();
    void createColumns();
    QVBoxLayout* createLeft();
    QVBoxLayout* createRight();
    void loadExperiments();
    void showExperiments(const Json& experiments);
    void showLive();
    QWidget* makeExample(const QString& name, const Json& about);
    void sayCopied(const QString& command);

    api::Client& m_client;
    std::shared_ptr<MachineFindings> m_findings;
    QAction* m_open = nullptr;
    QAction* m_refresh = nullptr;
    Banner* m_banner = nullptr;
    QVBoxLayout* m_recent = nullptr;
    AliveCard* m_alive = nullptr;
    CallsCard* m_calls = nullptr;
    ModelsCard* m_models = nullptr;
    QList<ExperimentRow*> m_experiments;
    QList<ExampleCard*> m_examples;
    bool m_loaded = false;
};

} // namespace gb::ui
