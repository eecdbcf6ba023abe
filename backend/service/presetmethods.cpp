// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

#include <backend/experiments/presets.h>

#include "dispatcher.h"
#include "interfaces.h"
#include "services.h"

namespace gb::service {
namespace {

struct ListPresetsParams
{
    std::string interface;
    std::string fn;
    static auto fields()
    {
        return std::tuple(
            field("interface", &ListPresetsParams::interface), field("fn", &ListPresetsParams::fn));
    }
};

struct SavePresetParams
{
    std::string interface;
    std::string fn;
    std::string name;
    JsonObject arguments;
    std::optional<bool> replace;
    static auto fields()
    {
        return std::tuple(field("interface", &SavePresetParams::interface),
            field("fn", &SavePresetParams::fn), field("name", &SavePresetParams::name),
            field("arguments", &SavePresetParams::arguments), field("replace", &SavePresetParams::replace));
    }
};

struct RenamePresetParams
{
    std::string interface;
    std::string fn;
    std::string name;
    std::string to;
    static auto fields()
    {
        return std::tuple(field("interface", &RenamePresetParams::interface),
            field("fn", &RenamePresetParams::fn), field("name", &RenamePresetParams::name),
            field("to", &RenamePresetParams::to));
    }
};

struct RemovePresetParams
{
    std::string interface;
    std::string fn;
    std::string name;
    static auto fields()
    {
        return std::tuple(field("interface", &RemovePresetParams::interface),
            field("fn", &RemovePresetParams::fn), field("name", &RemovePresetParams::name));
    }
};

// Beside the interface file: in an experiment that is its folder.
Result<Presets> presetsOf(const Interfaces* interfaces, const std::string& interface)
{
    const auto item = interfaces->find(interface);
    if (!item)
        return fail(item.error());
    return Presets(fs::path(stringOr(*item, "source")).parent_path());
}

Result<Json> emptyOr(const Status& done)
{
    return done ? Result<Json>(Json::object()) : fail(done.error());
}

} // namespace

void bindPresetMethods(Dispatcher* dispatcher, const Services& services)
{
    Binder& binder = dispatcher->binder();
    const Interfaces* interfaces = services.interfaces;
    binder.bind<ListPresetsParams>(
        "presets.list", [interfaces](const ListPresetsParams& params) -> Result<Json> {
            const auto presets = presetsOf(interfaces, params.interface);
            auto all = presets ? presets->list(params.fn) : Result<Json>(fail(presets.error()));
            if (!all)
                return all;
            return Json{{"presets", std::move(*all)}};
        });
    binder.bind<SavePresetParams>(
        "presets.save", [interfaces](const SavePresetParams& params) -> Result<Json> {
            const auto presets = presetsOf(interfaces, params.interface);
            if (!presets)
                return fail(presets.error());
            const auto path = presets->save(params.fn, params.name, params.arguments.json,
                params.replace.value_or(false) ? Presets::Existing::Replace : Presets::Existing::Keep);
            if (!path)
                return fail(path.error());
            return Json{{"path", path->string()}};
        });
    binder.bind<RenamePresetParams>(
        "presets.rename", [interfaces](const RenamePresetParams& params) -> Result<Json> {
            const auto presets = presetsOf(interfaces, params.interface);
            return presets ? emptyOr(presets->rename(params.fn, params.name, params.to))
                           : fail(presets.error());
        });
    binder.bind<RemovePresetParams>(
        "presets.rm", [interfaces](const RemovePresetParams& params) -> Result<Json> {
            const auto presets = presetsOf(interfaces, params.interface);
            return presets ? emptyOr(presets->remove(params.fn, params.name)) : fail(presets.error());
        });
}

} // namespace gb::service
