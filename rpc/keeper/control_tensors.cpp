// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

#include <backend/base/json.h>

#include "control_connection.h"

// keeper.tensor: what the window shows of a tensor.
namespace gb::rpc {
namespace {

// The members of an object, without its braces.
std::string membersOf(const Json& json)
{
    const std::string text = json.dump();
    return text.substr(1, text.size() - 2);
}

Json description(const Tensor& tensor)
{
    return {{"dtype", nameOf(tensor.dtype())}, {"shape", tensor.shape()}, {"device", tensor.device()},
        {"bytes", tensor.bytes()}};
}

} // namespace

void ControlConnection::tensor(std::int64_t id, const Json& params, SharedText)
{
    const std::string what = stringOr(params, "what", "stats");
    if (what != "stats" && what != "slice" && what != "tile")
        return refuse(id, {"params.what", "what is stats, slice or tile"});
    TileRequest request;
    request.rows = integerOr(params, "rows", request.rows);
    request.cols = integerOr(params, "cols", request.cols);
    request.lead = integerOr(params, "lead");
    request.row0 = integerOr(params, "row0");
    request.row1 = integerOr(params, "row1", -1);
    request.col0 = integerOr(params, "col0");
    request.col1 = integerOr(params, "col1", -1);
    m_server.keeper().tensor(stringOr(params, "handle"), what == "slice" ? stringOr(params, "slice") : "",
        [weak = weak_from_this(), id, what, request](const Result<TensorPtr>& found) {
            const auto self = weak.lock();
            if (!self)
                return;
            if (!found)
                return self->refuse(id, found.error());
            if (what == "stats")
                return self->answerStats(id, *found);
            if (what == "tile")
                return self->answerTile(id, *found, request);
            self->sendWithText(id, membersOf(description(**found)), (*found)->data());
        });
}

void ControlConnection::answerStats(std::int64_t id, const TensorPtr& tensor)
{
    auto result = std::make_shared<std::optional<TensorStats>>();
    m_server.keeper().background().run([result, tensor] { *result = statistics(*tensor, true); },
        [weak = weak_from_this(), id, result, tensor] {
            const auto self = weak.lock();
            if (!self)
                return;
            Json json = description(*tensor);
            json["stats"] = *result ? (*result)->toJson(true) : Json();
            self->answer(id, json);
        });
}

void ControlConnection::answerTile(std::int64_t id, const TensorPtr& tensor, const TileRequest& request)
{
    auto result = std::make_shared<Result<Tile>>();
    m_server.keeper().background().run([result, tensor, request] { *result = tile(*tensor, request); },
        [weak = weak_from_this(), id, result, tensor] {
            const auto self = weak.lock();
            if (!self)
                return;
            if (!*result)
                return self->refuse(id, result->error());
            const Tile& made = **result;
            Json json{{"dtype", "f32"}, {"shape", {3, made.rows, made.cols}},
                {"planes", {"mean", "min", "max"}}, {"row0", made.row0}, {"row1", made.row1},
                {"col0", made.col0}, {"col1", made.col1}};
            std::string bytes;
            for (const std::vector<float>* plane : {&made.mean, &made.min, &made.max})
                bytes.append(reinterpret_cast<const char*>(plane->data()), plane->size() * sizeof(float));
            self->sendWithText(id, membersOf(json), std::move(bytes));
        });
}

} // namespace gb::rpc
