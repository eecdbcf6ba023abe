// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <deque>
#include <map>
#include <memory>

#include <QObject>
#include <QTimer>

#include "downloadrun.h"

namespace gb {

// The queue of downloads. It survives restarts: what was on its way goes on, what was paused stays so.
//
// queued → resolving → downloading → verifying → ready, or waiting_access (the hub wants a request on a page
// first; resume() looks again), stalled since t (nothing comes, or the network is away: it goes on by
// itself), paused, failed with a reason.
class ModelDownloads : public QObject
{
    Q_OBJECT

public:
    enum class State {
        Queued,
        Resolving,
        Downloading,
        Verifying,
        Ready,
        WaitingAccess,
        Stalled,
        Paused,
        Failed
    };
    struct Options
    {
        int atOnce = 2;
        std::int64_t bytesPerSecond = 0; // 0: no limit
        hub::FetchOptions fetch;
        int retryFirstMs = 5'000; // after the network went away
        int retryCapMs = 300'000;
        int stalledAfterMs = 5'000; // without a byte
    };

    // Reads the queue; a file that cannot be read is an error, so that it is not overwritten.
    static Result<std::unique_ptr<ModelDownloads>> open(fs::path file, Options options);
    ~ModelDownloads() override;

    // The same model, files and cache asked for again is the same download: a finished one is checked again.
    Result<std::string> add(DownloadSpec spec);
    // The download that add() would join or take up again; empty when it would be a new one.
    std::string idOf(const DownloadSpec& spec) const;
    Status pause(const std::string& id);
    // Also for failed ones and to look again whether access was granted. A token replaces what is known; the
    // queue's file has none, so a download from before a restart may wait for one.
    Status resume(const std::string& id, const std::string& token = {});
    Status setPriority(const std::string& id, int priority);
    // Stops it and takes it off the list; its pieces stay in the cache until they are removed there.
    Status forget(const std::string& id);
    void pauseAll();
    void resumeAll(const std::string& token = {}); // the paused ones
    void setRate(std::int64_t bytesPerSecond);

    Json item(const std::string& id) const; // for the state topic "models"; null when there is none
    std::vector<std::string> ids() const; // oldest first
    State state(const std::string& id) const;
    bool isBusy() const; // something is under way or waits for the network

Q_SIGNALS:
    void changed(const std::string& id);
    void wanted(const std::string& id); // was asked for, by add() or resume()
    void removed(const std::string& id);
    void busyChanged();

private:
    struct Download;
    struct Active;
    struct Samples;

    ModelDownloads(fs::path file, Options options);
    Status load();
    void save();
    void startMore();
    void startOne(Download& download);
    void onProgress(const std::string& id, DownloadProgress progress);
    void onEnded(const std::string& id, Result<Json> outcome);
    void judge(Download& download, Error error);
    void setState(Download& download, State state, std::optional<Error> reason = {});
    void lookForStalls();
    void stop(const std::string& id);
    transfer::Downloader& downloaderFor(const transfer::NetworkOptions& network);
    Download* find(const std::string& id);
    const Download* find(const std::string& id) const;

    fs::path m_file;
    Options m_options;
    std::map<std::string, std::unique_ptr<transfer::Downloader>> m_downloaders; // by network options
    std::vector<std::unique_ptr<Download>> m_downloads;
    std::map<std::string, std::unique_ptr<Active>> m_active; // by download
    QTimer m_watch;
};

std::string_view toString(ModelDownloads::State state);
// Stays so until somebody does something.
bool isFinal(ModelDownloads::State state);

} // namespace gb
