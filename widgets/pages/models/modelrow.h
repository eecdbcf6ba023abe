// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <vector>

#include <QStringList>

#include <backend/base/error.h>
#include <backend/base/json.h>
#include <widgets/controls/tokens.h>

namespace gb::ui {

struct ModelFile
{
    QString path;
    QString state; // waiting, downloading, verifying, done … of a download; cached or missing on the disk
    std::int64_t size = 0;
    std::int64_t done = 0;

    bool operator==(const ModelFile&) const = default;
};

// A model as the table shows it: a download, or what only the cache knows.
struct ModelRow
{
    QString key; // of the row: the download's id, or "cache:" and the repo
    QString download; // empty: only in the cache
    QString repo;
    QString revision;
    QString state; // the download's; or cached, incomplete
    std::int64_t since = 0;
    std::int64_t addedAt = 0;
    std::int64_t size = -1; // unknown
    std::int64_t done = 0;
    double rate = -1;
    double remainingSeconds = -1;
    std::int64_t onDisk = 0;
    std::int64_t lastUsed = 0;
    QStringList users; // sandboxes that are alive
    Json reason; // why it waits, stalls or failed
    std::vector<ModelFile> files;
    quintptr serial = 0; // names the row towards its files; never used again

    static ModelRow fromDownload(const Json& item);
    static ModelRow fromCache(const Json& model);

    QString name() const; // org/name, with the revision if it is not the usual one
    QString spoken() const; // what models.* takes for it
    QString stateText() const;
    Tone tone() const;
    bool isUnderWay() const;
    bool canResume() const;
    bool isOnDisk() const { return onDisk > 0; }
    double share() const { return size > 0 ? static_cast<double>(done) / static_cast<double>(size) : -1; }
    bool operator==(const ModelRow&) const = default;
};

QString fileStateText(const QString& state);

// What removing what no revision uses gives back: orphans and partial files.
std::int64_t looseBytes(const Json& model);

} // namespace gb::ui
