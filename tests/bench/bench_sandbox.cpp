// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

// ./run bench sandbox: what isolation costs, with the machine's own Python so that no image has to be built.

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <map>

#include <unistd.h>

#include <backend/base/clock.h>
#include <backend/base/ids.h>
#include <backend/base/paths.h>
#include <backend/sandbox/local/localsandbox.h>
#include <tests/support/temporary.h>

using namespace gb;

namespace {

constexpr int startRounds = 11;
constexpr int execRounds = 200;
constexpr int fleet = 20;
constexpr std::int64_t copied = 1L << 30;

double ms(std::int64_t fromNs)
{
    return static_cast<double>(monotonicNs() - fromNs) / 1e6;
}

double median(std::vector<double> values)
{
    std::ranges::sort(values);
    return values.empty() ? 0 : values[values.size() / 2];
}

[[noreturn]] void giveUp(const Error& error)
{
    std::fprintf(stderr, "%s: %s\n", error.code.c_str(), error.message.c_str());
    std::exit(1);
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

// Against cp of the same file to the same disk, right before.
double copyIn(const LocalSandbox& sandbox, const fs::path& folder)
{
    const fs::path file = folder / "gigabyte";
    const std::string make = "head -c " + std::to_string(copied) + " /dev/zero > " + file.string();
    const std::string copy = "cp --reflink=never " + file.string() + " " + (folder / "copy").string();
    if (std::system(make.c_str()) != 0)
        giveUp({"bench", "cannot write the test file", {}});
    auto begin = monotonicNs();
    if (std::system(copy.c_str()) != 0)
        giveUp({"bench", "cannot copy the test file", {}});
    const double plain = ms(begin);
    begin = monotonicNs();
    if (auto put = sandbox.init().putFile(file, "/workspace/gigabyte"); !put)
        giveUp(put.error());
    return ms(begin) / plain;
}

} // namespace

int main(int argc, char** argv)
{
    const bool json = argc > 1 && std::string_view(argv[1]) == "--json";
    const test::TemporaryFolder folder;
    const ImageStore images(folder.path() / "sandboxes", LaunchTools::besideThisProgram());
    const auto [warm, isolation] = starts(images);
    Json figures{{"isolation_ms", isolation}, {"engine_start_ms", warm}, {"twenty_s", twenty(images)}};
    {
        auto sandbox = start(images);
        figures["exec_ms"] = execs(*sandbox);
        figures["copy_in_ratio"] = copyIn(*sandbox, folder.path());
        (void)sandbox->remove();
    }
    (void)runMapped(images.storeFolder(), {"sh", "-c", "chmod -R u+rwX . ; rm -rf ./*"}, images.tools());
    if (json) {
        const std::map<std::string, double> goals{
            {"isolation_ms", 25}, {"exec_ms", 3}, {"twenty_s", 5}, {"copy_in_ratio", 1.3}};
        Json shown = Json::object();
        for (const auto& [name, value] : figures.items()) {
            const auto goal = goals.find(name);
            const bool judged = goal != goals.end();
            const std::string unit = name.ends_with("_ms") ? "ms" : name.ends_with("_s") ? "s" : "×";
            shown[name] =
                Json{{"value", value}, {"unit", unit}, {"goal", judged ? Json(goal->second) : Json()},
                    {"met", !judged || value.get<double>() <= goal->second}, {"baseline", nullptr}};
        }
        std::printf("%s\n", Json{{"bench", "sandbox"}, {"figures", shown}}.dump().c_str());
    } else
        for (const auto& [name, value] : figures.items())
            std::printf("%-18s %8.2f\n", name.c_str(), value.get<double>());
    return 0;
}
