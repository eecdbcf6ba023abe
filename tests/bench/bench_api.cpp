// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

// ./run bench api: what the daemon's API costs, against what the same machine does bare in the same run.

#include <algorithm>
#include <csignal>
#include <cstdio>
#include <fcntl.h>
#include <sched.h>
#include <unistd.h>

#include <QCoreApplication>
#include <QLocalServer>
#include <QLocalSocket>
#include <QProcess>
#include <QTimer>

#include <backend/api/client.h>
#include <backend/base/clock.h>
#include <backend/base/fd.h>
#include <backend/base/paths.h>
#include <tests/support/temporary.h>

using namespace gb;

namespace {

constexpr int rounds = 5;
constexpr int tripsPerRound = 3000;
constexpr int batchSize = 1000;
constexpr int batches = 300;
constexpr int inFlight = 8;

double median(std::vector<double> values)
{
    std::ranges::sort(values);
    return values.empty() ? 0 : values[values.size() / 2];
}

template <typename Condition>
void spinUntil(Condition condition)
{
    while (!condition())
        QCoreApplication::processEvents(QEventLoop::WaitForMoreEvents);
}

// All threads of a process to one core, or back to all.
void pin(int pid, bool on)
{
    cpu_set_t set;
    CPU_ZERO(&set);
    for (int cpu = 0; cpu < (on ? 1 : CPU_SETSIZE); ++cpu)
        CPU_SET(cpu, &set);
    std::error_code error;
    for (fs::directory_iterator it("/proc/" + std::to_string(pid) + "/task", error), end; !error && it != end;
         it.increment(error))
        ::sched_setaffinity(std::atoi(it->path().filename().c_str()), sizeof set, &set);
}

int echoServer(const QString& name)
{
    QLocalServer server;
    if (!server.listen(name))
        return 1;
    QObject::connect(&server, &QLocalServer::newConnection, &server, [&server] {
        QLocalSocket* socket = server.nextPendingConnection();
        QObject::connect(
            socket, &QLocalSocket::readyRead, socket, [socket] { socket->write(socket->readAll()); });
        QObject::connect(
            socket, &QLocalSocket::disconnected, QCoreApplication::instance(), &QCoreApplication::quit);
    });
    std::puts("ready");
    std::fflush(stdout);
    return QCoreApplication::exec();
}

Json event(int number)
{
    // 256 bytes of data, as text in the stream.
    std::string text = std::to_string(number);
    text.resize(254, 'x');
    return Json{{"type", "bench"}, {"data", text}};
}

// Appends `count` batches with some of them under way at a time.
int produce(const fs::path& data, int count)
{
    api::Client client({data, "producer", false, false, {}});
    int sent = 0;
    int acknowledged = 0;
    Json all = Json::array();
    for (int i = 0; i < batchSize; ++i)
        all.push_back(event(i));
    std::function<void()> more = [&] {
        while (sent < count && sent - acknowledged < inFlight) {
            ++sent;
            client.call(&client, "events.append", Json{{"stream", "daemon"}, {"events", all}},
                [&](const Result<api::Answer>& answer) {
                    if (!answer)
                        std::exit(1);
                    ++acknowledged;
                    more();
                });
        }
    };
    client.open();
    more();
    spinUntil([&] { return acknowledged == count; });
    return 0;
}

class Bench
{
public:
    Bench()
    {
        m_client = makeClient("bench", true);
        spinUntil([this] { return m_client->state() == api::Client::State::Connected; });
        m_daemon = static_cast<int>(integerOr(m_client->daemonInfo(), "pid"));
        m_echo.start(QCoreApplication::applicationFilePath(), {QStringLiteral("--echo"), echoName()});
        m_echo.waitForReadyRead();
        m_bare.connectToServer(echoName());
        m_bare.waitForConnected();
    }

    ~Bench()
    {
        m_bare.abort();
        m_echo.waitForFinished();
        m_client->close();
        ::kill(m_daemon, SIGTERM);
        std::error_code ignored;
        if (const auto sockets = socketFolder(data()))
            fs::remove_all(*sockets, ignored);
    }

    Json run()
    {
        measureTrips(true);
        measureTrips(false);
        measureEvents();
        measureManySubscribers();
        measureAcknowledgement();
        return m_figures;
    }

private:
    fs::path data() const { return m_folder.path() / "data"; }
    QString echoName() const { return QString::fromStdString((m_folder.path() / "echo").string()); }

    std::unique_ptr<api::Client> makeClient(const std::string& name, bool start) const
    {
        auto client = std::make_unique<api::Client>(api::Client::Options{data(), name, start, false, {}});
        client->open();
        return client;
    }

    void add(const char* name, double value, const char* unit, Json goal, bool met, Json baseline)
    {
        m_figures[name] = Json{{"value", value}, {"unit", unit}, {"goal", std::move(goal)}, {"met", met},
            {"baseline", std::move(baseline)}};
    }

    double echoTrips()
    {
        const QByteArray message(90, 'x');
        std::vector<double> times;
        for (int i = 0; i < tripsPerRound; ++i) {
            const auto begun = monotonicNs();
            m_bare.write(message);
            spinUntil([&] { return m_bare.bytesAvailable() >= message.size(); });
            m_bare.readAll();
            times.push_back(static_cast<double>(monotonicNs() - begun) / 1000);
        }
        return median(times);
    }

    double apiTrips()
    {
        std::vector<double> times;
        for (int i = 0; i < tripsPerRound; ++i) {
            bool done = false;
            const auto begun = monotonicNs();
            m_client->call(m_client.get(), "jobs.list", Json::object(),
                [&](const Result<api::Answer>&) { done = true; });
            spinUntil([&] { return done; });
            times.push_back(static_cast<double>(monotonicNs() - begun) / 1000);
        }
        return median(times);
    }

