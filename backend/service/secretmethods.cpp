// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

#include <backend/secrets/secretstore.h>

#include "dispatcher.h"
#include "services.h"

namespace gb::service {
namespace {

struct SetSecretParams
{
    std::string name;
    std::string value;
    static auto fields()
    {
        return std::tuple(field("name", &SetSecretParams::name), field("value", &SetSecretParams::value));
    }
};

struct ClearSecretParams
{
    std::string name;
    static auto fields() { return std::tuple(field("name", &ClearSecretParams::name)); }
};

SecretStore::Done answered(Reply reply)
{
    return [reply = std::move(reply)](const Status& status) mutable {
        if (status)
            reply.finish(Json::object());
        else
            reply.refuse(status.error());
    };
}

} // namespace

void bindSecretMethods(Dispatcher* dispatcher, const Services& services)
{
    Binder& binder = dispatcher->binder();
    SecretStore* secrets = services.secrets;
    binder.bind<NoParams>("secrets.list", [secrets](NoParams) -> Result<Json> { return secrets->list(); });
    binder.bind<SetSecretParams>(
        "secrets.set", [secrets](const SetSecretParams& params, const std::string&, Reply reply) {
            secrets->set(params.name, params.value, answered(std::move(reply)));
        });
    binder.bind<ClearSecretParams>(
        "secrets.clear", [secrets](const ClearSecretParams& params, const std::string&, Reply reply) {
            secrets->clear(params.name, answered(std::move(reply)));
        });
}

} // namespace gb::service
