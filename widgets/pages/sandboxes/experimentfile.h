// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <optional>

#include <backend/api/client.h>
#include <widgets/forms/draft.h>

namespace gb::ui {

// The form's view of an experiment folder: experiment.toml, kept in step with a draft in both directions, and
// the names of the secrets in .env. The daemon reads, writes and follows the files; what is typed here stays
// while there is none.
class ExperimentFile final : public QObject
{
    Q_OBJECT

public:
    ExperimentFile(api::Client& client, Draft& draft, QObject* parent = nullptr);

    void open(const QString& folder); // empty: none
    QString folder() const { return m_folder; }
    bool hasFolder() const { return !m_folder.isEmpty(); }
    bool settled() const { return m_asked == 0; }
    // False: the form shows what the file said before, or nothing of it.
    bool isReadable() const { return !m_problem && m_parses; }

    // What the file would be with the draft in it; the last good one while the draft is wrong.
    QString text() const { return QString::fromStdString(m_text); }
    // Somebody typed in the file's text: the draft follows when it makes sense.
    Status setText(const QString& text);
    // Something here is not in the file yet, be it only a comment.
    bool hasChanges() const;
    // Back to what the file says.
    void discard();
    // The file's text in place of the one typed here, with what the form says in it.
    void takeTheirText();
    // Writes the draft into the file; comments, order and unknown keys survive. Refused with
    // "experiments.changed" when the file changed since: then that is read, and changedOnDisk() says so.
    void save(std::function<void(Status)> done);
    const QStringList& secretNames() const { return m_secrets; }

Q_SIGNALS:
    void textChanged();
    // It was changed by someone else; `both` are the fields that were also changed here, `text` that the text
    // was typed in as well. Both are kept as they are here.
    void changedOnDisk(const QStringList& both, bool text);
    void unreadable(const gb::Error& error);
    void opened();

private:
    void reload();
    void onState();
    void take(const std::string& text, const std::string& etag);
    void takeProblem(const Error& error);
    void onSaved(
        const std::string& text, Result<api::Answer> answer, const std::function<void(Status)>& done);
    void followDraft();

    api::Client& m_client;
    Draft& m_draft;
    QString m_folder;
    std::string m_disk; // as it stands in the folder
    std::string m_etag; // of m_disk; empty: there is no file
    std::string m_text;
    bool m_parses = true;
    std::optional<Error> m_problem; // why the file is not known
    QStringList m_secrets;
    int m_asked = 0;
    int m_generation = 0; // of reading
    int m_opening = 0; // which folder an answer is about
    bool m_first = true;
    bool m_saving = false;
    bool m_again = false; // changed while it was being saved
    bool m_typed = false; // in the text itself
    bool m_fromText = false;
};

} // namespace gb::ui
