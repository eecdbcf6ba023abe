// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

#include <charconv>

#include <backend/base/json.h>

#include "router.h"

// Tensors that functions returned: whole, by slice, as statistics and as reduced tiles. Long passes run
// beside the loop.
namespace gb::rpc {
namespace {

constexpr std::string_view tensorType = "application/vnd.safetensors";

void refuseTensor(HttpExchange& exchange, const Error& error)
{
    exchange.refuse(error.code == "handle_gone" ? 410 : 400, error.code, error.message);
}

bool readNumber(std::string_view query, std::string_view name, std::int64_t& value)
{
    const std::string text = queryValue(query, name);
    if (text.empty())
        return true;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    return error == std::errc() && end == text.data() + text.size() && value >= 0;
}

std::optional<TileRequest> readTile(std::string_view query)
{
    TileRequest request;
    const bool good = readNumber(query, "rows", request.rows) && readNumber(query, "cols", request.cols)
        && readNumber(query, "lead", request.lead) && readNumber(query, "row0", request.row0)
        && readNumber(query, "row1", request.row1) && readNumber(query, "col0", request.col0)
        && readNumber(query, "col1", request.col1);
    return good ? std::optional(request) : std::nullopt;
}

} // namespace

void Router::tensor(const HttpExchangePtr& exchange, const std::string& rest)
{
    const std::size_t slash = rest.find('/');
    const std::string handle = rest.substr(0, slash);
    const std::string what = slash == std::string::npos ? std::string() : rest.substr(slash + 1);
    if (what == "stats")
        return tensorStats(exchange, handle);
    if (what == "tile")
        return tensorTile(exchange, handle);
    if (!what.empty())
        return exchange->refuse(404, "not_found", "a tensor has /stats and /tile");
    m_keeper.tensor(
        handle, queryValue(exchange->head().query, "slice"), [exchange](const Result<TensorPtr>& found) {
            if (!found)
                return refuseTensor(*exchange, found.error());
            exchange->replyParts(200, tensorType, {safetensorsHeader(**found), (*found)->data(), {}});
        });
}

void Router::tensorStats(const HttpExchangePtr& exchange, const std::string& handle)
{
    m_keeper.tensor(handle, {}, [this, exchange](const Result<TensorPtr>& found) {
        if (!found)
            return refuseTensor(*exchange, found.error());
        auto result = std::make_shared<std::optional<TensorStats>>();
        const TensorPtr& tensor = *found;
        m_keeper.background().run([result, tensor] { *result = statistics(*tensor, true); },
            [exchange, result, tensor] {
                Json json{{"dtype", nameOf(tensor->dtype())}, {"shape", tensor->shape()},
                    {"device", tensor->device()}, {"bytes", tensor->bytes()}};
                json["stats"] = *result ? (*result)->toJson(true) : Json();
                exchange->replyJson(200, json);
            });
    });
}

void Router::tensorTile(const HttpExchangePtr& exchange, const std::string& handle)
{
    const auto request = readTile(exchange->head().query);
    if (!request)
        return exchange->refuse(400, "tensor.tile", "rows, cols, lead, row0, row1, col0, col1 are numbers");
    m_keeper.tensor(handle, {}, [this, exchange, request = *request](const Result<TensorPtr>& found) {
        if (!found)
            return refuseTensor(*exchange, found.error());
        auto result = std::make_shared<Result<std::string>>();
        m_keeper.background().run(
            [result, request, tensor = *found] {
                const auto made = tile(*tensor, request);
                *result = made ? Result<std::string>(safetensors(*made)) : fail(made.error());
            },
            [exchange, result] {
                if (!*result)
                    return refuseTensor(*exchange, result->error());
                exchange->reply(200, tensorType, std::move(**result));
            });
    });
}

void Router::releaseTensor(const HttpExchangePtr& exchange, const std::string& handle)
{
    if (!m_keeper.releaseTensor(handle))
        return refuseTensor(*exchange, {"handle_gone", "this tensor is not kept any more"});
    exchange->replyJson(200, {{"ok", true}});
}

} // namespace gb::rpc
