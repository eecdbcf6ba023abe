// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

#include <backend/models/modeldownloads.h>
#include <backend/secrets/secretstore.h>

#include "dispatcher.h"
#include "services.h"

namespace gb::service {
namespace {

struct SettingParams
{
    std::string key;
    static auto fields() { return std::tuple(field("key", &SettingParams::key)); }
};

struct SetSettingParams
{
    std::string key;
    Json value;
    static auto fields()
    {
        return std::tuple(field("key", &SetSettingParams::key), field("value", &SetSettingParams::value));
    }
};

} // namespace

void bindSettingsMethods(Dispatcher* dispatcher, const Services& services)
{
    Binder& binder = dispatcher->binder();
    Settings* settings = services.settings;
    ModelDownloads* models = services.models;
    binder.bind<NoParams>("settings.list", [settings](NoParams) -> Result<Json> {
        return Json{{"settings", settings->list()}};
    });
    binder.bind<SettingParams>(
        "settings.get", [settings](const SettingParams& params) { return settings->describe(params.key); });
    binder.bind<SetSettingParams>("settings.set",
        [settings, models, secrets = services.secrets](const SetSettingParams& params) -> Result<Json> {
            GB_TRY(settings->set(params.key, params.value));
            // Who makes room for a video call does not want to start the daemon again.
            if (params.key == "models.bytes_per_second")
                models->setRate(settings->integer(params.key));
            if (params.key == "secrets.key_store")
                secrets->useKeyStore(settings->boolean(params.key));
            return settings->describe(params.key);
        });
}

} // namespace gb::service
