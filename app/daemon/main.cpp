// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

#include <unistd.h>

#include <QCommandLineParser>
#include <QCoreApplication>

#include <backend/api/daemonstart.h>
#include <backend/base/log.h>
#include <backend/base/paths.h>
#include <backend/base/version.h>
#include <backend/sandbox/local/localprovider.h>
#include <backend/service/daemon.h>
#include <backend/service/hubmodelsource.h>
#include <backend/service/process.h>

using namespace gb;

namespace {

int failed(const Error& error)
{
    logError("daemon", error.message, Json{{"code", error.code}});
    return 1;
}

service::SandboxProviders sandboxProviders(const fs::path& data, std::shared_ptr<ModelSource> models)
{
    LocalProvider::Options local{data, programFolder() / "glovebox-host", LaunchTools::besideThisProgram(),
        shareFolder() / "worker/glovebox_worker", std::move(models)};
    return {std::make_shared<LocalProvider>(std::move(local))};
}

int serve(QCoreApplication& application, const fs::path& data)
{
    const auto lock = service::DataFolderLock::take(data);
    if (!lock)
        return failed(lock.error());
    if (!lock->isHeld())
        return 0; // another one serves this folder, or is about to
    if (const Status opened = service::logHere(data / "daemon.log"); !opened)
        return failed(opened.error());
    service::SignalWatch signals; // before there are other threads
    service::DaemonOptions options;
    options.dataFolder = data;
    options.build = api::buildId(programFolder() / "gloveboxd");
    options.modelSource = std::make_shared<service::HubModelSource>();
    options.sandboxProviders = sandboxProviders(data, options.modelSource);
    options.idleExitMs = qEnvironmentVariableIntValue("GLOVEBOX_IDLE_EXIT_MS");
    auto daemon = service::Daemon::create(std::move(options));
    if (!daemon)
        return failed(daemon.error());
    QObject::connect(&signals, &service::SignalWatch::asked, daemon->get(), &service::Daemon::stop);
    QObject::connect(daemon->get(), &service::Daemon::finished, &application, &QCoreApplication::quit);
    logInfo("daemon", "serving", Json{{"data_folder", data.string()}, {"pid", ::getpid()}});
    const int result = QCoreApplication::exec();
    daemon->reset();
    logInfo("daemon", "ended");
    return result;
}

} // namespace

int main(int argc, char** argv)
{
    service::cleanEnvironment();
    QCoreApplication application(argc, argv);
    QCoreApplication::setApplicationVersion(QString::fromLatin1(version()));
    QCommandLineParser parser;
    parser.addHelpOption();
    parser.addVersionOption();
    const QCommandLineOption folder(QStringLiteral("data-folder"), QStringLiteral("Folder to serve."),
        QStringLiteral("path"), QString::fromStdString(dataFolder().string()));
    parser.addOption(folder);
    parser.process(application);
    return serve(application, fs::absolute(parser.value(folder).toStdString()).lexically_normal());
}
