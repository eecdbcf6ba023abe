// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

// ./run bench inspector: what the inspector's window adds to a call, and what its history, its JSON tree and
// its forms cost the GUI thread, and how soon a large tensor is a picture. The daemon, the interface host and
// the calls are real.

#include <algorithm>
#include <csignal>
#include <cstdio>
#include <ctime>
#include <fstream>

#include <QApplication>
#include <QDeadlineTimer>
#include <QListView>
#include <QLocalSocket>
#include <QProcess>
#include <QTcpSocket>
#include <QTreeView>
#include <QUrl>

#include <sys/socket.h>

#include <backend/base/clock.h>
#include <backend/base/ids.h>
#include <backend/base/paths.h>
#include <backend/store/store.h>
#include <tests/support/temporary.h>
#include <widgets/forms/argumentform.h>
#include <widgets/pages/inspector/callpanel.h>
#include <widgets/pages/inspector/historypanel.h>
#include <widgets/viewers/jsonview.h>
#include <widgets/viewers/matrixview.h>

using namespace gb;

namespace {

constexpr int trips = 300;
constexpr int callsPerSecond = 500;
constexpr int historySeconds = 6;
constexpr std::size_t jsonBytes = 100'000'000;
constexpr int formFields = 300;
constexpr int mostRounds = 5;

const char* const interfaceText = R"(
@expose
def twice(x: int = 1) -> int:
    return 2 * x

try:
    import numpy
except ImportError:
    pass
else:
    weights = numpy.random.default_rng(0).standard_normal((10_000, 10_000), dtype=numpy.float32)

    @expose(tensors="binary")
    def large() -> numpy.ndarray:
        return weights
)";

std::atomic<std::size_t> arrivedBytes = 0; // at this process, through its sockets

double median(std::vector<double> values)
{
    std::ranges::sort(values);
    return values.empty() ? 0 : values[values.size() / 2];
}

double threadMs()
{
    timespec now{};
    ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return static_cast<double>(now.tv_sec) * 1e3 + static_cast<double>(now.tv_nsec) / 1e6;
}

double wallMsExact()
{
    return static_cast<double>(monotonicNs()) / 1e6;
}

double residentBytes()
{
    std::ifstream status("/proc/self/status");
    for (std::string line; std::getline(status, line);)
        if (line.starts_with("VmRSS:"))
            return std::atof(line.c_str() + 6) * 1024;
    return 0;
}

template <typename Condition>
void spinUntil(Condition condition)
{
    while (!condition())
        QCoreApplication::processEvents(QEventLoop::WaitForMoreEvents);
}

// CPU time of this thread from one painted frame of a widget to the next.
class FrameMeter final : public QObject
{
public:
    explicit FrameMeter(QWidget* watched) { watched->installEventFilter(this); }
    std::vector<double> frames;

protected:
    bool eventFilter(QObject*, QEvent* event) override
    {
        if (event->type() == QEvent::UpdateRequest || event->type() == QEvent::Paint) {
            const double now = threadMs();
            if (m_last > 0)
                frames.push_back(now - m_last);
            m_last = now;
        }
        return false;
    }

private:
    double m_last = 0;
};

// Waits for the first time that a matrix is painted with values in it.
class FirstPixel final : public QObject
{
public:
    FirstPixel() { QCoreApplication::instance()->installEventFilter(this); }
    bool painted() const { return m_painted; }

protected:
    bool eventFilter(QObject* object, QEvent* event) override
    {
        if (event->type() == QEvent::Paint) {
            const auto* view = qobject_cast<ui::MatrixView*>(object->parent());
            m_painted = m_painted || (view && view->matrix().rows > 0);
        }
        return false;
    }

private:
    bool m_painted = false;
};

class Bench
{
public:
    explicit Bench(std::int64_t rows, int rounds) : m_rows(rows), m_rounds(rounds) { }

