// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

#include "serve.h"

#include <cstdlib>

#include <QProcess>
#include <QStandardPaths>

#include <backend/base/ids.h>
#include <backend/base/paths.h>

namespace gb::cli {
namespace {

Result<Json> modelsFrom(const std::vector<std::string>& words)
{
    Json models = Json::array();
    for (const std::string& word : words) {
        const auto equals = word.find('=');
        if (equals == std::string::npos || equals == 0)
            return fail("usage", "--model takes ID=FOLDER, not \"" + word + "\"");
        const fs::path folder = fs::absolute(word.substr(equals + 1)).lexically_normal();
        if (!fs::is_directory(folder))
            return fail("serve.model", "the model folder " + folder.string() + " does not exist");
        models.push_back({{"id", word.substr(0, equals)}, {"path", folder.string()}});
    }
    return models;
}

Result<Json> environmentFrom(const std::vector<std::string>& names)
{
    Json environment = Json::object();
    for (const std::string& name : names) {
        if (name.find('=') != std::string::npos)
            return fail(
                "usage", "--env takes the name of a variable; its value is read from your environment");
        const char* value = std::getenv(name.c_str());
        if (!value)
            return fail("serve.env", "the variable " + name + " is not set here");
        environment[name] = value;
    }
    return environment;
}

} // namespace

Result<std::string> choosePython(const std::string& wanted)
{
    std::vector<QString> candidates;
    if (!wanted.empty()) {
        candidates.push_back(QString::fromStdString(wanted));
    } else {
        if (const char* environment = std::getenv("VIRTUAL_ENV"))
            candidates.push_back(QString::fromLocal8Bit(environment) + QStringLiteral("/bin/python3"));
        candidates.push_back(QStringLiteral("python3"));
    }
    for (const QString& candidate : candidates) {
        const QString found = QStandardPaths::findExecutable(candidate);
        if (!found.isEmpty())
            return found.toStdString();
    }
    return fail("serve.python",
        wanted.empty() ? "no python3 was found on PATH; name one with --python"
                       : "there is no Python at " + wanted);
}

Result<std::string> chooseInterpreter(const std::string& wanted)
{
    constexpr int patienceMs = 20'000;
    const auto python = choosePython(wanted);
    if (!python)
        return python;
    QProcess process;
    process.start(QString::fromStdString(*python),
        {QStringLiteral("-c"), QStringLiteral("import sys; print(sys.executable)")});
    const bool ended = process.waitForFinished(patienceMs) && process.exitStatus() == QProcess::NormalExit;
    std::string path = process.readAllStandardOutput().toStdString();
    path.erase(path.find_last_not_of(" \r\n") + 1);
    if (ended && process.exitCode() == 0 && path.starts_with('/'))
        return path;
    const std::string said = process.readAllStandardError().toStdString();
    return fail("serve.python",
        *python
            + " does not run as a Python: " + (said.empty() ? process.errorString().toStdString() : said));
}

Result<Json> hostConfiguration(const Arguments& arguments)
{
    if (arguments.positional().size() != 1)
        return fail("usage", "give one interface file");
    const fs::path file = fs::absolute(arguments.positional().front()).lexically_normal();
    if (!fs::is_regular_file(file))
        return fail("serve.file", "there is no file " + file.string());
    const auto python = choosePython(arguments.value("--python"));
    if (!python)
        return fail(python.error());
    auto models = modelsFrom(arguments.values("--model"));
    if (!models)
        return fail(models.error());
    auto environment = environmentFrom(arguments.values("--env"));
    if (!environment)
        return fail(environment.error());
    const auto port = arguments.integer("--port", 0);
    if (!port)
        return fail(port.error());
    Json config{{"id", newId()}, {"run", newId()}, {"name", arguments.value("--name", file.stem().string())},
        {"interface", file.string()}, {"python", *python},
        {"worker_package", (shareFolder() / "worker/glovebox_worker").string()},
        {"data_folder", dataFolder().string()}, {"port", *port}, {"compat", arguments.has("--compat")},
        {"watch", arguments.has("--watch")}, {"models", std::move(*models)},
        {"env", std::move(*environment)}};
    if (arguments.has("--socket"))
        config["socket"] = fs::absolute(arguments.value("--socket")).lexically_normal().string();
    return config;
}

} // namespace gb::cli
