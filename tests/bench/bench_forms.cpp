// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

// ./run bench forms: how long the sandbox form takes to be there, what a keystroke in it costs the GUI thread
// with its validation, and what 10 000 log lines a second cost it per update.

#include <algorithm>
#include <cstdio>
#include <ctime>

#include <QApplication>
#include <QElapsedTimer>
#include <QFile>
#include <QKeyEvent>
#include <QLineEdit>

#include <tests/support/fakedaemon.h>
#include <tests/support/temporary.h>
#include <widgets/controls/logview.h>
#include <widgets/controls/splitter.h>
#include <widgets/controls/theme.h>
#include <widgets/pages/sandboxes/sandboxespage.h>
#include <widgets/pages/sandboxes/sandboxform.h>

using namespace gb;
using namespace gb::ui;

namespace {

constexpr int formRounds = 7;
constexpr int keystrokes = 60;
constexpr int logUpdates = 40;
constexpr int linesPerUpdate = 2'500; // 10 000 a second, read four times a second
constexpr double openGoalMs = 100;
constexpr double updateGoalMs = 16;

double threadCpuMs()
{
    timespec now{};
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return static_cast<double>(now.tv_sec) * 1e3 + static_cast<double>(now.tv_nsec) / 1e6;
}

double median(std::vector<double> values)
{
    std::ranges::sort(values);
    return values[values.size() / 2];
}

double worst(const std::vector<double>& values)
{
    return *std::ranges::max_element(values);
}

// From nothing to painted, as the shell makes it when the page is first chosen.
double openForm(api::Client& client)
{
    QElapsedTimer clock;
    clock.start();
    SandboxesPage page(client);
    page.resize(1224, 740);
    page.show();
    page.repaint();
    return static_cast<double>(clock.nsecsElapsed()) / 1e6;
}

std::vector<double> typeInForm(api::Client& client)
{
    SandboxesPage page(client);
    page.resize(1224, 740);
    page.show();
    // A spec with something in every section, so that there is something to validate and to compare.
    Json packages = Json::array();
    for (int i = 0; i < 60; ++i)
        packages.push_back("package-" + std::to_string(i) + ">=1." + std::to_string(i));
    Json models = Json::array();
    for (int i = 0; i < 8; ++i)
        models.push_back({{"name", "org/model-" + std::to_string(i)}, {"var_name", "m" + std::to_string(i)}});
    page.draft().set(
        Json{{"python_packages", packages}, {"models", models}, {"env", {{"A", "1"}, {"B", "2"}}}});
    QApplication::processEvents();
    auto* line = page.form()->form()->row("memory")->field()->findChild<QLineEdit*>();
    std::vector<double> cost;
    for (int i = 0; i < keystrokes; ++i) {
        const auto digit = QString::number(i % 10);
        QKeyEvent press(QEvent::KeyPress, Qt::Key_0 + i % 10, Qt::NoModifier, digit);
        const double before = threadCpuMs();
        QApplication::sendEvent(line, &press);
        QApplication::processEvents();
        cost.push_back(threadCpuMs() - before);
        if (i % 6 == 5)
            line->clear();
    }
    return cost;
}

std::vector<double> fillLog()
{
    LogView view;
    view.resize(900, 600);
    view.show();
    std::string lines;
    for (int i = 0; i < linesPerUpdate; ++i)
        lines += "2026-01-31 12:00:00 \x1b[32mINFO\x1b[0m unpacking layer " + std::to_string(i)
            + " of many, 12.5 MB/s\n";
    std::vector<double> cost;
    for (int i = 0; i < logUpdates; ++i) {
        const double before = threadCpuMs();
        view.append(lines);
        QApplication::processEvents();
        view.canvas()->viewport()->repaint();
        cost.push_back(threadCpuMs() - before);
    }
    return cost;
}

Json figure(double value, double goal, double most)
{
    return {{"value", value}, {"unit", "ms"}, {"goal", goal}, {"met", value <= goal}, {"worst", most}};
}

} // namespace

int main(int argc, char** argv)
{
    qputenv("QT_QPA_PLATFORM", "offscreen");
    QApplication application(argc, argv);
    const test::TemporaryFolder folder;
    setRememberedFile(QString::fromStdString((folder.path() / "window.ini").string()));
    Theme::instance().apply({Scheme::Light});
    test::FakeDaemon daemon(folder.path());
    daemon.on("sandboxes.capabilities", Json{{"providers", Json::array()}});
    daemon.on("sandboxes.plan", Json{{"steps", Json::array()}});
    api::Client client({folder.path(), "window", false, true, {}});
    client.open();
    QElapsedTimer patience;
    patience.start();
    while (client.state() != api::Client::State::Connected && patience.elapsed() < 10'000)
        QApplication::processEvents(QEventLoop::WaitForMoreEvents, 100);

    std::vector<double> opened;
    for (int i = 0; i < formRounds; ++i)
        opened.push_back(openForm(client));
    const auto typed = typeInForm(client);
    const auto logged = fillLog();
    const Json figures = {{"form_open_ms", figure(median(opened), openGoalMs, worst(opened))},
        {"keystroke_cpu_ms", figure(median(typed), updateGoalMs, worst(typed))},
        {"log_update_ms", figure(median(logged), updateGoalMs, worst(logged))}};
    if (QApplication::arguments().contains(QStringLiteral("--json"))) {
        std::puts(Json{{"bench", "forms"}, {"figures", figures}}.dump().c_str());
        return 0;
    }
    for (const auto& [name, value] : figures.items())
        std::printf("%s: %.1f ms, worst %.1f ms (goal ≤ %.0f)\n", name.c_str(), numberOr(value, "value"),
            numberOr(value, "worst"), numberOr(value, "goal"));
    return 0;
}
