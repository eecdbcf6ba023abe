// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

#include "experimentwatch.h"

#include <algorithm>
#include <cctype>

#include <QFile>
#include <QThreadPool>

#include <backend/experiments/experimenttext.h>

#include "sandboxrequest.h"
#include "statehub.h"

namespace gb::service {
namespace {

constexpr const char* experimentsTopic = "experiments";
constexpr std::size_t foldersFollowed = 32;
// An editor writes in several steps.
constexpr int settleMs = 100;
constexpr std::size_t envLimit = 1U << 20U;

QStringList watchedPaths(const std::string& folder)
{
    const QString path = QString::fromStdString(folder);
    return {path, path + QStringLiteral("/experiment.toml"), path + QStringLiteral("/.env")};
}

bool isVariableName(const std::string& name)
{
    const auto isWord = [](char c) {
        return c == '_' || (std::isalnum(static_cast<unsigned char>(c)) != 0 && c > 0);
    };
    return std::ranges::all_of(name, isWord);
}

Json lookAt(const std::string& folder)
{
    Json item{{"id", folder}, {"path", folder + "/experiment.toml"}, {"etag", ""}, {"env", Json::array()}};
    if (const auto read = readExperimentText(folder, "experiment.toml"))
        item["etag"] = read->etag;
    else
        item["error"] = read.error().toJson();
    const auto env = parseDotEnv(readFile(fs::path(folder) / ".env", envLimit).value_or(""));
    for (const auto& [name, ignored] : env) {
        if (isVariableName(name))
            item["env"].push_back(name);
    }
    return item;
}

} // namespace

ExperimentWatch::ExperimentWatch(StateHub* state, QObject* parent) : QObject(parent), m_state(state)
{
    m_soon.setSingleShot(true);
    m_soon.setInterval(settleMs);
    connect(&m_soon, &QTimer::timeout, this, &ExperimentWatch::lookAll);
    connect(&m_watcher, &QFileSystemWatcher::fileChanged, this, &ExperimentWatch::touched);
    connect(&m_watcher, &QFileSystemWatcher::directoryChanged, this, &ExperimentWatch::touched);
}

void ExperimentWatch::follow(const std::string& folder)
{
    if (!fs::path(folder).is_absolute())
        return;
    const auto known = std::ranges::find(m_followed, folder, &Followed::folder);
    if (known != m_followed.end()) {
        m_followed.splice(m_followed.begin(), m_followed, known);
    } else {
        m_followed.push_front({folder});
        if (m_followed.size() > foldersFollowed)
            drop(m_followed.back().folder);
    }
    // Who could not be watched before may be there now.
    watchFiles(folder);
    look(m_followed.front());
}

void ExperimentWatch::drop(const std::string& folder)
{
    for (const QString& path : watchedPaths(folder))
        m_watcher.removePath(path);
    m_state->remove(experimentsTopic, folder);
    std::erase_if(m_followed, [folder](const Followed& one) { return one.folder == folder; });
}

void ExperimentWatch::watchFiles(const std::string& folder)
{
    // A file that was replaced is another one, and drops out of the watch.
    for (const QString& path : watchedPaths(folder)) {
        if (QFile::exists(path))
            m_watcher.addPath(path);
    }
}

void ExperimentWatch::touched(const QString& path)
{
    for (Followed& one : m_followed) {
        if (watchedPaths(one.folder).contains(path))
            one.dirty = true;
    }
    if (!m_soon.isActive())
        m_soon.start();
}

void ExperimentWatch::lookAll()
{
    for (Followed& one : m_followed) {
        if (!one.dirty)
            continue;
        watchFiles(one.folder);
        look(one);
    }
}

void ExperimentWatch::look(Followed& followed)
{
    // What happens while it is looked at is looked at again.
    followed.dirty = followed.looking;
    if (std::exchange(followed.looking, true))
        return;
    QThreadPool::globalInstance()->start([this, folder = followed.folder] {
        auto item = lookAt(folder);
        QMetaObject::invokeMethod(
            this, [this, folder, item = std::move(item)]() mutable { take(folder, std::move(item)); },
            Qt::QueuedConnection);
    });
}

void ExperimentWatch::take(const std::string& folder, Json item)
{
    const auto followed = std::ranges::find(m_followed, folder, &Followed::folder);
    if (followed == m_followed.end())
        return;
    followed->looking = false;
    m_state->set(experimentsTopic, folder, std::move(item));
    if (followed->dirty && !m_soon.isActive())
        m_soon.start();
}

} // namespace gb::service
