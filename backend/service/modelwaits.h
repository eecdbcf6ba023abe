// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <functional>
#include <map>
#include <memory>

#include <QObject>

#include <backend/models/modeldownloads.h>
#include <backend/sandbox/sandboxprovider.h>

namespace gb::service {

// For those who wait for a model on threads of their own: what they wait for is one download of the queue,
// the same that others see, pause and resume. It lives on the daemon's thread.
class ModelWaits : public QObject
{
    Q_OBJECT

public:
    explicit ModelWaits(ModelDownloads* downloads);
    ~ModelWaits() override;

    // Joins a download that is under way, takes up one that was paused, or begins one. On any thread but the
    // daemon's. When it gives up and nobody else wants the download, that is again what it was before: gone,
    // or paused; what has come stays in the cache.
    Status fetch(const DownloadSpec& spec, const std::function<void(const ModelProgress&)>& onProgress,
        const std::function<bool()>& isCancelled);

private:
    struct Waiter;
    enum class Before { Absent, Resting, Busy };
    struct Waited
    {
        Before before = Before::Busy; // Busy also once somebody else has asked for it
        std::vector<std::shared_ptr<Waiter>> waiters;
    };

    void begin(const std::shared_ptr<Waiter>& waiter, const DownloadSpec& spec);
    void leave(const std::shared_ptr<Waiter>& waiter);
    void onChanged(const std::string& id, const Json& item);
    void onWanted(const std::string& id);

    ModelDownloads* m_downloads;
    std::map<std::string, Waited> m_waited; // by download
    bool m_isBeginning = false;
};

} // namespace gb::service
