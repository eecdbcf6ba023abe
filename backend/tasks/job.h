// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <optional>
#include <string>

#include <QObject>

#include <backend/base/json.h>

namespace gb {

// One long piece of work with progress, cancel and exactly one outcome. README.md has the page.
class Job : public QObject
{
    Q_OBJECT

public:
    enum class State { Queued, Running, Done, Failed, Cancelled };
    // What the step under way moves, where a job counts steps.
    struct Part
    {
        std::string state; // a word of whoever does it
        std::int64_t done = 0;
        std::optional<std::int64_t> total;
        std::string unit;
        std::optional<double> rate;
        std::optional<double> remainingSeconds;
    };
    struct Progress
    {
        std::int64_t done = 0;
        std::optional<std::int64_t> total;
        std::string unit; // "bytes", "files", "steps"; empty when done counts nothing in particular
        std::optional<double> rate; // per second
        std::optional<double> remainingSeconds;
        std::optional<Part> part = {};
    };

    Job(std::string kind, std::string title, QObject* parent = nullptr);
    ~Job() override;

    void start(); // at most once
    // Asks for an early end. A job that has not started ends at once; a running one ends when it can, and
    // then as Cancelled whatever it had reached. finished() follows in every case.
    void cancel();

    const std::string& id() const { return m_id; }
    const std::string& kind() const { return m_kind; }
    const std::string& title() const { return m_title; }
    // The id of what it works on; set before it starts.
    void setSubject(std::string subject) { m_subject = std::move(subject); }
    State state() const { return m_state; }
    bool isFinished() const { return m_state > State::Running; }
    bool isCancelRequested() const { return m_cancelRequested; }
    const Progress& progress() const { return m_progress; }
    const std::string& message() const { return m_message; }
    // The outcome; valid once finished.
    const Result<Json>& outcome() const { return m_outcome; }
    Json toJson() const; // the item of the state topic "jobs"

Q_SIGNALS:
    void changed();
    void finished(); // once; the last signal

protected:
    virtual void run() = 0; // must lead to finish(), now or later
    virtual void abort() { } // cancel() on a running job
    void setProgress(Progress progress);
    void setMessage(std::string message);
    void finish(Result<Json> outcome);

private:
    std::string m_id;
    std::string m_kind;
    std::string m_title;
    std::string m_subject;
    State m_state = State::Queued;
    bool m_cancelRequested = false;
    Progress m_progress;
    std::string m_message;
    Result<Json> m_outcome;
    std::int64_t m_startedAt = 0;
    std::int64_t m_endedAt = 0;
};

std::string_view toString(Job::State state);

} // namespace gb