    ~Bench()
    {
        m_serve.terminate();
        m_serve.waitForFinished(10'000);
        if (!m_client)
            return;
        const int daemon = static_cast<int>(integerOr(m_client->daemonInfo(), "pid"));
        m_client->close();
        if (daemon > 0)
            ::kill(daemon, SIGTERM);
        std::error_code ignored;
        if (const auto sockets = socketFolder(data()))
            fs::remove_all(*sockets, ignored);
    }

    Json run()
    {
        measureJson();
        measureForm();
        fillHistory();
        serve();
        measureCalls();
        measureTensor();
        measureHistory();
        return m_figures;
    }

private:
    fs::path data() const { return m_folder.path() / "data"; }

    void add(const char* name, double value, const char* unit, double most, Json baseline)
    {
        m_figures[name] = Json{{"value", value}, {"unit", unit}, {"goal", "<= " + Json(most).dump()},
            {"met", value <= most}, {"baseline", std::move(baseline)}};
    }

    void measureJson()
    {
        std::string text = "{\"rows\":[";
        for (int i = 0; text.size() < jsonBytes; ++i)
            text += (i > 0 ? "," : "") + std::string("{\"token\":\"word ") + std::to_string(i)
                + "\",\"score\":0.25,\"path\":[1,2,3]}";
        text += "]}";
        const auto size = static_cast<double>(text.size());
        std::vector<double> times;
        double memory = 0;
        for (int round = 0; round < m_rounds; ++round) {
            ui::JsonView view;
            view.resize(800, 600);
            view.show();
            QCoreApplication::processEvents();
            const double before = residentBytes();
            std::string copy = text;
            const double begun = wallMsExact();
            view.setText(std::move(copy));
            view.tree()->expandToDepth(1);
            view.repaint();
            QCoreApplication::processEvents();
            times.push_back((wallMsExact() - begun) / 1e3);
            memory = std::max(memory, (residentBytes() - before) / size);
        }
        add("json_100mb_s", median(times), "s", 1, nullptr);
        add("json_memory_ratio", memory, "×", 3, nullptr);
    }

    void measureForm()
    {
        Json properties = Json::object();
        for (int group = 0; group < formFields / 10; ++group) {
            Json inner = Json::object();
            for (int i = 0; i < 10; ++i)
                inner["field_" + std::to_string(i)] = Json{{"type",
                                                               i % 3 == 0       ? "integer"
                                                                   : i % 3 == 1 ? "string"
                                                                                : "boolean"},
                    {"description", "What this one is for."}};
            properties["group_" + std::to_string(group)] =
                Json{{"type", "object"}, {"properties", inner}, {"description", "Ten fields."}};
        }
        const Json schema{{"type", "object"}, {"properties", properties}};
        std::vector<double> times;
        for (int round = 0; round < std::max(3, m_rounds); ++round) {
            ui::ArgumentForm form;
            form.resize(700, 500);
            form.show();
            QCoreApplication::processEvents();
            const double begun = wallMsExact();
            form.setSchema(schema);
            QCoreApplication::processEvents();
            times.push_back(wallMsExact() - begun);
        }
        add("form_ms", median(times), "ms", 50, nullptr);
    }

    // As many calls in the index as after months of work.
    void fillHistory() const
    {
        StoreOptions options;
        options.folder = data();
        auto store = Store::open(options);
        if (!store)
            std::exit(1);
        RunSpec run;
        run.id = newId();
        run.kind = "hands-on";
        run.title = "history";
        const std::string id = run.id;
        std::promise<void> made;
        (*store)->createRun(std::move(run), [&made](const Result<RunRecord>&) { made.set_value(); });
        made.get_future().wait();
        std::atomic<std::int64_t> left = m_rows;
        const auto now = wallMs();
        for (std::int64_t i = 0; i < m_rows; ++i) {
            CallRecord record;
            record.id = newId();
            record.run = id;
            record.interfaceName = "history";
            record.fn = "twice";
            record.callerKind = "agent";
            record.callerName = "agent";
            record.at = now - m_rows + i;
            record.computeNs = 1'000'000;
            record.result = std::to_string(i);
            (*store)->putCall(std::move(record), [&left](const Status&) { --left; });
            while (i - (m_rows - left) > 20'000)
                std::this_thread::sleep_for(std::chrono::milliseconds(1));
        }
        while (left > 0)
            std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }

    void serve()
    {
        const auto file = m_folder.path() / "interface.py";
        std::ofstream(file) << interfaceText;
        auto environment = QProcessEnvironment::systemEnvironment();
        environment.insert(QStringLiteral("GLOVEBOX_HOME"), QString::fromStdString(data().string()));
        m_serve.setProcessEnvironment(environment);
        m_serve.setProcessChannelMode(QProcess::SeparateChannels);
        QStringList words{
            QStringLiteral("serve"), QString::fromStdString(file.string()), QStringLiteral("--json")};
        // The one of the tests has numpy.
        if (const auto python = qEnvironmentVariable("GB_TEST_PYTHON"); !python.isEmpty())
            words += {QStringLiteral("--python"), python};
        m_serve.start(QCoreApplication::applicationDirPath() + QStringLiteral("/glovebox"), words);
        while (!m_serve.canReadLine() && m_serve.waitForReadyRead(60'000)) { }
        const auto ready = parseJson(m_serve.readLine().toStdString());
        if (!ready) {
            std::fputs("the interface was not served\n", stderr);
            std::exit(1);
        }
        m_ready = *ready;
        m_client = std::make_unique<api::Client>(api::Client::Options{data(), "bench", true, false, {}});
        m_client->open();
        spinUntil([this] { return m_client->state() == api::Client::State::Connected; });
    }

    // One request on a kept connection, as a script without any of us would send it.
    double bareTrip(QTcpSocket& socket, const QByteArray& request)
    {
        const double begun = wallMsExact();
        socket.write(request);
        QByteArray answer;
        while (!answer.endsWith('}') && socket.waitForReadyRead(5000))
            answer += socket.readAll();
        const double took = wallMsExact() - begun;
        if (!answer.startsWith("HTTP/1.1 200")) {
            std::fprintf(stderr, "the bare call was refused: %s\n", answer.left(300).constData());
            std::exit(1);
        }
        return took;
    }

    void measureCalls()
    {
        const auto token = readFile(stringOr(m_ready, "token_file"));
        const QByteArray body(R"({"fn":"twice","args":[],"kwargs":{"x":21}})");
        const QUrl url(QString::fromStdString(stringOr(m_ready, "url")));
        const QByteArray request = "POST / HTTP/1.1\r\nHost: " + url.authority().toUtf8()
            + "\r\nContent-Type: application/json\r\nAuthorization: Bearer "
            + QByteArray::fromStdString(token.value_or(std::string())).trimmed()
            + "\r\nContent-Length: " + QByteArray::number(body.size()) + "\r\n\r\n" + body;
        QTcpSocket socket;
        socket.connectToHost(url.host(), static_cast<quint16>(url.port()));
        socket.waitForConnected();
        socket.setSocketOption(QAbstractSocket::LowDelayOption, 1);

        ui::CallPanel panel(*m_client);
        panel.resize(900, 700);
        panel.show();
        choose(panel, "twice");
        panel.setArguments({{"x", 21}});
        bool ended = false;
        QObject::connect(&panel, &ui::CallPanel::callEnded, &panel, [&ended] { ended = true; });
        std::vector<double> bare;
        std::vector<double> ours;
        for (int i = 0; i < trips; ++i) {
            bare.push_back(bareTrip(socket, request));
            ended = false;
            const double begun = wallMsExact();
            panel.runAction()->trigger();
            spinUntil([&ended] { return ended; });
            ours.push_back(wallMsExact() - begun);
        }
        add("call_overhead_ms", median(ours) - median(bare), "ms", 3, median(bare));
    }

    // As if it had been chosen in the list; false when the interface has no such function.
    bool choose(ui::CallPanel& panel, const std::string& name)
    {
        ui::FunctionList::Function function;
        function.interfaceId = QString::fromStdString(stringOr(m_ready, "id"));
        bool answered = false;
        m_client->call(&panel, "interfaces.schema", {{"interface", stringOr(m_ready, "id")}},
            [&](Result<api::Answer> answer) {
                answered = true;
                if (!answer)
                    return;
                const auto schema = objectOr(answer->body, "schema");
                for (const auto& one : schema.at("functions"))
                    if (stringOr(one, "name") == name)
                        function.schema = one;
            });
        spinUntil([&answered] { return answered; });
        if (function.schema.is_object())
            panel.setFunction(function);
        return function.schema.is_object();
    }

    // From the answer, which has the handle of 10⁸ numbers, to the first frame of the heatmap, in ms; and
    // what came to the window for it, in MB.
    std::optional<std::pair<double, double>> showTensor()
    {
        ui::CallPanel panel(*m_client);
        panel.resize(900, 900);
        panel.show();
        if (!choose(panel, "large"))
            return std::nullopt;
        const FirstPixel pixel;
        double begun = 0;
        std::size_t before = 0;
        QObject::connect(&panel, &ui::CallPanel::callEnded, &panel, [&begun, &before] {
            begun = wallMsExact();
            before = arrivedBytes;
        });
        panel.runAction()->trigger();
        spinUntil([&pixel] { return pixel.painted(); });
        const double took = wallMsExact() - begun;
        // What comes after the picture belongs to it: statistics, finer parts.
        const QDeadlineTimer rest(1000);
        while (!rest.hasExpired())
            QCoreApplication::processEvents(QEventLoop::AllEvents, 50);
        return std::pair(took, static_cast<double>(arrivedBytes - before) / 1e6);
    }

    void measureTensor()
    {
        std::vector<double> times;
        std::vector<double> megabytes;
        for (int round = 0; round < m_rounds; ++round) {
            const auto shown = showTensor();
            if (!shown) {
                std::fputs("tensors were not measured: the Python that serves has no numpy\n", stderr);
                return;
            }
            times.push_back(shown->first);
            megabytes.push_back(shown->second);
        }
        add("tensor_first_pixel_ms", median(times), "ms", 200, nullptr);
        add("tensor_moved_mb", median(megabytes), "MB", 5, 400);
    }

    void measureHistory()
    {
        ui::HistoryPanel history(*m_client);
        history.resize(420, 900);
        history.show();
        spinUntil([&history] { return history.settled(); });
        QCoreApplication::processEvents();
        FrameMeter meter(&history);
        // Another process calls, so that only the window's own work is counted here.
        QProcess caller;
        caller.start(QCoreApplication::applicationFilePath(),
            {QStringLiteral("--call"), QString::fromStdString(data().string()),
                QString::fromStdString(stringOr(m_ready, "id"))});
        spinUntil([&caller] { return caller.state() == QProcess::NotRunning; });
        const int made = caller.readAllStandardOutput().trimmed().toInt();
        auto frames = meter.frames;
        std::ranges::sort(frames);
        const double p99 = frames.empty() ? 0 : frames[frames.size() * 99 / 100];
        add("history_frame_p99_ms", p99, "ms", 16, nullptr);
        m_figures["history_calls_per_s"] = Json{{"value", made / static_cast<double>(historySeconds)},
            {"unit", "1/s"}, {"goal", nullptr}, {"met", true}, {"baseline", callsPerSecond}};
        m_figures["history_rows"] = Json{
            {"value", m_rows}, {"unit", "rows"}, {"goal", nullptr}, {"met", true}, {"baseline", nullptr}};
    }

    std::int64_t m_rows;
    int m_rounds;
    test::TemporaryFolder m_folder;
    QProcess m_serve;
    Json m_ready;
    std::unique_ptr<api::Client> m_client;
    Json m_figures = Json::object();
};

// Calls at a steady pace and says how many came back.
int callAtPace(const fs::path& folder, const std::string& interface)
{
    api::Client client({folder, "caller", false, false, {}});
    client.open();
    spinUntil([&client] { return client.state() == api::Client::State::Connected; });
    int sent = 0;
    int back = 0;
    QTimer timer;
    timer.setTimerType(Qt::PreciseTimer);
    const double begun = wallMsExact();
    QObject::connect(&timer, &QTimer::timeout, &timer, [&] {
        const auto due = static_cast<int>((wallMsExact() - begun) / 1e3 * callsPerSecond);
        for (; sent < std::min(due, callsPerSecond * historySeconds) && sent - back < 100; ++sent)
            client.call(&client, "calls.run",
                {{"interface", interface}, {"fn", "twice"}, {"kwargs", {{"x", sent}}}},
                [&back](const Result<api::Answer>&) { ++back; });
    });
    timer.start(2);
    spinUntil([&] { return wallMsExact() - begun > historySeconds * 1e3 && back == sent; });
    std::printf("%d\n", back);
    return 0;
}

} // namespace

// Everything that is read from a socket in this process comes through here.
extern "C" ssize_t recv(int socket, void* buffer, size_t size, int flags)
{
    const ssize_t got = ::recvfrom(socket, buffer, size, flags, nullptr, nullptr);
    if (got > 0)
        arrivedBytes += static_cast<std::size_t>(got);
    return got;
}

int main(int argc, char** argv)
{
    if (qEnvironmentVariableIsEmpty("QT_QPA_PLATFORM") && qEnvironmentVariableIsEmpty("DISPLAY")
        && qEnvironmentVariableIsEmpty("WAYLAND_DISPLAY"))
        qputenv("QT_QPA_PLATFORM", "offscreen");
    QApplication application(argc, argv);
    const auto words = QApplication::arguments();
    if (words.value(1) == QLatin1String("--call"))
        return callAtPace(words.value(2).toStdString(), words.value(3).toStdString());
    // One quick round stands on a tenth of the history.
    const int asked = qEnvironmentVariableIntValue("GB_BENCH_ROUNDS");
    const int rounds = asked > 0 ? std::min(asked, mostRounds) : mostRounds;
    const Json figures = Bench(rounds == 1 ? 100'000 : 1'000'000, rounds).run();
    if (words.contains(QStringLiteral("--json"))) {
        std::puts(Json{{"bench", "inspector"}, {"figures", figures}}.dump().c_str());
        return 0;
    }
    for (const auto& [name, figure] : figures.items())
        std::printf("%-24s %10.2f %-4s goal %-8s %s\n", name.c_str(), figure["value"].get<double>(),
            figure["unit"].get<std::string>().c_str(), figure["goal"].dump().c_str(),
            figure["met"].get<bool>() ? "met" : "MISSED");
    return 0;
}
