// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

#include <QProcess>
#include <QTemporaryDir>

#include <backend/base/hash.h>
#include <backend/base/paths.h>

#include "background.h"
#include "dispatcher.h"
#include "interfaces.h"
#include "joblist.h"
#include "services.h"

namespace gb::service {
namespace {

constexpr std::size_t sourceLimit = 4U << 20U;
constexpr int checkMs = 10'000;

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

struct CheckParams
{
    std::string text;
    static auto fields() { return std::tuple(field("text", &CheckParams::text)); }
};

struct SaveParams
{
    std::string interface;
    std::string text;
    std::string etag;
    static auto fields()
    {
        return std::tuple(field("interface", &SaveParams::interface), field("text", &SaveParams::text),
            field("etag", &SaveParams::etag));
    }
};

Result<Json> source(const Interfaces* interfaces, const InterfaceParams& params)
{
    const auto item = interfaces->find(params.interface);
    if (!item)
        return fail(item.error());
    const std::string path = stringOr(*item, "source");
    auto text = readFile(path, sourceLimit);
    if (!text)
        return fail(text.error());
    const std::string etag = sha256Hex(*text);
    return Json{{"path", path}, {"text", std::move(*text)}, {"etag", etag}};
}

// Only what the editor had before it may be replaced: somebody else may have written the file since.
Result<Json> writeSource(const std::string& path, const SaveParams& params)
{
    if (params.text.size() > sourceLimit)
        return fail(
            "params.value", "an interface file of over 4 MiB is not saved", Json{{"parameter", "text"}});
    std::error_code error;
    const fs::path file = fs::canonical(path, error); // a link stays one
    const auto before = error ? Result<std::string>(failErrno("cannot find", path, error.value()))
                              : readFile(file, sourceLimit);
    if (!before)
        return fail(before.error());
    if (sha256Hex(*before) != params.etag)
        return fail("interfaces.changed", path + " was changed by somebody else since it was read",
            Json{{"path", path}});
    const auto mode = static_cast<unsigned>(fs::status(file, error).permissions()) & 0777U;
    GB_TRY(writeFileAtomic(file, params.text, mode));
    return Json{{"path", path}, {"etag", sha256Hex(params.text)}};
}

void saveSource(Interfaces* interfaces, const SaveParams& params, Reply reply)
{
    const auto item = interfaces->find(params.interface);
    if (!item)
        return reply.refuse(item.error());
    auto written = writeSource(stringOr(*item, "source"), params);
    if (!written)
        return reply.refuse(written.error());
    // The file is saved whether or not it loads; what is wrong with it comes along.
    interfaces->request(params.interface, "keeper.reload", Json::object(),
        [reply, saved = std::move(*written)](const Result<api::Answer>& answer) mutable {
            if (answer)
                saved["reload"] = answer->body;
            else
                saved["error"] = answer.error().toJson();
            reply.finish(Result<Json>(std::move(saved)));
        });
}

// Reads the text and runs nothing of it.
Result<api::Answer> checkSource(const std::string& text)
{
    QTemporaryDir folder;
    const fs::path file = fs::path(folder.path().toStdString()) / "interface.py";
    GB_TRY(writeFileAtomic(file, text, 0600));
    QProcess python;
    python.start(QStringLiteral("python3"),
        {QStringLiteral("-I"),
            QString::fromStdString((shareFolder() / "worker/glovebox_worker/check.py").string()),
            QString::fromStdString(file.string()), QStringLiteral("--json")});
    if (!python.waitForFinished(checkMs)) {
        python.kill();
        python.waitForFinished();
        return fail("interfaces.unchecked", "the file was not looked over: python3 did not answer in time");
    }
    auto said = parseJson(python.readAllStandardOutput().toStdString());
    if (!said)
        return fail("interfaces.unchecked",
            "the file was not looked over: " + python.readAllStandardError().left(500).toStdString());
    return api::Answer{
        Json{{"findings", said->is_object() ? said->value("findings", Json::array()) : *said}}, {}};
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
    binder.bind<CheckParams>("interfaces.check",
        [guard = services.jobs](const CheckParams& params, const std::string&, Reply reply) {
            if (params.text.size() > sourceLimit)
                return reply.refuse(
                    {"params.value", "at most 4 MiB are looked over", Json{{"parameter", "text"}}});
            answerFromPool(guard, std::move(reply), [text = params.text] { return checkSource(text); });
        });
    binder.bind<SaveParams>(
        "interfaces.save", [interfaces](const SaveParams& params, const std::string&, Reply reply) {
            saveSource(interfaces, params, std::move(reply));
        });
}

} // namespace gb::service
