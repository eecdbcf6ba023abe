// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

// ./run bench sandbox [--torch]: what isolation, sandboxes through the daemon and layers of packages cost.
// Where no base image can be made (no mmdebstrap, no network), what needs layers is not measured and the
// machine's own Python stands for them. With --torch also PyTorch as a layer, which takes a minute the first
// time.

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <optional>

#include <unistd.h>

#include <QCoreApplication>

#include <backend/base/clock.h>
#include <backend/base/ids.h>
#include <backend/base/paths.h>
#include <backend/sandbox/local/localsandbox.h>
#include <tests/support/temporary.h>

#include "sandboxdaemon.h"

using namespace gb;
using bench::giveUp;
using bench::median;

namespace {

constexpr int startRounds = 11;
constexpr int execRounds = 200;
constexpr int fleet = 20;
constexpr std::int64_t copied = 1L << 30;

double ms(std::int64_t fromNs)
{
    return bench::msSince(fromNs);
}

StartRequest request()
{
    StartRequest out;
    out.id = newId();
    out.spec.interpreter = "/usr/bin/python3";
    return out;
}

std::unique_ptr<LocalSandbox> start(const ImageStore& images)
{
    auto sandbox = LocalSandbox::start(images, request(), {});
    if (!sandbox)
        giveUp(sandbox.error());
    return std::move(*sandbox);
}

void runTrue(const LocalSandbox& sandbox)
{
    if (const auto record = sandbox.init().run(sandbox.command({"/bin/true"})); !record || record->code != 0)
        giveUp(record ? Error{"bench", "true failed", {}} : record.error());
}

// From nothing to the end of the first command; and only until init answers.
std::pair<double, double> starts(const ImageStore& images)
{
    std::vector<double> warm;
    for (int i = 0; i < startRounds; ++i) {
        const auto begin = monotonicNs();
        const auto sandbox = start(images);
        runTrue(*sandbox);
        warm.push_back(ms(begin));
    }
    LaunchSpec bare;
    bare.store = images.storeFolder();
    bare.binds = {{"/usr", "/usr"}};
    bare.tmpfs = {{"/run", 1 << 20, 0755}};
    std::vector<double> isolation;
    for (int i = 0; i < startRounds; ++i) {
        const auto begin = monotonicNs();
        const auto sandbox = launchSandbox(bare, images.tools());
        if (!sandbox)
            giveUp(sandbox.error());
        isolation.push_back(ms(begin));
    }
    return {median(warm), median(isolation)};
}

double execs(const LocalSandbox& sandbox)
{
    std::vector<double> times;
    for (int i = 0; i < execRounds; ++i) {
        const auto begin = monotonicNs();
        runTrue(sandbox);
        times.push_back(ms(begin));
    }
    return median(times);
}

double twenty(const ImageStore& images)
{
    const auto begin = monotonicNs();
    std::vector<std::unique_ptr<LocalSandbox>> sandboxes;
    for (int i = 0; i < fleet; ++i) {
        sandboxes.push_back(start(images));
        runTrue(*sandboxes.back());
    }
    return ms(begin) / 1e3;
}

void mustRun(const std::string& command)
{
    if (std::system(command.c_str()) != 0)
        giveUp({"bench", command + " failed", {}});
}

// Against cp of the same file to the same disk, in turns, neither with the other's bytes still to be written.
double copyIn(const LocalSandbox& sandbox, const fs::path& folder)
{
    constexpr int rounds = 3;
    const std::string file = (folder / "gigabyte").string();
    const std::string copy = (folder / "copy").string();
    mustRun("head -c " + std::to_string(copied) + " /dev/zero > " + file);
    std::vector<double> ratios;
    for (int i = 0; i < rounds; ++i) {
        mustRun("rm -f " + copy);
        ::sync();
        auto begin = monotonicNs();
        mustRun("cp --reflink=never " + file + " " + copy);
        const double plain = ms(begin);
        (void)sandbox.init().run(sandbox.command({"rm", "-f", "/workspace/gigabyte"}));
        ::sync();
        begin = monotonicNs();
        if (auto put = sandbox.init().putFile(file, "/workspace/gigabyte"); !put)
            giveUp(put.error());
        ratios.push_back(ms(begin) / plain);
    }
    return median(ratios);
}

std::map<std::string, std::string> ownEnvironment()
{
    std::map<std::string, std::string> out;
    for (char** entry = environ; *entry; ++entry) {
        const std::string text = *entry;
        out[text.substr(0, text.find('='))] = text.substr(text.find('=') + 1);
    }
    return out;
}

// Made images, with the base of the tests where one lies: a base depends on nothing of ours.
class Layers
{
public:
    explicit Layers(const ImageStore& images)
        : m_images(images), m_settings(readBuildSettings(ownEnvironment()))
    {
        for (const fs::path& place : {programFolder() / "..", programFolder() / ".." / ".." / "dev"}) {
            std::error_code error;
            if (fs::copy_file(
                    place / "sandbox-base" / "bookworm.tar", images.storeFolder() / "shared-base.tar", error))
                m_settings.baseArchive = "shared-base.tar";
        }
    }

