// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <optional>

#include <QTimer>
#include <QWidget>

#include <backend/api/client.h>

#include "modelrow.h"

class QLabel;
class QTabWidget;
class QTreeWidget;
class QVBoxLayout;

namespace gb::ui {

class Banner;
class ElidedLabel;
class JsonView;
class KeyValueList;
class StatePill;

// One model in full: what the hub says of it (files, configuration, tensors, also before it was fetched) and
// what of it is on this disk.
class ModelDetails final : public QWidget
{
    Q_OBJECT

public:
    explicit ModelDetails(api::Client& client, QWidget* parent = nullptr);

    // Shown below the name; the page owns the actions.
    void setActions(const QList<QAction*>& actions);
    void showRow(const ModelRow& row, const Json* cached, const QStringList& users);
    // A model that is neither on the list nor in the cache.
    void look(const QString& model);
    void clear();
    QString model() const { return m_model; }
    const Json& shown() const { return m_shown; }
    bool settled() const { return !m_asking; }

Q_SIGNALS:
    void revisionRemovalRequested(const QString& repo, const QString& commit, qint64 bytes);
    void looseRemovalRequested(const QString& repo, qint64 bytes);
    void copied(const QString& text);

private:
    QWidget* createHead();
    QWidget* createTabs();
    void ask(const QString& model);
    void request();
    void showAnswer(const Json& answer);
    void showProblems();
    void showFacts();
    void showFiles();
    void showDisk();
    void showReason(const ModelRow& row);
    void addRevision(const Json& revision);
    void copy(const QString& text);

    api::Client& m_client;
    QString m_model;
    ModelRow m_row;
    Json m_cached;
    QStringList m_users; // sandboxes that have it now
    Json m_shown; // what models.show said
    QTimer m_soon;
    qint64 m_request = 0;
    bool m_asking = false;
    ElidedLabel* m_name = nullptr;
    StatePill* m_pill = nullptr;
    QVBoxLayout* m_buttons = nullptr;
    Banner* m_reason = nullptr;
    QLabel* m_problem = nullptr;
    std::optional<Error> m_refusal; // the hub did not answer
    QTabWidget* m_tabs = nullptr;
    KeyValueList* m_facts = nullptr;
    QTreeWidget* m_files = nullptr;
    JsonView* m_config = nullptr;
    JsonView* m_tensors = nullptr;
    QVBoxLayout* m_disk = nullptr;
};

} // namespace gb::ui
