// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <QUrl>

#include <backend/api/client.h>
#include <widgets/forms/draftform.h>

namespace gb::ui {

class ExperimentFile;
class PickField;
class RecordsField;
class TokensField;

std::vector<SpecProblem> sandboxProblems(const Json& values);

// Every field of a sandbox's spec, shaped by what the chosen provider can do on this machine.
class SandboxForm final : public QWidget
{
    Q_OBJECT

public:
    SandboxForm(api::Client& client, Draft& draft, ExperimentFile& file, QWidget* parent = nullptr);

    DraftForm* form() const { return m_form; }
    // The answer of sandboxes.capabilities.
    void setCapabilities(const Json& capabilities);
    void setModels(const QStringList& names);
    void setStoredSecrets(const QStringList& names);
    // Files and folders of this machine, as they are dropped or chosen.
    void addPaths(const QStringList& paths);

Q_SIGNALS:
    void notice(const QString& text);

protected:
    void dragEnterEvent(QDragEnterEvent* event) override;
    void dropEvent(QDropEvent* event) override;

private:
    void addCompute();
    void addModels();
    void addPython();
    void addSystem();
    void addRepos();
    void addFiles();
    void addSecrets();
    void addEnvironment();
    void addNetwork();
    void addTime();
    RecordsField* makeMounts(const QString& addText);
    void browse(bool folders);
    void pastePackages();
    void applyProvider();
    void applyStates();
    Json shownProvider() const; // what it can, or {} while nobody knows
    void lookUpBase(int index);

    api::Client& m_client;
    Draft& m_draft;
    ExperimentFile& m_file;
    DraftForm* m_form = nullptr;
    Json m_capabilities = Json::object();
    std::string m_shownProvider;
    QStringList m_storedSecrets;
    PickField* m_provider = nullptr;
    PickField* m_gpu = nullptr;
    PickField* m_interpreter = nullptr;
    PickField* m_version = nullptr;
    RecordsField* m_models = nullptr;
    TokensField* m_packages = nullptr;
    TokensField* m_secrets = nullptr;
};

} // namespace gb::ui
