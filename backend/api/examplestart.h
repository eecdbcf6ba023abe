// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <optional>
#include <string>

#include <QObject>

#include "client.h"

namespace gb::api {

// An example from its name to functions that can be called: a folder of its own, a sandbox, its interface
// served in it. The window and the command line go this one way. It ends with one finished(), also after
// cancel(); what was made by then stands in outcome(), for the owner to keep or to take down.
class ExampleStart final : public QObject
{
    Q_OBJECT

public:
    struct Wish
    {
        std::string example; // its name
        Json about = Json::object(); // what its example.json says
        std::string folder; // absolute
        bool isMade = false; // the folder is an experiment already
        bool trust = false;
        std::string sandboxName;
        // A Python of the person's. Empty: the image if one is built, else the first this machine has.
        std::string interpreter;
        bool mayUseImage = true; // also where there is an interpreter
        Json model = Json(); // {name, path?}; null: the smallest that is whole in the cache
    };
    struct Outcome
    {
        std::string folder;
        std::string sandbox;
        std::string interface;
        std::string interpreter; // empty: an image of its own
        std::string model;
    };

    ExampleStart(Client& client, Wish wish, QObject* parent = nullptr);

    void start();
    void cancel();
    const Outcome& outcome() const { return m_outcome; }
    // Why it did not come to the end. Codes of its own: example.isolation, example.python, example.model,
    // example.modules (data.modules), example.interface.
    const std::optional<Error>& error() const { return m_error; }
    bool isFinished() const { return m_finished; }

Q_SIGNALS:
    // The sandbox's job, or an object with a message only.
    void moved(const gb::Json& step);
    void finished();

private:
    using Next = void (ExampleStart::*)(const Json& answer);

    void ask(const std::string& method, Json params, Next next);
    void openFolder(const Json& made);
    void look(const Json& experiment);
    void reuse(const Json& listed);
    void chooseProvider(const Json& capabilities);
    void chooseModel(const Json& cached);
    void choosePlace(const Json& plan);
    void startSandbox();
    void waitForSandbox(const Json& started);
    void serve();
    void waitForInterface(const Json& served);
    void onState(const QString& topic);
    void onJobEnded(const Json& job);
    void say(const std::string& message);
    void fail(Error error);
    void finish();

    Client& m_client;
    Wish m_wish;
    Outcome m_outcome;
    Json m_spec;
    std::string m_job;
    std::optional<Error> m_error;
    bool m_finished = false;
    bool m_cancelled = false;
    bool m_askedJob = false;
};

} // namespace gb::api