    void measureTrips(bool pinned)
    {
        for (const int pid : {static_cast<int>(::getpid()), m_daemon, static_cast<int>(m_echo.processId())})
            pin(pid, pinned);
        std::vector<double> ratios;
        std::vector<double> bare;
        std::vector<double> ours;
        for (int i = 0; i < rounds; ++i) {
            bare.push_back(echoTrips());
            ours.push_back(apiTrips());
            ratios.push_back(ours.back() / bare.back());
        }
        const double ratio = median(ratios);
        const std::string suffix = pinned ? "" : "_unpinned";
        add(("roundtrip_ratio" + suffix).c_str(), ratio, "×", pinned ? Json("<= 4") : Json(), ratio <= 4, 1);
        add(("roundtrip_us" + suffix).c_str(), median(ours), "µs", Json(), true, median(bare));
        for (const int pid : {static_cast<int>(::getpid()), m_daemon, static_cast<int>(m_echo.processId())})
            pin(pid, false);
    }

    double streamTo(int subscribers, int count)
    {
        std::vector<std::unique_ptr<api::Client>> clients;
        std::int64_t left = std::int64_t{subscribers} * count * batchSize;
        for (int i = 0; i < subscribers; ++i) {
            clients.push_back(makeClient("subscriber", false));
            clients.back()->follow("daemon", -1);
            QObject::connect(clients.back().get(), &api::Client::eventsArrived, clients.back().get(),
                [&left](const QString&, qint64, const Json& events) {
                    left -= static_cast<std::int64_t>(events.size());
                });
            bool ready = false;
            clients.back()->call(clients.back().get(), "jobs.list", Json::object(),
                [&](const Result<api::Answer>&) { ready = true; });
            spinUntil([&] { return ready; });
        }
        QProcess producer;
        const auto begun = monotonicNs();
        producer.start(QCoreApplication::applicationFilePath(),
            {QStringLiteral("--produce"), QString::fromStdString(data().string()), QString::number(count)});
        spinUntil([&] { return left == 0; });
        const double seconds = static_cast<double>(monotonicNs() - begun) / 1e9;
        producer.waitForFinished();
        return static_cast<double>(count) * batchSize / seconds;
    }

    void measureEvents()
    {
        std::vector<double> rates;
        for (int i = 0; i < 3; ++i)
            rates.push_back(streamTo(1, batches));
        const double rate = median(rates);
        add("events_per_s", rate, "1/s", ">= 100000", rate >= 100'000, nullptr);
    }

    void measureManySubscribers()
    {
        constexpr int subscribers = 50;
        const double rate = streamTo(subscribers, 10) * subscribers;
        add("deliveries_per_s_50_subscribers", rate, "1/s", Json(), true, nullptr);
    }

    // What a lone write costs on this disk.
    double bareSync() const
    {
        const UniqueFd fd(::open((m_folder.path() / "sync").c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0600));
        const std::string page(4096, 'x');
        std::vector<double> times;
        for (int i = 0; i < 300; ++i) {
            const auto begun = monotonicNs();
            if (::write(fd.get(), page.data(), page.size()) < 0 || ::fdatasync(fd.get()) != 0)
                return 0;
            times.push_back(static_cast<double>(monotonicNs() - begun) / 1e6);
        }
        return median(times);
    }

    void measureAcknowledgement()
    {
        constexpr int count = 3000; // one every millisecond
        const double bare = bareSync();
        std::vector<double> times;
        int sent = 0;
        QTimer timer;
        timer.setTimerType(Qt::PreciseTimer);
        const auto started = monotonicNs();
        QObject::connect(&timer, &QTimer::timeout, &timer, [&] {
            const auto due = std::min<std::int64_t>(count, (monotonicNs() - started) / 1'000'000);
            for (; sent < due; ++sent) {
                const auto begun = monotonicNs();
                m_client->call(m_client.get(), "events.append",
                    Json{{"stream", "daemon"}, {"events", Json::array({event(sent)})}},
                    [&times, begun](const Result<api::Answer>&) {
                        times.push_back(static_cast<double>(monotonicNs() - begun) / 1e6);
                    });
            }
        });
        timer.start(1);
        spinUntil([&] { return times.size() == count; });
        const double added = median(times) - bare;
        add("ack_added_ms", added, "ms", "<= 5", added <= 5, bare);
    }

    test::TemporaryFolder m_folder;
    std::unique_ptr<api::Client> m_client;
    int m_daemon = 0;
    QProcess m_echo;
    QLocalSocket m_bare;
    Json m_figures = Json::object();
};

void print(const Json& figures, bool asJson)
{
    if (asJson) {
        std::puts(Json{{"bench", "api"}, {"figures", figures}}.dump().c_str());
        return;
    }
    for (const auto& [name, figure] : figures.items())
        std::printf("%-34s %12.2f %-4s goal %-10s %s  bare %s\n", name.c_str(), figure["value"].get<double>(),
            figure["unit"].get<std::string>().c_str(), figure["goal"].dump().c_str(),
            figure["met"].get<bool>() ? "met" : "MISSED", figure["baseline"].dump().c_str());
}

} // namespace

int main(int argc, char** argv)
{
    QCoreApplication application(argc, argv);
    const QStringList words = QCoreApplication::arguments();
    if (words.size() == 3 && words[1] == QLatin1String("--echo"))
        return echoServer(words[2]);
    if (words.size() == 4 && words[1] == QLatin1String("--produce"))
        return produce(words[2].toStdString(), words[3].toInt());
    print(Bench().run(), words.contains(QStringLiteral("--json")));
    return 0;
}
