// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <backend/base/files.h>
#include <backend/settings/settings.h>
#include <backend/store/store.h>

namespace gb {
class ModelDownloads;
class SecretStore;
} // namespace gb

namespace gb::service {

class Daemon;
class Dispatcher;
class EventFeeds;
class ExperimentWatch;
class Interfaces;
class JobList;
class Sandboxes;
class StateHub;

// What handlers work with. Everything here lives as long as the daemon.
struct Services
{
    Daemon* daemon = nullptr;
    Store* store = nullptr;
    Settings* settings = nullptr;
    StateHub* state = nullptr;
    EventFeeds* feeds = nullptr;
    JobList* jobs = nullptr;
    Interfaces* interfaces = nullptr;
    ModelDownloads* models = nullptr;
    SecretStore* secrets = nullptr;
    Sandboxes* sandboxes = nullptr;
    ExperimentWatch* experiments = nullptr;
    fs::path dataFolder;
};

// Each topic of the method table has a file.
void bindDaemonMethods(Dispatcher* dispatcher, const Services& services);
void bindStateMethods(Dispatcher* dispatcher, const Services& services);
void bindEventMethods(Dispatcher* dispatcher, const Services& services);
void bindJobMethods(Dispatcher* dispatcher, const Services& services);
void bindSettingsMethods(Dispatcher* dispatcher, const Services& services);
void bindSecretMethods(Dispatcher* dispatcher, const Services& services);
void bindInterfaceMethods(Dispatcher* dispatcher, const Services& services);
void bindExposeMethods(Dispatcher* dispatcher, const Services& services);
void bindCallMethods(Dispatcher* dispatcher, const Services& services);
void bindRunMethods(Dispatcher* dispatcher, const Services& services);
void bindExperimentMethods(Dispatcher* dispatcher, const Services& services);
void bindPresetMethods(Dispatcher* dispatcher, const Services& services);
void bindDiagnosticsMethods(Dispatcher* dispatcher, const Services& services);
void bindModelMethods(Dispatcher* dispatcher, const Services& services);
void bindSandboxMethods(Dispatcher* dispatcher, const Services& services);
void bindSandboxInsideMethods(Dispatcher* dispatcher, const Services& services);
void bindDoctorMethods(Dispatcher* dispatcher, const Services& services);

} // namespace gb::service
