// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

#include "experimentfile.h"

#include <QCoreApplication>
#include <QDir>
#include <QFile>
#include <QPointer>
#include <QRegularExpression>
#include <QThreadPool>

#include <backend/base/files.h>
#include <backend/domain/experimentfile.h>
#include <backend/domain/tomltext.h>

namespace gb::ui {
namespace {

constexpr std::size_t largestExperimentFile = 4U << 20U;
constexpr int changeDelayMs = 150;

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

QStringList namesInEnvFile(const QString& folder)
{
    QStringList names;
    const auto text =
        readFile(fs::path((folder + QStringLiteral("/.env")).toStdString()), largestExperimentFile);
    if (!text)
        return names;
    static const QRegularExpression entry(QStringLiteral(R"(^\s*(?:export\s+)?([A-Za-z_][A-Za-z0-9_]*)\s*=)"),
        QRegularExpression::MultilineOption);
    for (auto at = entry.globalMatch(QString::fromStdString(*text)); at.hasNext();)
        names += at.next().captured(1);
    return names;
}

} // namespace

ExperimentFile::ExperimentFile(Draft& draft, QObject* parent) : QObject(parent), m_draft(draft)
{
    m_soon.setSingleShot(true);
    m_soon.setInterval(changeDelayMs);
    connect(&m_soon, &QTimer::timeout, this, &ExperimentFile::reload);
    connect(&m_watcher, &QFileSystemWatcher::fileChanged, &m_soon, qOverload<>(&QTimer::start));
    connect(&m_watcher, &QFileSystemWatcher::directoryChanged, &m_soon, qOverload<>(&QTimer::start));
    connect(&m_draft, &Draft::changed, this, &ExperimentFile::followDraft);
    followDraft();
}

void ExperimentFile::open(const QString& folder)
{
    if (folder == m_folder)
        return;
    m_folder = folder;
    m_first = true;
    m_disk.clear();
    m_text.clear();
    m_secrets.clear();
    if (!m_watcher.files().isEmpty())
        m_watcher.removePaths(m_watcher.files());
    if (!m_watcher.directories().isEmpty())
        m_watcher.removePaths(m_watcher.directories());
    reload();
}

ExperimentFile::Found ExperimentFile::look(const QString& folder)
{
    Found found;
    if (auto text = readFile(
            fs::path((folder + QStringLiteral("/experiment.toml")).toStdString()), largestExperimentFile)) {
        found.text = std::move(*text);
        found.exists = true;
    }
    found.secrets = namesInEnvFile(folder);
    return found;
}

void ExperimentFile::reload()
{
    if (m_folder.isEmpty())
        return;
    ++m_reading;
    const auto generation = ++m_generation;
    QThreadPool::globalInstance()->start([self = QPointer(this), folder = m_folder, generation] {
        auto found = look(folder);
        QMetaObject::invokeMethod(
            qApp,
            [self, generation, found = std::move(found)] {
                if (!self)
                    return;
                --self->m_reading;
                if (generation == self->m_generation)
                    self->take(found);
            },
            Qt::QueuedConnection);
    });
}

void ExperimentFile::watch()
{
    const auto file = m_folder + QStringLiteral("/experiment.toml");
    if (!m_watcher.directories().contains(m_folder))
        m_watcher.addPath(m_folder);
    // A file that is replaced drops out of the watch.
    if (!m_watcher.files().contains(file))
        m_watcher.addPath(file);
}

void ExperimentFile::take(const Found& found)
{
    watch();
    const bool first = std::exchange(m_first, false);
    m_secrets = found.secrets;
    if (!first && found.text == m_disk) {
        Q_EMIT textChanged();
        return;
    }
    m_disk = found.text;
    const auto spec = sandboxSpecFromToml(found.text);
    if (!spec) {
        m_text = m_disk;
        Q_EMIT unreadable(spec.error());
        Q_EMIT textChanged();
        return;
    }
    m_text = m_disk;
    const auto both = m_draft.loadSaved(writtenFields(found.text, *spec));
    if (first)
        Q_EMIT opened();
    else {
        QStringList names;
        for (const auto& name : both)
            names += QString::fromStdString(name);
        Q_EMIT changedOnDisk(names);
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
    m_text = bytes;
    m_fromText = true;
    m_draft.set(spec->toJson());
    m_fromText = false;
    return {};
}

void ExperimentFile::save(std::function<void(Status)> done)
{
    followDraft();
    ++m_reading;
    const auto path = fs::path((m_folder + QStringLiteral("/experiment.toml")).toStdString());
    QThreadPool::globalInstance()->start(
        [self = QPointer(this), path, text = m_text, done = std::move(done)] {
            auto status = writeFileAtomic(path, text);
            QMetaObject::invokeMethod(
                qApp,
                [self, status = std::move(status), text, done] {
                    if (!self)
                        return;
                    --self->m_reading;
                    if (status) {
                        self->m_disk = text;
                        self->m_draft.markSaved();
                        self->watch();
                    }
                    done(status);
                },
                Qt::QueuedConnection);
        });
}

} // namespace gb::ui
