// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

#include "dispatcher.h"
#include "interfaces.h"
#include "services.h"

namespace gb::service {
namespace {

constexpr std::size_t sourceLimit = 4U << 20U;

struct RegisterParams
{
    std::string control;
    static auto fields() { return std::tuple(field("control", &RegisterParams::control)); }
};

struct InterfaceParams
{
    std::string interface;
    static auto fields() { return std::tuple(field("interface", &InterfaceParams::interface)); }
};

// What the host answers is the answer; what it refuses is refused with its own code.
api::AnswerHandler passOn(Reply reply)
{
    return [reply](Result<api::Answer> answer) mutable {
        if (answer)
            reply.finish(std::move(*answer));
        else
            reply.refuse(answer.error());
    };
}

Result<Json> source(const Interfaces* interfaces, const InterfaceParams& params)
{
    const auto item = interfaces->find(params.interface);
    if (!item)
        return fail(item.error());
    const std::string path = stringOr(*item, "source");
    auto text = readFile(path, sourceLimit);
    if (!text)
        return fail(text.error());
    return Json{{"path", path}, {"text", std::move(*text)}};
}

} // namespace

void bindInterfaceMethods(Dispatcher* dispatcher, const Services& services)
{
    Binder& binder = dispatcher->binder();
    Interfaces* interfaces = services.interfaces;
    const auto forward = [interfaces](std::string_view method) {
        return [interfaces, method](const InterfaceParams& params, const std::string&, Reply reply) {
            interfaces->request(params.interface, method, Json::object(), passOn(std::move(reply)));
        };
    };
    binder.bind<RegisterParams>(
        "interfaces.register", [interfaces](const RegisterParams& params, const std::string&, Reply reply) {
            interfaces->registerKeeper(
                params.control, [reply](Result<Json> item) mutable { reply.finish(std::move(item)); });
        });
    binder.bind<NoParams>("interfaces.list", [interfaces](NoParams) -> Result<Json> {
        return Json{{"interfaces", interfaces->list()}};
    });
    binder.bind<InterfaceParams>("interfaces.schema", forward("keeper.schema"));
    binder.bind<InterfaceParams>("interfaces.reload", forward("keeper.reload"));
    binder.bind<InterfaceParams>("interfaces.stop", forward("keeper.shutdown"));
    binder.bind<InterfaceParams>("interfaces.source",
        [interfaces](const InterfaceParams& params) { return source(interfaces, params); });
}

} // namespace gb::service
