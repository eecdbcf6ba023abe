// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <QFileSystemWatcher>
#include <QTimer>

#include <backend/base/result.h>
#include <widgets/forms/draft.h>

namespace gb::ui {

// The form's view of an experiment folder: experiment.toml, kept in step with a draft in both directions, and
// the names of the secrets in .env. Reading and writing happen on another thread.
class ExperimentFile final : public QObject
{
    Q_OBJECT

public:
    explicit ExperimentFile(Draft& draft, QObject* parent = nullptr);

    void open(const QString& folder); // empty: none
    QString folder() const { return m_folder; }
    bool hasFolder() const { return !m_folder.isEmpty(); }
    bool settled() const { return m_reading == 0; }

    // What the file would be with the draft in it; the last good one while the draft is wrong.
    QString text() const { return QString::fromStdString(m_text); }
    // Somebody typed in the file's text: the draft follows when it makes sense.
    Status setText(const QString& text);
    // Writes the draft into the file; comments, order and unknown keys survive.
    void save(std::function<void(Status)> done);
    void reload();
    const QStringList& secretNames() const { return m_secrets; }

Q_SIGNALS:
    void textChanged();
    // It was changed by someone else; `both` are the fields that were also changed here.
    void changedOnDisk(const QStringList& both);
    void unreadable(const gb::Error& error);
    void opened();

private:
    struct Found
    {
        std::string text;
        bool exists = false;
        QStringList secrets;
    };
    static Found look(const QString& folder);
    void take(const Found& found);
    void followDraft();
    void watch();

    Draft& m_draft;
    QString m_folder;
    std::string m_disk; // as it stands in the folder
    std::string m_text;
    QStringList m_secrets;
    QFileSystemWatcher m_watcher;
    QTimer m_soon;
    int m_reading = 0;
    int m_generation = 0;
    bool m_first = true;
    bool m_fromText = false;
};

} // namespace gb::ui
