// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

#include <algorithm>

#include <backend/base/json.h>
#include <rpc/launch/foldercopy.h>

#include "boxconnection.h"

// Files, meters and ports. Files of this machine are named by whoever may read them anyway: our own user.
namespace gb::rpc {
namespace {

constexpr std::int64_t mostPart = 1 << 20;

} // namespace

void BoxConnection::askInit(std::int64_t id, std::function<Result<Json>()> question)
{
    ask(m_box.threads(), id, std::move(question), [id](BoxConnection& self, Result<Json>& answered) {
        answered->erase("t");
        answered->erase("ch");
        self.answer(id, *answered);
    });
}

void BoxConnection::put(std::int64_t id, const Json& params, SharedText attachment)
{
    m_box.limits().used();
    constexpr unsigned plain = 0644;
    const std::string path = stringOr(params, "path");
    const std::string file = stringOr(params, "file");
    const auto mode = static_cast<unsigned>(integerOr(params, "mode", plain));
    ask(
        m_box.transfers(), id,
        [init = &m_box.init(), path, file, mode, attachment]() -> Result<std::int64_t> {
            if (file.empty()) {
                GB_TRY(init->putBytes(attachment.view(), path, mode));
                return static_cast<std::int64_t>(attachment.size());
            }
            GB_TRY(init->putFile(file, path, mode));
            const auto made = init->stat(path);
            return made ? integerOr(*made, "size") : 0;
        },
        [id](BoxConnection& self, const Result<std::int64_t>& bytes) {
            self.answer(id, {{"bytes", *bytes}});
        });
}

void BoxConnection::putFolder(std::int64_t id, const Json& params, SharedText)
{
    m_box.limits().used();
    const fs::path folder = stringOr(params, "folder");
    std::error_code error;
    if (!folder.is_absolute() || !fs::is_directory(folder, error))
        return refuse(id, {"sandbox.not_a_folder", folder.string() + " is not a folder of this machine"});
    ask(
        m_box.transfers(), id,
        [init = &m_box.init(), folder, path = stringOr(params, "path")] {
            return copyFolderIn(*init, folder, path);
        },
        [id](BoxConnection& self, const Status&) { self.answer(id, Json::object()); });
}

void BoxConnection::get(std::int64_t id, const Json& params, SharedText)
{
    m_box.limits().used();
    const std::string path = stringOr(params, "path");
    if (const std::string file = stringOr(params, "file"); !file.empty()) {
        return ask(
            m_box.transfers(), id,
            [init = &m_box.init(), path, file]() -> Result<std::int64_t> {
                GB_TRY(init->getFile(path, file));
                std::error_code error;
                return static_cast<std::int64_t>(fs::file_size(file, error));
            },
            [id](BoxConnection& self, const Result<std::int64_t>& bytes) {
                self.answer(id, {{"bytes", *bytes}});
            });
    }
    const std::int64_t from = integerOr(params, "from");
    const auto limit =
        static_cast<std::size_t>(std::clamp<std::int64_t>(integerOr(params, "limit", mostPart), 0, mostPart));
    ask(
        m_box.threads(), id,
        [init = &m_box.init(), path, from, limit] { return init->getPart(path, from, limit); },
        [id](BoxConnection& self, Result<FilePart>& part) {
            self.answer(id, {{"size", part->size}}, std::move(part->bytes));
        });
}

void BoxConnection::list(std::int64_t id, const Json& params, SharedText)
{
    m_box.limits().used();
    askInit(id, [init = &m_box.init(), path = stringOr(params, "path"), after = stringOr(params, "after")] {
        return init->list(path, after);
    });
}

void BoxConnection::stat(std::int64_t id, const Json& params, SharedText)
{
    m_box.limits().used();
    askInit(id, [init = &m_box.init(), path = stringOr(params, "path")] { return init->stat(path); });
}

void BoxConnection::makeFolder(std::int64_t id, const Json& params, SharedText)
{
    m_box.limits().used();
    constexpr unsigned plain = 0755;
    const auto mode = static_cast<unsigned>(integerOr(params, "mode", plain));
    ask(
        m_box.threads(), id,
        [init = &m_box.init(), path = stringOr(params, "path"), mode] {
            return init->makeFolder(path, mode);
        },
        [id](BoxConnection& self, const Status&) { self.answer(id, Json::object()); });
}

void BoxConnection::meters(std::int64_t id, const Json&, SharedText)
{
    // Not a use of the sandbox: windows ask all the time.
    askInit(id, [init = &m_box.init()] { return init->meters(); });
}

void BoxConnection::port(std::int64_t id, const Json& params, SharedText)
{
    m_box.limits().used();
    BoxPort port;
    port.path = stringOr(params, "path");
    port.port = static_cast<int>(integerOr(params, "port"));
    const auto opened = m_box.ports().open(std::move(port), boolOr(params, "tcp"));
    if (opened)
        answer(id, opened->toJson());
    else
        refuse(id, opened.error());
}

void BoxConnection::ports(std::int64_t id, const Json&, SharedText)
{
    answer(id, {{"ports", m_box.ports().list()}});
}

void BoxConnection::closePort(std::int64_t id, const Json& params, SharedText)
{
    const std::string port = stringOr(params, "id");
    if (m_box.ports().close(port))
        answer(id, Json::object());
    else
        refuse(id, {"sandbox.no_port", "this sandbox has no open port " + port, Json{{"id", port}}});
}

} // namespace gb::rpc
