// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

#include "experimentfile.h"

#include <utility>

#include <backend/domain/experimentfile.h>
#include <backend/domain/tomltext.h>
#include <widgets/itemmodels/fields.h>

namespace gb::ui {
namespace {

// The keys of [sandbox] that stand in the file, with the values the draft would have for them.
Json writtenFields(const std::string& text, const SandboxSpec& spec)
{
    const auto document = TomlText::parse(text);
    Json fields = Json::object();
    if (!document)
        return fields;
    const auto all = spec.toJson();
    const auto table = objectOr(document->json(), "sandbox");
    for (const auto& [key, ignored] : table.items())
        if (all.contains(key))
            fields[key] = all[key];
    return fields;
}

} // namespace

ExperimentFile::ExperimentFile(api::Client& client, Draft& draft, QObject* parent)
    : QObject(parent), m_client(client), m_draft(draft)
{
    m_client.watch({"experiments"});
    connect(&m_client, &api::Client::stateChanged, this, [this](const QString& topic) {
        if (topic == QLatin1String("experiments"))
            onState();
    });
    // Another daemon follows the folder once it was asked about it.
    connect(&m_client, &api::Client::connected, this, &ExperimentFile::reload);
    connect(&m_draft, &Draft::changed, this, &ExperimentFile::followDraft);
    followDraft();
}

void ExperimentFile::open(const QString& folder)
{
    if (folder == m_folder)
        return;
    m_folder = folder;
    ++m_opening;
    m_first = true;
    m_saving = false;
    m_again = false;
    m_typed = false;
    m_problem.reset();
    m_parses = true;
    m_disk.clear();
    m_etag.clear();
    m_text.clear();
    m_secrets.clear();
    reload();
}

void ExperimentFile::reload()
{
    if (m_folder.isEmpty())
        return;
    if (m_saving) {
        m_again = true;
        return;
    }
    ++m_asked;
    const auto generation = ++m_generation;
    m_client.call(this, "experiments.read", {{"experiment", m_folder.toStdString()}},
        [this, generation](const Result<api::Answer>& answer) {
            --m_asked;
            if (generation != m_generation)
                return;
            if (answer)
                take(stringOr(answer->body, "text"), stringOr(answer->body, "etag"));
            // A new daemon is asked again.
            else if (answer.error().code != "api.disconnected")
                takeProblem(answer.error());
        });
}

void ExperimentFile::onState()
{
    const auto& items = m_client.items("experiments");
    const auto folder = m_folder.toStdString();
    if (m_folder.isEmpty() || !items.is_object() || !items.contains(folder))
        return;
    const auto& item = items[folder];
    QStringList secrets;
    for (const auto& name : item.value("env", Json::array()))
        if (name.is_string())
            secrets += QString::fromStdString(name.get<std::string>());
    if (std::exchange(m_secrets, secrets) != secrets)
        Q_EMIT textChanged();
    if (stringOr(item, "etag") != m_etag || item.contains("error") != m_problem.has_value())
        reload();
}

void ExperimentFile::takeProblem(const Error& error)
{
    m_problem = error;
    Q_EMIT unreadable(error);
    Q_EMIT textChanged();
}

void ExperimentFile::take(const std::string& text, const std::string& etag)
{
    const bool first = std::exchange(m_first, false);
    const bool wasUnknown = std::exchange(m_problem, std::nullopt).has_value();
    const bool wasThere = !m_etag.empty();
    m_etag = etag;
    const auto before = std::exchange(m_disk, text);
    if (!first && etag.empty() && wasThere) {
        // What is here is all there is of it now, so it is kept to be saved.
        m_typed = true;
        Q_EMIT unreadable(
            {"experiments.none", "there is no experiment.toml any more; saving writes it again"});
        Q_EMIT textChanged();
        return;
    }
    if (!first && text == before) {
        if (wasUnknown)
            Q_EMIT opened();
        Q_EMIT textChanged();
        return;
    }
    const auto spec = sandboxSpecFromToml(text);
    m_parses = spec.has_value();
    if (!spec) {
        if (!m_typed)
            m_text = text;
        Q_EMIT unreadable(spec.error());
        Q_EMIT textChanged();
        return;
    }
    // Typing a field's value is a change of the field; more than that is a text of its own.
    const auto mine = SandboxSpec::fromJson(m_draft.values());
    const bool typed =
        m_typed && m_text != text && (!mine || withSandboxSpec(before, *mine).value_or("") != m_text);
    if (!typed)
        m_text = text;
    m_typed = typed;
    const auto both = m_draft.loadSaved(writtenFields(text, *spec));
    if (first)
        Q_EMIT opened();
    else {
        QStringList names;
        for (const auto& name : both)
            names += QString::fromStdString(name);
        Q_EMIT changedOnDisk(names, typed);
    }
}

void ExperimentFile::followDraft()
{
    if (m_fromText)
        return;
    const auto spec = SandboxSpec::fromJson(m_draft.values());
    if (!spec)
        return;
    if (auto text = withSandboxSpec(m_text.empty() ? m_disk : m_text, *spec)) {
        m_text = std::move(*text);
        Q_EMIT textChanged();
    }
}

Status ExperimentFile::setText(const QString& text)
{
    const auto bytes = text.toStdString();
    const auto spec = sandboxSpecFromToml(bytes);
    if (!spec)
        return fail(spec.error());
    m_typed = m_typed || bytes != m_text;
    m_text = bytes;
    m_fromText = true;
    m_draft.set(spec->toJson());
    m_fromText = false;
    Q_EMIT textChanged();
    return {};
}

bool ExperimentFile::hasChanges() const
{
    return m_draft.isDirty() || (m_typed && m_text != m_disk);
}

void ExperimentFile::discard()
{
    m_typed = false;
    m_draft.cancel();
    m_text = m_disk;
    followDraft();
}

void ExperimentFile::takeTheirText()
{
    m_typed = false;
    m_text = m_disk;
    followDraft();
}

void ExperimentFile::save(std::function<void(Status)> done)
{
    if (m_problem)
        return done(fail(*m_problem));
    if (m_saving)
        return done(fail("cancelled", "it is being saved already"));
    followDraft();
    if (const auto spec = sandboxSpecFromToml(m_text); !spec)
        return done(fail(spec.error()));
    m_saving = true;
    ++m_asked;
    m_client.call(this, "experiments.write",
        {{"experiment", m_folder.toStdString()}, {"text", m_text}, {"etag", m_etag}},
        [this, opening = m_opening, text = m_text, done = std::move(done)](Result<api::Answer> answer) {
            --m_asked;
            if (opening == m_opening)
                onSaved(text, std::move(answer), done);
            else
                done(answer ? Status() : Status(fail(answer.error())));
        });
}

void ExperimentFile::onSaved(
    const std::string& text, Result<api::Answer> answer, const std::function<void(Status)>& done)
{
    m_saving = false;
    if (answer) {
        m_etag = stringOr(answer->body, "etag");
        m_disk = text;
        m_parses = true; // or it would not have been sent
        // What was changed while it was saved is not in the file.
        const auto spec = sandboxSpecFromToml(text);
        if (m_text == text || !spec) {
            m_typed = false;
            m_draft.markSaved();
        } else {
            m_draft.loadSaved(writtenFields(text, *spec));
        }
    }
    const bool changed = !answer && answer.error().code == "experiments.changed";
    if (std::exchange(m_again, false) || changed)
        reload();
    done(answer ? Status() : Status(fail(answer.error())));
}

} // namespace gb::ui
