// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

// What an update of the Models page costs the GUI thread while 200 files come: CPU time of reading the
// change, merging it and painting. Prints {"gui_update_p50_ms", "gui_update_p99_ms"}; bench_downloads.py runs
// it.

#include <algorithm>
#include <cstdio>
#include <ctime>

#include <QApplication>
#include <QTreeView>

#include <widgets/controls/theme.h>
#include <widgets/pages/models/modelsitemmodel.h>
#include <widgets/pages/models/modelspage.h>

using namespace gb;

namespace {

constexpr int costFiles = 200;
constexpr int costUpdates = 500;

// As the state topic has it: 20 models of ten files, every number of which changes from step to step.
std::string itemsText(int step)
{
    Json items = Json::object();
    for (int i = 0; i < costFiles / 10; ++i) {
        const auto id = "d" + std::to_string(1000 + i);
        Json files = Json::array();
        for (int file = 0; file < 10; ++file)
            files.push_back({{"path", "model-0000" + std::to_string(file) + "-of-00010.safetensors"},
                {"size", 1'000'000}, {"done", step * 1000 + file}, {"state", "downloading"}});
        items[id] = Json{{"id", id}, {"repo", "org/model-" + std::to_string(i)}, {"revision", "main"},
            {"state", "downloading"}, {"since", 1}, {"added_at", 1000 - i}, {"done", step * 10'000 + i},
            {"total", 10'000'000}, {"rate", 1e6 + step}, {"remaining_s", 10.0},
            {"parts",
                Json::array({{{"role", "model"}, {"repo", "org/model"}, {"files", std::move(files)}}})}};
    }
    return items.dump();
}

double threadMs()
{
    timespec now{};
    ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return static_cast<double>(now.tv_sec) * 1e3 + static_cast<double>(now.tv_nsec) * 1e-6;
}

} // namespace

int main(int argc, char** argv)
{
    qputenv("QT_QPA_PLATFORM", "offscreen");
    const QApplication application(argc, argv);
    ui::Theme::instance().apply({});
    api::Client client({{}, "window", false, false, {}}); // never opened: the updates come from here
    ui::ModelsPage page(client);
    page.resize(1900, 1150);
    page.show();
    page.model()->setDownloads(*parseJson(itemsText(0)));
    page.view()->expandAll();
    page.view()->setCurrentIndex(page.model()->index(0, 0));
    QApplication::processEvents();
    std::vector<double> costs;
    for (int step = 1; step <= costUpdates; ++step) {
        const auto text = itemsText(step);
        const double before = threadMs();
        page.model()->setDownloads(*parseJson(text));
        QApplication::processEvents();
        costs.push_back(threadMs() - before);
    }
    std::ranges::sort(costs);
    std::printf("{\"gui_update_p50_ms\": %.2f, \"gui_update_p99_ms\": %.2f}\n", costs[costUpdates / 2],
        costs[costUpdates * 99 / 100]);
    return 0;
}