    // Seconds; nothing where it cannot be had.
    std::optional<double> build(const std::vector<std::string>& packages) const
    {
        SandboxSpec spec;
        spec.pythonPackages = packages;
        const auto plan = m_images.plan(spec);
        const auto begin = monotonicNs();
        const Status built = plan ? m_images.build(*plan, m_settings, {}) : Status(fail(plan.error()));
        if (!built) {
            std::fprintf(stderr, "not measured: %s\n", built.error().message.substr(0, 400).c_str());
            return std::nullopt;
        }
        constexpr double msPerSecond = 1e3;
        return ms(begin) / msPerSecond;
    }

private:
    const ImageStore& m_images;
    BuildSettings m_settings;
};

// What needs an image, and the spec that starts show.
Json measureLayers(const ImageStore& images, bool isWithTorch, Json& figures)
{
    Json spec{{"interpreter", "/usr/bin/python3"}};
    figures["repackage_s"] = nullptr;
    figures["torch_layer_s"] = nullptr;
    const Layers layers(images);
    // The second list is new, its packages are not.
    if (!layers.build({"numpy", "requests"}) || !layers.build({"six"}))
        return spec;
    if (const auto again = layers.build({"numpy", "requests", "six"})) {
        figures["repackage_s"] = *again;
        spec = Json{{"python_packages", {"numpy", "requests", "six"}}};
    }
    if (const auto first = isWithTorch ? layers.build({"torch"}) : std::nullopt) {
        figures["torch_first_s"] = *first;
        if (const auto second = layers.build({"torch", "six"}))
            figures["torch_layer_s"] = *second;
    }
    return spec;
}

void measureDaemon(const fs::path& data, const Json& spec, Json& figures)
{
    bench::SandboxDaemon daemon(data);
    figures["warm_start_ms"] = daemon.startMs(spec);
    figures["exec_ms"] = daemon.execMs(spec, execRounds);
}

void print(const Json& figures, bool isJson)
{
    static const std::map<std::string, double> goals{{"warm_start_ms", 150}, {"isolation_ms", 25},
        {"exec_ms", 3}, {"repackage_s", 5}, {"torch_layer_s", 3}, {"twenty_s", 5}, {"copy_in_ratio", 1.3}};
    Json shown = Json::object();
    for (const auto& [name, value] : figures.items()) {
        const auto goal = goals.find(name);
        const bool isJudged = goal != goals.end() && value.is_number();
        const std::string unit = name.ends_with("_ms") ? "ms" : name.ends_with("_s") ? "s" : "×";
        shown[name] = Json{{"value", value}, {"unit", unit},
            {"goal", goal != goals.end() ? Json(goal->second) : Json()},
            {"met", isJudged ? Json(value.get<double>() <= goal->second) : Json()}, {"baseline", nullptr}};
        if (!isJson)
            std::printf("%-18s %s\n", name.c_str(),
                value.is_number() ? (std::to_string(value.get<double>()) + " " + unit
                    + (!isJudged                                  ? ""
                            : value.get<double>() <= goal->second ? "  met"
                                                                  : "  MISSED"))
                                        .c_str()
                                  : "not measured");
    }
    if (isJson)
        std::printf("%s\n", Json{{"bench", "sandbox"}, {"figures", shown}}.dump().c_str());
}

} // namespace

int main(int argc, char** argv)
{
    const QCoreApplication application(argc, argv);
    const QStringList words = QCoreApplication::arguments();
    const test::TemporaryFolder folder;
    const ImageStore images(folder.path() / "data" / "images", LaunchTools::besideThisProgram());
    if (auto made = ensurePrivateDir(folder.path() / "data"); !made)
        giveUp(made.error());
    const auto [engineStart, isolation] = starts(images);
    Json figures{{"isolation_ms", isolation}, {"engine_start_ms", engineStart}, {"twenty_s", twenty(images)}};
    {
        auto sandbox = start(images);
        figures["engine_exec_ms"] = execs(*sandbox);
        figures["copy_in_ratio"] = copyIn(*sandbox, folder.path());
        (void)sandbox->remove();
    }
    const Json spec = measureLayers(images, words.contains(QStringLiteral("--torch")), figures);
    measureDaemon(folder.path() / "data", spec, figures);
    (void)runMapped(images.storeFolder(), {"sh", "-c", "chmod -R u+rwX . ; rm -rf ./*"}, images.tools());
    print(figures, words.contains(QStringLiteral("--json")));
    return 0;
}
