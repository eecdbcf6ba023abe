// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0
//
// What tests and benchmarks need in a process of its own: a download that can be killed or measured, a hub
// for clients written in other languages, a look at a cache.

#include <cstdio>
#include <functional>
#include <iostream>
#include <map>

#include <sys/resource.h>

#include <backend/base/clock.h>
#include <backend/base/json.h>
#include <backend/hub/cachescan.h>
#include <backend/hub/fetch.h>
#include <tests/support/hubserver/hubanswer.h>

using namespace gb;

namespace {

using Arguments = std::vector<std::string>;

int report(const Error& error)
{
    std::cout << error.toJson().dump() << std::endl;
    return 1;
}

hub::HubSettings settingsFor(const std::string& cache)
{
    auto settings = hub::HubSettings::fromEnvironment([](const char* name) {
        const char* value = std::getenv(name);
        return std::string(value ? value : "");
    });
    settings.cache = cache;
    settings.offline = false;
    return settings;
}

// plan CACHE MODEL: what a fetch would bring.
int plan(const Arguments& arguments)
{
    const hub::HubSettings settings = settingsFor(arguments.at(0));
    transfer::Downloader downloader(settings.network);
    const auto name = hub::ModelName::parse(arguments.at(1));
    if (!name)
        return report(name.error());
    const auto plan = hub::makePlan(hub::HubClient(downloader, settings), *name, {});
    if (!plan)
        return report(plan.error());
    std::cout << Json{{"files", plan->files.size()}, {"bytes", plan->bytes}}.dump() << std::endl;
    return 0;
}

// fetch CACHE MODEL [pattern…]: HF_ENDPOINT and HF_TOKEN say from where.
int fetch(const Arguments& arguments)
{
    const hub::HubSettings settings = settingsFor(arguments.at(0));
    transfer::Downloader downloader(settings.network);
    const hub::HubClient client(downloader, settings);
    const auto name = hub::ModelName::parse(arguments.at(1));
    if (!name)
        return report(name.error());
    const std::int64_t started = monotonicNs();
    const auto plan = hub::makePlan(client, *name, {.include = {arguments.begin() + 2, arguments.end()}});
    if (!plan)
        return report(plan.error());
    const std::int64_t planned = monotonicNs();
    std::int64_t lastByte = 0;
    hub::FetchOptions options;
    options.keepFree = 0;
    const auto fetched = hub::fetchSnapshot(downloader, client, *plan, options,
        [&](const hub::FetchProgress& progress) { lastByte = std::max(lastByte, progress.lastByteNs); }, {});
    if (!fetched)
        return report(fetched.error());
    const std::int64_t ended = monotonicNs();
    rusage used{};
    ::getrusage(RUSAGE_SELF, &used);
    std::cout << Json{{"snapshot", fetched->snapshot.string()}, {"plan_s", (planned - started) * 1e-9},
        {"total_s", (ended - started) * 1e-9}, {"tail_s", lastByte == 0 ? 0 : (ended - lastByte) * 1e-9},
        {"found", fetched->found}, {"fetched", fetched->fetched}, {"peak_kb", used.ru_maxrss}}
                     .dump()
              << std::endl;
    return 0;
}

int scan(const Arguments& arguments)
{
    const hub::HubCache cache(arguments.at(0));
    const auto models = hub::scanCache(cache);
    if (!models)
        return report(models.error());
    Json list = Json::array();
    for (const hub::CachedModel& model : *models) {
        Json item = model.toJson();
        for (std::size_t i = 0; i < model.revisions.size(); ++i) {
            const auto proof = hub::verifyModel(cache, model.repo, model.revisions[i].commit, {}, {});
            item["revisions"][i]["bad"] = proof ? Json(proof->bad) : Json(proof.error().code);
        }
        list.push_back(std::move(item));
    }
    std::cout << list.dump() << std::endl;
    return 0;
}

void addFiles(test::HubRepo& repo, const fs::path& folder)
{
    for (const auto& entry : fs::recursive_directory_iterator(folder)) {
        if (!entry.is_regular_file())
            continue;
        const std::string path = entry.path().lexically_relative(folder).generic_string();
        const auto bytes = readFile(entry.path(), 4ULL << 30U);
        if (!bytes)
            std::abort();
        repo.files[path] = {
            .content = *bytes, .lfs = path.ends_with(".safetensors") || bytes->size() > (1U << 20U)};
    }
}

// serve MODEL [--folder DIR] [--make PATH BYTES] [--claim PATH BYTES] [--gated] [--model NAME …] [--rate
// BYTES]: makes content of that size, or only lists it under a false hash; --model begins another one. Prints
// its address; every line on standard input is answered with the figures so far; ends with standard input.
int serve(const Arguments& arguments)
{
    test::HubServer files;
    test::HubServer hub;
    hub.setToken("secret");
    test::HubRepo& first = hub.addRepo(arguments.at(0));
    test::HubRepo* current = &first;
    Json names = Json::object();
    for (std::size_t i = 1; i < arguments.size(); ++i) {
        test::HubRepo& repo = *current;
        if (arguments[i] == "--folder")
            addFiles(repo, arguments.at(++i));
        else if (arguments[i] == "--model")
            current = &hub.addRepo(arguments.at(++i));
        else if (arguments[i] == "--gated")
            repo.gated = "manual";
        else if (arguments[i] == "--rate")
            files.setBytesPerSecond(std::stoll(arguments.at(++i)));
        else if (arguments[i] == "--make") {
            const std::string path = arguments.at(++i);
            repo.files[path] = {.content = {}, .generated = std::stoull(arguments.at(++i)), .lfs = true};
        } else if (arguments[i] == "--claim") {
            const std::string path = arguments.at(++i);
            repo.files[path] = {.content = {},
                .generated = std::stoull(arguments.at(++i)),
                .lfs = true,
                .digest = test::sha256Of(path)};
        }
    }
    hub.setLfsHost(&files);
    for (const auto& [path, file] : first.files)
        names[path] = file.lfs ? files.url() + "/lfs/" + file.sha256() : file.blobId();
    std::cout << Json{{"url", hub.url()}, {"commit", first.commit}, {"files", names}}.dump() << std::endl;
    for (std::string line; std::getline(std::cin, line);) {
        std::int64_t leaked = 0;
        for (const auto& request : files.requests())
            leaked += request.header("authorization").empty() ? 0 : 1;
        std::cout << Json{{"sent", files.sentBytes() + hub.sentBytes()}, {"leaked", leaked},
            {"requests", files.requests().size() + hub.requests().size()}}
                         .dump()
                  << std::endl;
    }
    return 0;
}

} // namespace

int main(int argc, char** argv)
{
    const std::map<std::string, std::function<int(const Arguments&)>> commands{
        {"fetch", fetch}, {"plan", plan}, {"scan", scan}, {"serve", serve}};
    const auto command = commands.find(argc > 2 ? argv[1] : "");
    if (command == commands.end()) {
        std::cerr << "usage: gb_hubtool fetch CACHE MODEL [PATTERN…] | plan CACHE MODEL | scan CACHE | serve "
                     "MODEL …\n";
        return 2;
    }
    return command->second(Arguments(argv + 2, argv + argc));
}
