// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

#include "daemon.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <QThreadPool>

#include <backend/base/clock.h>
#include <backend/base/log.h>
#include <backend/base/paths.h>
#include <backend/base/version.h>

#include "interfaces.h"
#include "onmain.h"
#include "services.h"

namespace gb::service {
namespace {

constexpr int tidyEveryMs = 3600 * 1000;
constexpr std::int64_t dayMs = 24LL * 3600 * 1000;

std::int64_t residentBytes()
{
    const auto text = readFile("/proc/self/statm");
    std::int64_t total = 0;
    std::int64_t resident = 0;
    if (text)
        std::sscanf(text->c_str(), "%ld %ld", &total, &resident);
    return resident * ::sysconf(_SC_PAGESIZE);
}

} // namespace

Result<std::unique_ptr<Daemon>> Daemon::create(DaemonOptions options)
{
    StoreOptions storeOptions;
    storeOptions.folder = options.dataFolder;
    auto store = Store::open(std::move(storeOptions));
    if (!store)
        return fail(store.error());
    auto settings = Settings::open(options.dataFolder / "settings.json");
    if (!settings)
        return fail(settings.error());
    std::unique_ptr<Daemon> daemon(new Daemon(std::move(options), std::move(*store), std::move(*settings)));
    GB_TRY(daemon->openSecrets());
    GB_TRY(daemon->openModels());
    daemon->bindMethods();
    // Before the interfaces come up, whose sandbox it knows.
    GB_TRY(daemon->m_sandboxes->open());
    GB_TRY(daemon->m_interfaces->attachAll());
    GB_TRY(daemon->listen());
    daemon->considerLeaving();
    return daemon;
}

Daemon::Daemon(DaemonOptions options, std::unique_ptr<Store> store, Settings settings)
    : m_options(std::move(options)), m_startedAt(wallMs()), m_store(std::move(store)),
      m_settings(std::move(settings)),
      m_state({"jobs", "interfaces", "calls", "runs", "sandboxes", "models", "experiments", "daemon"}),
      m_feeds(m_store.get()), m_jobs(m_store.get(), &m_state), m_dispatcher(m_store.get()),
      m_experiments(&m_state),
      m_interfaces(std::make_unique<Interfaces>(m_store.get(), &m_state, m_options.dataFolder)),
      m_sandboxes(std::make_unique<Sandboxes>(
          Sandboxes::Parts{&m_state, &m_jobs, m_interfaces.get(), m_options.dataFolder},
          m_options.sandboxProviders))
{
    connectParts();
    publish();
}

Daemon::~Daemon()
{
    for (Connection* connection : m_connections) {
        connection->disconnect(this);
        delete connection;
    }
    if (m_listener.valid())
        ::unlink(m_socketPath.c_str());
    m_sandboxes.reset(); // nobody waits for a model after it
    if (m_options.modelSource)
        m_options.modelSource->useQueue(nullptr);
    QThreadPool::globalInstance()->waitForDone();
    // Before the parts: it brings its last answers to them.
    m_store->setListener({});
    m_store.reset();
}

void Daemon::connectParts()
{
    m_store->setListener([this](const EventBatch& batch) {
        QMetaObject::invokeMethod(
            &m_feeds, [this, batch] { m_feeds.onDurable(batch); }, Qt::QueuedConnection);
    });
    connect(&m_jobs, &JobList::changed, this, &Daemon::considerLeaving);
    connect(m_interfaces.get(), &Interfaces::changed, this, &Daemon::considerLeaving);
    connect(m_sandboxes.get(), &Sandboxes::changed, this, &Daemon::considerLeaving);
    m_idle.setSingleShot(true);
    connect(&m_idle, &QTimer::timeout, this, &Daemon::stop);
    connect(&m_tidy, &QTimer::timeout, this, &Daemon::tidyUp);
    m_tidy.start(tidyEveryMs);
    QTimer::singleShot(10'000, this, &Daemon::tidyUp);
}

void Daemon::bindMethods()
{
    const Services services{this, m_store.get(), &m_settings, &m_state, &m_feeds, &m_jobs, m_interfaces.get(),
        m_models.get(), m_secrets.get(), m_sandboxes.get(), &m_experiments, m_options.dataFolder};
    for (const auto bind : {bindDaemonMethods, bindStateMethods, bindEventMethods, bindJobMethods,
             bindSettingsMethods, bindSecretMethods, bindInterfaceMethods, bindExposeMethods, bindCallMethods,
             bindRunMethods, bindExperimentMethods, bindPresetMethods, bindDiagnosticsMethods,
             bindDoctorMethods, bindModelMethods, bindSandboxMethods, bindSandboxInsideMethods})
        bind(&m_dispatcher, services);
}

Status Daemon::openSecrets()
{
    auto secrets = SecretStore::open(
        m_options.dataFolder / "secrets.json", desktopKeyStore("Glovebox " + m_options.dataFolder.string()));
    if (!secrets)
        return fail(secrets.error());
    m_secrets = std::move(*secrets);
    m_secrets->useKeyStore(m_settings.boolean("secrets.key_store"));
    // What is written from now on is written without them.
    const auto tell = [this] {
        std::vector<SecretValue> values;
        for (const auto& [name, value] : m_secrets->values())
            values.push_back({name, value});
        m_store->setSecretValues(values);
        if (m_options.modelSource)
            m_options.modelSource->setStoredToken(m_secrets->value("HF_TOKEN"));
    };
    tell();
    connect(m_secrets.get(), &SecretStore::changed, this, tell);
    return {};
}

Status Daemon::openModels()
{
    ModelDownloads::Options options;
    options.atOnce = static_cast<int>(std::clamp<std::int64_t>(m_settings.integer("models.at_once"), 1, 16));
    options.bytesPerSecond = m_settings.integer("models.bytes_per_second");
    options.fetch.keepFree = static_cast<std::uint64_t>(m_settings.integer("models.keep_free_bytes"));
    auto models = ModelDownloads::open(m_options.dataFolder / "models.json", options);
    if (!models)
        return fail(models.error());
    m_models = std::move(*models);
    m_modelWaits = std::make_unique<ModelWaits>(m_models.get());
    if (m_options.modelSource)
        m_options.modelSource->useQueue(m_modelWaits.get());
    const auto show = [this](const std::string& id) { m_state.set("models", id, m_models->item(id)); };
    for (const std::string& id : m_models->ids())
        show(id);
    connect(m_models.get(), &ModelDownloads::changed, this, show);
    connect(m_models.get(), &ModelDownloads::removed, this,
        [this](const std::string& id) { m_state.remove("models", id); });
    connect(m_models.get(), &ModelDownloads::busyChanged, this, &Daemon::considerLeaving);
    return {};
}

Status Daemon::listen()
{
    auto path = daemonSocket(m_options.dataFolder);
    if (!path)
        return fail(path.error());
    m_socketPath = *path;
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    const std::string text = path->string();
    if (text.size() >= sizeof address.sun_path)
        return fail("io.path_too_long", text + " is too long for a socket");
    std::memcpy(address.sun_path, text.data(), text.size());
    UniqueFd fd(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
    // Whoever holds the lock owns the name; what lies there is left from a daemon that was killed.
    ::unlink(text.c_str());
    if (!fd.valid() || ::bind(fd.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0
        || ::chmod(text.c_str(), 0600) != 0 || ::listen(fd.get(), 256) != 0)
        return failErrno("cannot listen on", text, errno);
    m_listener = std::move(fd);
    m_acceptable = std::make_unique<QSocketNotifier>(m_listener.get(), QSocketNotifier::Read);
    connect(m_acceptable.get(), &QSocketNotifier::activated, this, &Daemon::accept);
    return {};
}

void Daemon::accept()
{
    UniqueFd fd(::accept4(m_listener.get(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
    if (!fd.valid()) {
        if (errno == EMFILE || errno == ENFILE) {
            // The waiting client stays in the queue and would wake us again at once.
            m_acceptable->setEnabled(false);
            QTimer::singleShot(200, this, [this] { m_acceptable->setEnabled(true); });
        }
        return;
    }
    ucred peer{};
    socklen_t size = sizeof peer;
    if (::getsockopt(fd.get(), SOL_SOCKET, SO_PEERCRED, &peer, &size) != 0 || peer.uid != ::geteuid()) {
        logWarning("service", "refused a client of another user", Json{{"uid", peer.uid}});
        return;
    }
    auto* connection = new Connection(std::move(fd));
    m_connections.insert(connection);
    connect(connection, &Connection::requested, this,
        [this](Connection* self, api::Incoming& request) { m_dispatcher.dispatch(self, request); });
    connect(connection, &Connection::drained, this, [this](Connection* self) {
        m_state.resume(self);
        m_feeds.resume(self);
    });
    connect(connection, &Connection::closed, this, [this](Connection* self, const Error& reason) {
        if (reason.code != "rpc.closed")
            logWarning("service", "dropped a client: " + reason.message,
                Json{{"code", reason.code}, {"client", self->caller().name}});
        onClosed(self);
    });
    considerLeaving();
}

void Daemon::onClosed(Connection* connection)
{
    m_state.drop(connection);
    m_feeds.drop(connection);
    m_connections.erase(connection);
    connection->deleteLater();
    publish();
    considerLeaving();
}

void Daemon::greet(Connection* connection, Caller caller, std::map<std::string, std::string> environment)
{
    connection->greet(std::move(caller), std::move(environment));
    publish();
}

Json Daemon::alive() const
{
    Json all = m_interfaces->alive();
    for (Json& one : m_sandboxes->alive())
        all.push_back(std::move(one));
    for (const auto& [id, item] : m_state.items("jobs")) {
        const std::string state = stringOr(item, "state");
        if (state == "queued" || state == "running")
            all.push_back(Json{{"kind", "job"}, {"id", id}, {"title", stringOr(item, "title")}});
    }
    if (m_models && m_models->isBusy())
        all.push_back(Json{{"kind", "downloads"}, {"id", "models"}, {"title", "downloads of models"}});
    return all;
}

bool Daemon::isReplaceable(const Connection* by) const
{
    return alive().empty() && std::ranges::none_of(m_connections, [by](const Connection* one) {
        return one != by && one->isGreeted();
    });
}

Json Daemon::info() const
{
    return Json{{"protocol", api::protocolVersion}, {"build", m_options.build}, {"version", version()},
        {"pid", ::getpid()}, {"data_folder", m_options.dataFolder.string()}, {"started_at", m_startedAt}};
}

Json Daemon::status() const
{
    Json status = info();
    status["uptime_s"] = (wallMs() - m_startedAt) / 1000;
    Json clients = Json::array();
    for (const Connection* one : m_connections) {
        if (one->isGreeted())
            clients.push_back(Json{{"name", one->caller().name}, {"kind", one->caller().kind}});
    }
    status["clients"] = std::move(clients);
    status["alive"] = alive();
    status["memory_bytes"] = residentBytes();
    std::error_code ignored;
    const auto indexBytes = fs::file_size(m_options.dataFolder / "index.db", ignored);
    const auto events = m_store->lastSeq(std::string(daemonStream));
    status["store"] = Json{{"index_bytes", ignored ? 0 : indexBytes}, {"daemon_events", events.value_or(0)}};
    return status;
}

void Daemon::publish()
{
    Json item = info();
    item["clients"] = std::ranges::count_if(m_connections, &Connection::isGreeted);
    item["alive"] = alive();
    m_state.set("daemon", "daemon", std::move(item));
}

int Daemon::idleExitMs() const
{
    if (m_options.idleExitMs > 0)
        return m_options.idleExitMs;
    return static_cast<int>(std::min<std::int64_t>(m_settings.integer("daemon.idle_exit_s"), 86'400)) * 1000;
}

void Daemon::considerLeaving()
{
    publish();
    if (!m_connections.empty() || !alive().empty())
        m_idle.stop();
    else if (!m_idle.isActive())
        m_idle.start(idleExitMs());
}

void Daemon::stop()
{
    if (m_stopping)
        return;
    m_stopping = true;
    m_acceptable.reset();
    // The name goes first, so that the next client starts a new daemon instead of meeting this one.
    ::unlink(m_socketPath.c_str());
    m_listener.reset();
    QTimer::singleShot(0, this, &Daemon::finished);
}

void Daemon::tidyUp()
{
    m_jobs.forgetOld();
    m_interfaces->findHosts();
    m_store->prune(logged("cannot forget old ops"));
    const std::int64_t days = m_settings.integer("retention.max_age_days");
    const Retention limits{days * dayMs, m_settings.integer("retention.max_bytes")};
    if (limits.maxAgeMs == 0 && limits.maxBytes == 0)
        return;
    m_store->applyRetention(limits, [](const Result<RetentionReport>& report) {
        if (!report)
            logError("service", "retention failed: " + report.error().message);
        else if (report->runs > 0)
            logInfo("service", "removed old runs", Json{{"runs", report->runs}, {"bytes", report->bytes}});
    });
}

} // namespace gb::service
