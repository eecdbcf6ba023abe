// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

#include "examplestart.h"

#include <algorithm>
#include <utility>

namespace gb::api {
namespace {

Json itemOf(const Client& client, const std::string& topic, const std::string& id)
{
    const Json& items = client.items(topic);
    return items.is_object() ? objectOr(items, id) : Json::object();
}

Json arrayOf(const Json& object, const char* key)
{
    const auto found = object.find(key);
    return found != object.end() && found->is_array() ? *found : Json::array();
}

bool needsModules(const Json& about)
{
    return !arrayOf(about, "modules").empty();
}

// The smallest that is whole; empty when there is none.
std::string smallestModel(const Json& cached)
{
    std::string name;
    std::int64_t smallest = 0;
    for (const Json& model : arrayOf(cached, "models")) {
        for (const Json& revision : arrayOf(model, "revisions")) {
            const std::int64_t size = integerOr(revision, "bytes");
            if (!boolOr(revision, "complete") || (!name.empty() && size >= smallest))
                continue;
            name = stringOr(model, "repo");
            smallest = size;
        }
    }
    return name;
}

// Whether the image this plan would use is there already, so that nothing has to be downloaded.
bool isImageBuilt(const Json& plan)
{
    const Json steps = arrayOf(plan, "steps");
    const auto isLayer = [](const Json& step) { return stringOr(step, "kind") == "layer"; };
    return std::ranges::any_of(steps, isLayer) && std::ranges::all_of(steps, [&](const Json& step) {
        return !isLayer(step) || boolOr(step, "reused");
    });
}

} // namespace

ExampleStart::ExampleStart(Client& client, Wish wish, QObject* parent)
    : QObject(parent), m_client(client), m_wish(std::move(wish)), m_outcome{m_wish.folder, {}, {}, {}, {}},
      m_spec{{"name", m_wish.sandboxName}, {"scoped", true}}
{
    connect(&m_client, &Client::stateChanged, this, &ExampleStart::onState);
}

void ExampleStart::ask(const std::string& method, Json params, Next next)
{
    if (m_finished)
        return;
    m_client.call(this, method, std::move(params), [this, next](const Result<Answer>& answer) {
        if (m_finished)
            return;
        if (m_cancelled)
            return fail(Error{"cancelled", "cancelled"});
        answer ? (this->*next)(answer->body) : fail(answer.error());
    });
}

void ExampleStart::start()
{
    m_client.watch({"jobs", "interfaces"});
    if (m_wish.isMade)
        return look(Json::object());
    say("folder");
    m_client.call(this, "experiments.new", {{"path", m_wish.folder}, {"example", m_wish.example}},
        [this](const Result<Answer>& answer) {
            if (answer)
                look(answer->body);
            else if (answer.error().code == "experiments.exists") // made by an earlier click
                ask("experiments.open", {{"path", m_wish.folder}}, &ExampleStart::openFolder);
            else
                fail(answer.error());
        });
}

void ExampleStart::cancel()
{
    m_cancelled = true;
    if (!m_job.empty())
        m_client.call(this, "jobs.cancel", {{"job", m_job}}, [](const Result<Answer>&) {});
    else if (!m_outcome.interface.empty())
        fail(Error{"cancelled", "cancelled"});
}

void ExampleStart::openFolder(const Json& made)
{
    if (!boolOr(made, "has_interface"))
        return fail(Error{"example.folder",
            m_wish.folder + " is an experiment without an interface file; give the example another folder",
            Json{{"path", m_wish.folder}}});
    look(made);
}

void ExampleStart::look(const Json& experiment)
{
    m_outcome.folder = stringOr(experiment, "path", m_outcome.folder);
    ask("sandboxes.list", Json::object(), &ExampleStart::reuse);
}

// A second click finds what the first one started.
void ExampleStart::reuse(const Json& listed)
{
    for (const Json& sandbox : arrayOf(listed, "sandboxes")) {
        if (stringOr(sandbox, "experiment") != m_outcome.folder || stringOr(sandbox, "state") != "ready")
            continue;
        m_outcome.sandbox = stringOr(sandbox, "id");
        for (const Json& interface : arrayOf(sandbox, "interfaces")) {
            m_outcome.interface = interface.is_string() ? interface.get<std::string>() : std::string();
            if (stringOr(itemOf(m_client, "interfaces", m_outcome.interface), "state") == "ready")
                return finish();
        }
        m_outcome.interface.clear();
        return serve();
    }
    ask("sandboxes.capabilities", Json::object(), &ExampleStart::chooseProvider);
}

void ExampleStart::chooseProvider(const Json& capabilities)
{
    const Json providers = arrayOf(capabilities, "providers");
    const auto local = std::ranges::find_if(
        providers, [](const Json& provider) { return stringOr(provider, "id") == "local"; });
    const Json provider = local == providers.end() ? Json::object() : *local;
    if (!boolOr(provider, "available"))
        return fail(Error{"example.isolation",
            "no sandbox can be started here: " + stringOr(provider, "reason", "there is no local provider")});
    const Json interpreters = arrayOf(provider, "interpreters");
    m_outcome.interpreter = m_wish.interpreter;
    if (m_outcome.interpreter.empty() && !interpreters.empty())
        m_outcome.interpreter = stringOr(interpreters.front(), "path");
    if (needsModules(m_wish.about) && m_wish.model.is_null())
        return ask("models.ls", Json::object(), &ExampleStart::chooseModel);
    if (m_wish.model.is_object()) {
        m_spec["models"] = Json::array({m_wish.model});
        m_outcome.model = stringOr(m_wish.model, "name");
    }
    // An example with modules of its own takes the person's Python: only that one has them.
    if (needsModules(m_wish.about) || !m_wish.mayUseImage)
        return startSandbox();
    ask("sandboxes.plan", {{"spec", m_spec}}, &ExampleStart::choosePlace);
}

void ExampleStart::chooseModel(const Json& cached)
{
    m_outcome.model = smallestModel(cached);
    if (m_outcome.model.empty())
        return fail(Error{"example.model",
            "the example " + m_wish.example
                + " needs a small model, and none is in the cache; fetch one (glovebox models get ORG/NAME) "
                  "or name a folder (glovebox demo "
                + m_wish.example + " --model NAME=DIR)"});
    m_spec["models"] = Json::array({Json{{"name", m_outcome.model}}});
    startSandbox();
}

void ExampleStart::choosePlace(const Json& plan)
{
    if (isImageBuilt(plan))
        m_outcome.interpreter.clear();
    startSandbox();
}

void ExampleStart::startSandbox()
{
    if (!m_outcome.interpreter.empty())
        m_spec["interpreter"] = m_outcome.interpreter;
    else if (needsModules(m_wish.about))
        return fail(Error{"example.python",
            "the example " + m_wish.example + " needs a Python of yours, and this machine shows none"});
    ask("sandboxes.start", {{"spec", m_spec}, {"experiment", m_outcome.folder}, {"trust", m_wish.trust}},
        &ExampleStart::waitForSandbox);
}

void ExampleStart::waitForSandbox(const Json& started)
{
    m_outcome.sandbox = stringOr(started, "sandbox");
    m_job = stringOr(started, "job");
    onState(QStringLiteral("jobs"));
}

void ExampleStart::onState(const QString& topic)
{
    if (m_finished)
        return;
    if (topic == QLatin1String("jobs") && !m_job.empty() && !m_askedJob) {
        const Json job = itemOf(m_client, "jobs", m_job);
        const std::string state = stringOr(job, "state");
        if (!job.empty())
            Q_EMIT moved(job);
        if (state.empty() || state == "queued" || state == "running")
            return;
        m_askedJob = true;
        // Not through ask(): how a cancelled job ended is what is waited for.
        m_client.call(this, "jobs.get", {{"job", m_job}}, [this](const Result<Answer>& answer) {
            answer ? onJobEnded(answer->body) : fail(answer.error());
        });
    } else if (topic == QLatin1String("interfaces") && !m_outcome.interface.empty()) {
        waitForInterface({{"id", m_outcome.interface}});
    }
}

void ExampleStart::onJobEnded(const Json& job)
{
    m_job.clear();
    if (job.contains("error"))
        return fail(Error::fromJson(objectOr(job, "error")));
    m_cancelled ? fail(Error{"cancelled", "cancelled"}) : serve();
}

void ExampleStart::serve()
{
    say("interface");
    ask("sandboxes.serve",
        {{"sandbox", m_outcome.sandbox}, {"interface", m_outcome.folder + "/interface.py"},
            {"name", stringOr(m_wish.about, "library", "interface")}},
        &ExampleStart::waitForInterface);
}

void ExampleStart::waitForInterface(const Json& served)
{
    m_outcome.interface = stringOr(served, "id");
    const Json item = itemOf(m_client, "interfaces", m_outcome.interface);
    const std::string state = stringOr(item, "state");
    if (state == "ready")
        return finish();
    if (state != "failed" && state != "gone")
        return;
    const Json error = objectOr(item, "error");
    const std::string message = stringOr(error, "message", state);
    const Json modules = arrayOf(m_wish.about, "modules");
    const bool isMissing = std::ranges::any_of(modules, [&message](const Json& name) {
        return name.is_string()
            && message.find("No module named '" + name.get<std::string>()) != std::string::npos;
    });
    if (isMissing)
        return fail(Error{"example.modules",
            "the example " + m_wish.example + " does not run with " + m_outcome.interpreter + ": " + message,
            Json{{"modules", modules}, {"interpreter", m_outcome.interpreter}}});
    fail(Error{"example.interface", "the interface did not load: " + message, error});
}

void ExampleStart::say(const std::string& message)
{
    Q_EMIT moved(Json{{"step", message}});
}

void ExampleStart::fail(Error error)
{
    m_error = std::move(error);
    finish();
}

void ExampleStart::finish()
{
    if (std::exchange(m_finished, true))
        return;
    Q_EMIT finished();
}

} // namespace gb::api
