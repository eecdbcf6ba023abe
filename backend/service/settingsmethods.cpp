// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

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
    binder.bind<NoParams>("settings.list", [settings](NoParams) -> Result<Json> {
        return Json{{"settings", settings->list()}};
    });
    binder.bind<SettingParams>(
        "settings.get", [settings](const SettingParams& params) { return settings->describe(params.key); });
    binder.bind<SetSettingParams>("settings.set", [settings](const SetSettingParams& params) -> Result<Json> {
        GB_TRY(settings->set(params.key, params.value));
        return settings->describe(params.key);
    });
}

} // namespace gb::service
