// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

#include "interfaces.h"

#include <cerrno>
#include <csignal>

#include <QPointer>

#include <backend/api/daemonstart.h>
#include <backend/base/ids.h>
#include <backend/base/log.h>
#include <backend/base/version.h>
#include <backend/experiments/experimentfolder.h>

#include "onmain.h"
#include "runtopic.h"
#include "spoolimport.h"
#include "statehub.h"

namespace gb::service {
namespace {

constexpr int attachRetryMs = 200;
constexpr int attachAttempts = 10;
constexpr std::size_t goneKept = 20;
constexpr std::size_t interfaceTextLimit = 1U << 20U;

bool isProcessGone(std::int64_t pid)
{
    return pid > 0 && ::kill(static_cast<pid_t>(pid), 0) != 0 && errno == ESRCH;
}

tl::unexpected<Error> unknownInterface(const std::string& interface)
{
    return fail("interfaces.unknown", "no interface is called " + interface, Json{{"interface", interface}});
}

} // namespace

Interfaces::Interfaces(Store* store, StateHub* state, fs::path dataFolder)
    : m_store(store), m_state(state), m_dataFolder(std::move(dataFolder))
{
    m_refresh.setSingleShot(true);
    m_refresh.setInterval(100);
    connect(&m_refresh, &QTimer::timeout, this, &Interfaces::refreshRuns);
}

Status Interfaces::attachAll()
{
    auto keepers = m_store->keepers();
    if (!keepers)
        return fail(keepers.error());
    publishRuns(m_store, m_state);
    for (KeeperRecord& keeper : *keepers)
        attach(std::move(keeper));
    findHosts();
    return {};
}

void Interfaces::findHosts()
{
    std::set<std::string> known;
    for (const auto& [id, served] : m_served)
        known.insert(id);
    const FoundHosts found = service::findHosts(m_dataFolder, known);
    for (const fs::path& control : found.living)
        registerKeeper(control.string(), [](const Result<Json>&) {});
    for (const std::string& id : found.dead) {
        importSpool(m_store, this, m_dataFolder / "hosts" / id, [this](const std::set<std::string>& runs) {
            for (const std::string& run : runs)
                endRunIfLive(m_store, run);
            m_touchedRuns.insert(runs.begin(), runs.end());
            m_refresh.start();
        });
    }
}

void Interfaces::attach(KeeperRecord keeper)
{
    const auto data = parseJson(keeper.data);
    Served served;
    served.item = data ? objectOr(*data, "item") : Json::object();
    served.item["id"] = keeper.id;
    served.item["state"] = "loading";
    served.run = stringOr(served.item, "run");
    served.keeper = std::move(keeper);
    const std::string id = served.keeper.id;
    publish(m_served.insert_or_assign(id, std::move(served)).first->second);
    tryAttach(id);
}

void Interfaces::tryAttach(const std::string& id)
{
    const auto it = m_served.find(id);
    if (it == m_served.end() || it->second.link || it->second.gone)
        return;
    auto socket = api::connectLocal(it->second.keeper.control);
    if (socket) {
        auto* link = new KeeperLink(m_store, std::move(*socket), this);
        connectLink(id, link);
        link->open(version());
        return;
    }
    if (isProcessGone(it->second.keeper.pid) || ++it->second.attempts >= attachAttempts)
        return markGone(id);
    QTimer::singleShot(attachRetryMs, this, [this, id] { tryAttach(id); });
}

void Interfaces::registerKeeper(const std::string& control, std::function<void(Result<Json>)> done)
{
    auto socket = api::connectLocal(control);
    if (!socket)
        return done(fail("interfaces.unreachable",
            "no interface host answers at " + control + ": " + socket.error().message,
            Json{{"control", control}}));
    auto* link = new KeeperLink(m_store, std::move(*socket), this);
    auto* context = new QObject(link); // ends the connections below once the link is taken over
    connect(link, &KeeperLink::closed, context, [done, link](const Error& reason) {
        done(fail("interfaces.unreachable", "the interface host did not answer: " + reason.message));
        link->deleteLater();
    });
    connect(link, &KeeperLink::greeted, context, [this, link, context, control, done](const Json& hello) {
        link->disconnect(context);
        context->deleteLater();
        onMet(link, control, hello, done);
    });
    link->open(version());
}

void Interfaces::onMet(
    KeeperLink* link, const std::string& control, const Json& hello, std::function<void(Result<Json>)> done)
{
    const std::string id = stringOr(hello, "id");
    if (!isId(id) || !isId(stringOr(hello, "run"))) {
        link->close();
        link->deleteLater();
        return done(fail("interfaces.unreachable", "what answers there is no interface host"));
    }
    const auto known = m_served.find(id);
    const bool isNew = known == m_served.end();
    const bool isLinked = !isNew && known->second.link;
    remember(hello, control, [this, id, done](const Status& status) {
        const auto it = m_served.find(id);
        if (!status)
            done(fail(status.error()));
        else if (it == m_served.end())
            done(unknownInterface(id));
        else
            done(it->second.item);
    });
    if (isLinked) { // one link is enough
        link->close();
        link->deleteLater();
        return;
    }
    connectLink(id, link);
    takeHello(id, hello);
    if (isNew)
        recordFailure(m_served.at(id));
}

// In the run, for those who look at it later; the item says so only as long as it is so.
void Interfaces::recordFailure(const Served& served)
{
    if (stringOr(served.item, "state") != "failed")
        return;
    constexpr std::size_t longest = 4000;
    const Json error = objectOr(served.item, "error");
    const Json data{{"interface", served.keeper.id}, {"generation", integerOr(served.item, "generation")},
        {"kind", stringOr(error, "kind")}, {"message", stringOr(error, "message").substr(0, longest)}};
    m_store->appendEvents(served.run,
        {{"interface.failed", data.dump(-1, ' ', false, Json::error_handler_t::replace)}},
        [run = served.run](const Result<SeqRange>& written) {
            if (!written)
                logWarning("service", "a failed load is not in its run: " + written.error().message,
                    Json{{"run", run}});
        });
}

// The run first, then the registry: a keeper in it always has a run its records can go to.
void Interfaces::remember(const Json& hello, const std::string& control, std::function<void(Status)> done)
{
    const std::string id = stringOr(hello, "id");
    const std::string run = stringOr(hello, "run");
    Served& served = m_served[id];
    served.gone = false;
    served.run = run;
    const Json item{
        {"id", id}, {"name", stringOr(hello, "name")}, {"source", stringOr(hello, "source")}, {"run", run}};
    if (!served.link)
        served.item = item;
    served.keeper = KeeperRecord{id, control, integerOr(hello, "pid"), integerOr(hello, "started_at"),
        Json{{"item", item}}.dump(-1, ' ', false, Json::error_handler_t::replace)};
    RunSpec spec;
    spec.id = run;
    spec.kind = "hands-on";
    spec.title = stringOr(hello, "name");
    const fs::path source = stringOr(hello, "source");
    spec.interface = readFile(source, interfaceTextLimit).value_or(std::string());
    // An interface file beside an experiment.toml is that experiment's.
    if (const auto experiment = openExperiment(source.parent_path())) {
        spec.experiment = experiment->id;
        spec.config =
            readFile(experiment->folder / "experiment.toml", interfaceTextLimit).value_or(std::string());
    }
    const auto putKeeper = [this, id, run, keeper = served.keeper, done](const Status& status) {
        if (!status)
            return done(status);
        m_touchedRuns.insert(run);
        m_refresh.start();
        m_store->putKeeper(keeper, onMain<void>(this, done));
    };
    if (m_store->getRun(run))
        return putKeeper({});
    m_store->createRun(
        std::move(spec), onMain<RunRecord>(this, [putKeeper](const Result<RunRecord>& created) {
            putKeeper(created ? Status() : Status(fail(created.error())));
        }));
}

void Interfaces::connectLink(const std::string& id, KeeperLink* link)
{
    m_served.at(id).link = link;
    connect(link, &KeeperLink::greeted, this, [this, id](const Json& hello) { takeHello(id, hello); });
    connect(link, &KeeperLink::notified, this,
        [this, id](const QString& method, const Json& params, const QByteArray& bytes) {
            onNotified(id, method.toStdString(), params, bytes);
        });
    connect(link, &KeeperLink::recordStored, this, [this](const QString& call, const QString& run) {
        onRecordStored(call.toStdString(), run.toStdString());
    });
    connect(link, &KeeperLink::caughtUp, this, [this, id] { onCaughtUp(id); });
    connect(link, &KeeperLink::closed, this, [this, id] { onLinkClosed(id); });
}

void Interfaces::takeHello(const std::string& id, const Json& hello)
{
    Served& served = m_served.at(id);
    served.attempts = 0;
    const auto functions = hello.find("functions");
    for (const char* key : {"id", "name", "source", "run", "state", "generation", "url", "socket",
             "token_file", "pid", "started_at", "error", "schema_etag"}) {
        if (const auto value = hello.find(key); value != hello.end())
            served.item[key] = *value;
    }
    served.item["functions"] = functions != hello.end() && functions->is_array() ? functions->size() : 0;
    if (const std::string sandbox = m_sandboxOf ? m_sandboxOf(id) : std::string(); !sandbox.empty())
        served.item["sandbox"] = sandbox;
    publish(served);
    Q_EMIT changed();
}

void Interfaces::onLinkClosed(const std::string& id)
{
    const auto it = m_served.find(id);
    if (it == m_served.end() || !it->second.link)
        return;
    it->second.link->disconnect(this);
    it->second.link->deleteLater();
    it->second.link = nullptr;
    dropRunningItems(id);
    for (auto& [call, running] : m_running) {
        if (running.order.interface == id)
            running.viaRecord = true;
    }
    tryAttach(id);
}

void Interfaces::onNotified(
    const std::string& id, const std::string& method, const Json& params, const QByteArray& bytes)
{
    if (method == "keeper.call_event")
        return onCallEvent(id, params, bytes);
    if (method != "keeper.state")
        return;
    Served& served = m_served.at(id);
    const bool isNewSchema = stringOr(params, "schema_etag") != stringOr(served.item, "schema_etag");
    const bool hadFailed = stringOr(served.item, "state") == "failed";
    served.item.erase("error");
    for (const char* key : {"state", "generation", "error", "schema_etag"}) {
        if (const auto value = params.find(key); value != params.end())
            served.item[key] = *value;
    }
    if (!hadFailed)
        recordFailure(served);
    publish(served);
    if (!isNewSchema)
        return;
    request(id, "keeper.schema", Json::object(), [this, id](const Result<api::Answer>& answer) {
        const auto it = m_served.find(id);
        if (!answer || it == m_served.end())
            return;
        const Json schema = objectOr(answer->body, "schema");
        const auto functions = schema.find("functions");
        it->second.item["functions"] =
            functions != schema.end() && functions->is_array() ? functions->size() : 0;
        publish(it->second);
    });
}

void Interfaces::onCallEvent(const std::string& id, const Json& params, const QByteArray& bytes)
{
    const std::string call = stringOr(params, "call");
    const std::string event = stringOr(params, "event");
    if (const auto running = m_running.find(call); running != m_running.end())
        running->second.reply.notify("calls.event", params,
            std::string_view(bytes.constData(), static_cast<std::size_t>(bytes.size())));
    if (event == "done")
        return m_state->remove("calls", call);
    const auto& items = m_state->items("calls");
    const auto known = items.find(call);
    Json item =
        known == items.end() ? Json{{"id", call}, {"interface", id}, {"state", "queued"}} : known->second;
    if (event == "queued") {
        for (const char* key : {"fn", "caller", "at"}) {
            if (const auto value = params.find(key); value != params.end())
                item[key] = *value;
        }
    } else if (event == "started") {
        item["state"] = "running";
    } else if (event == "progress") {
        Json progress = Json::object();
        for (const char* key : {"done", "total", "message"}) {
            if (const auto value = params.find(key); value != params.end())
                progress[key] = *value;
        }
        item["progress"] = std::move(progress);
    }
    m_state->set("calls", call, std::move(item));
}

void Interfaces::dropRunningItems(const std::string& id)
{
    std::vector<std::string> calls;
    for (const auto& [call, item] : m_state->items("calls")) {
        if (stringOr(item, "interface") == id)
            calls.push_back(call);
    }
    for (const std::string& call : calls)
        m_state->remove("calls", call);
}

void Interfaces::markGone(const std::string& id)
{
    Served& served = m_served.at(id);
    if (served.gone)
        return;
    served.gone = true;
    served.settled = false;
    served.item["state"] = "gone";
    publish(served);
    Q_EMIT changed();
    importSpool(m_store, this, m_dataFolder / "hosts" / id,
        [this, id](const std::set<std::string>&) { finishGone(id); });
}

void Interfaces::finishGone(const std::string& id)
{
    m_store->removeKeeper(id, logged("cannot forget an interface host"));
    m_served.at(id).settled = true;
    const std::string run = m_served.at(id).run;
    endRunIfLive(m_store, run);
    m_touchedRuns.insert(run);
    m_refresh.start();
    std::vector<std::string> waiting;
    for (const auto& [call, running] : m_running) {
        if (running.order.interface == id)
            waiting.push_back(call);
    }
    for (const std::string& call : waiting)
        resolveFromStore(call, true);
    // The newest ones stay visible; ids sort by time. Those that are not settled are needed here once more.
    std::vector<std::string> gone;
    for (const auto& [key, served] : m_served) {
        if (served.gone && served.settled)
            gone.push_back(key);
    }
    for (std::size_t i = 0; i + goneKept < gone.size(); ++i) {
        m_state->remove("interfaces", gone[i]);
        m_served.erase(gone[i]);
    }
}

void Interfaces::publish(Served& served)
{
    const std::string id = stringOr(served.item, "id");
    m_state->set("interfaces", id, served.item);
    if (auto waiting = m_untilLoaded.extract(id))
        for (auto& done : waiting.mapped())
            whenLoaded(id, std::move(done));
}

void Interfaces::whenLoaded(const std::string& id, std::function<void(Result<Json>)> done)
{
    const auto it = m_served.find(id);
    if (it == m_served.end())
        return done(unknownInterface(id));
    const std::string state = stringOr(it->second.item, "state");
    if (state == "ready" || state == "failed")
        done(it->second.item);
    else if (state == "gone")
        done(fail("interfaces.gone", "the interface ended while its file was loaded"));
    else
        m_untilLoaded[id].push_back(std::move(done));
}

Json Interfaces::list() const
{
    Json all = Json::array();
    for (const auto& [id, served] : m_served)
        all.push_back(served.item);
    return all;
}

Json Interfaces::alive() const
{
    Json all = Json::array();
    for (const auto& [id, served] : m_served) {
        if (!served.gone)
            all.push_back(Json{{"kind", "interface"}, {"id", id}, {"title", stringOr(served.item, "name")}});
    }
    return all;
}

const std::string* Interfaces::resolve(const std::string& interface) const
{
    if (const auto it = m_served.find(interface); it != m_served.end())
        return &it->first;
    const std::string* found = nullptr;
    for (const auto& [id, served] : m_served) {
        if (served.gone || stringOr(served.item, "name") != interface)
            continue;
        if (found)
            return nullptr;
        found = &id;
    }
    return found;
}

Result<Json> Interfaces::find(const std::string& interface) const
{
    const std::string* id = resolve(interface);
    if (!id)
        return unknownInterface(interface);
    return m_served.at(*id).item;
}

void Interfaces::request(
    const std::string& interface, std::string_view method, const Json& params, api::AnswerHandler handler)
{
    const std::string* id = resolve(interface);
    if (!id)
        return handler(unknownInterface(interface));
    KeeperLink* link = m_served.at(*id).link;
    if (!link)
        return handler(fail("interfaces.unreachable", "the interface host cannot be reached"));
    link->request(method, params, std::move(handler));
}

} // namespace gb::service
