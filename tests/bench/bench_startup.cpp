// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

// ./run bench startup: the window's first frame and idle memory against a bare Qt window in the same run.
// Both are this program started again, so that they differ only in what they show.

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <fstream>

#include <QApplication>
#include <QElapsedTimer>
#include <QProcess>
#include <QTimer>

#include <tests/support/temporary.h>
#include <widgets/controls/lookstore.h>
#include <widgets/controls/splitter.h>
#include <widgets/shell/mainwindow.h>

using namespace gb;

namespace {

constexpr int startupRounds = 5;
constexpr int idleMs = 1000;
constexpr double startupGoal = 5;

struct Startup
{
    double firstFrameMs = 0;
    double memoryMb = 0;
};

double median(std::vector<double> values)
{
    std::ranges::sort(values);
    return values[values.size() / 2];
}

double residentMb()
{
    std::ifstream status("/proc/self/status");
    for (std::string line; std::getline(status, line);)
        if (line.starts_with("VmRSS:"))
            return std::atof(line.c_str() + 6) / 1024;
    return 0;
}

// Says when the first frame has been painted, and after a while how much memory is in use.
class FirstFrame final : public QObject
{
public:
    explicit FirstFrame(QWidget& window) { window.installEventFilter(this); }

protected:
    bool eventFilter(QObject* watched, QEvent* event) override
    {
        if (event->type() == QEvent::Paint && !std::exchange(m_painted, true)) {
            QTimer::singleShot(0, this, [] {
                std::puts("frame");
                std::fflush(stdout);
            });
            QTimer::singleShot(idleMs, this, [] {
                std::printf("%f\n", residentMb());
                QApplication::quit();
            });
        }
        return QObject::eventFilter(watched, event);
    }

private:
    bool m_painted = false;
};

int showBare()
{
    QWidget window;
    window.resize(1280, 800);
    FirstFrame first(window);
    window.show();
    return QApplication::exec();
}

int showWindow(const fs::path& folder)
{
    ui::setRememberedFile(QString::fromStdString((folder / "window.ini").string()));
    ui::Theme::instance().apply(ui::rememberedLook());
    api::Client client({folder, "window", false, false, {}});
    ui::MainWindow window(client);
    FirstFrame first(window);
    client.open();
    window.show();
    return QApplication::exec();
}

Startup measure(const QString& kind, const QString& folder)
{
    QProcess child;
    child.setProcessChannelMode(QProcess::ForwardedErrorChannel);
    QElapsedTimer clock;
    clock.start();
    child.start(QApplication::applicationFilePath(), {kind, folder});
    Startup startup;
    while (!child.canReadLine() && child.waitForReadyRead(20'000)) { }
    startup.firstFrameMs = static_cast<double>(clock.nsecsElapsed()) / 1e6;
    child.readLine();
    child.waitForFinished(20'000);
    startup.memoryMb = child.readLine().trimmed().toDouble();
    return startup;
}

Json figure(double value, const char* unit, double baseline)
{
    return {{"value", value}, {"unit", unit}, {"goal", startupGoal}, {"met", value <= startupGoal},
        {"baseline", baseline}};
}

} // namespace

int main(int argc, char** argv)
{
    if (qEnvironmentVariableIsEmpty("QT_QPA_PLATFORM") && qEnvironmentVariableIsEmpty("DISPLAY")
        && qEnvironmentVariableIsEmpty("WAYLAND_DISPLAY"))
        qputenv("QT_QPA_PLATFORM", "offscreen");
    QApplication application(argc, argv);
    const auto words = QApplication::arguments();
    if (words.value(1) == QLatin1String("--bare"))
        return showBare();
    if (words.value(1) == QLatin1String("--window"))
        return showWindow(words.value(2).toStdString());

    const test::TemporaryFolder folder;
    const auto path = QString::fromStdString(folder.path().string());
    std::vector<double> bareFrame, bareMemory, frame, memory;
    for (int round = 0; round < startupRounds; ++round) {
        const auto bare = measure(QStringLiteral("--bare"), path);
        const auto window = measure(QStringLiteral("--window"), path);
        bareFrame.push_back(bare.firstFrameMs);
        bareMemory.push_back(bare.memoryMb);
        frame.push_back(window.firstFrameMs);
        memory.push_back(window.memoryMb);
    }
    const Json figures = {
        {"first_frame_ratio", figure(median(frame) / median(bareFrame), "×", median(bareFrame))},
        {"idle_memory_ratio", figure(median(memory) / median(bareMemory), "×", median(bareMemory))}};
    if (words.contains(QStringLiteral("--json"))) {
        std::puts(Json{{"bench", "startup"}, {"figures", figures}}.dump().c_str());
        return 0;
    }
    std::printf("first frame %.0f ms, bare %.0f ms: %.2f × (goal ≤ %.0f)\n", median(frame), median(bareFrame),
        median(frame) / median(bareFrame), startupGoal);
    std::printf("idle memory %.1f MB, bare %.1f MB: %.2f × (goal ≤ %.0f)\n", median(memory),
        median(bareMemory), median(memory) / median(bareMemory), startupGoal);
    return 0;
}
