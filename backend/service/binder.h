// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <functional>
#include <map>
#include <optional>
#include <tuple>
#include <vector>

#include <backend/base/json.h>

#include "reply.h"

namespace gb::service {

// Handlers are typed functions bound by name; here the parameters' JSON becomes a struct. A parameter struct
// lists its members in `static auto fields()`; std::optional ones may be missing.
template <typename P, typename T>
struct Field
{
    std::string_view name;
    T P::*member;
};

template <typename P, typename T>
constexpr Field<P, T> field(std::string_view name, T P::*member)
{
    return {name, member};
}

struct NoParams
{
    static auto fields() { return std::tuple<>(); }
};

// A JSON value that must be an array or an object.
struct JsonArray
{
    Json json = Json::array();
};
struct JsonObject
{
    Json json = Json::object();
};

template <typename T>
struct ParamType;

template <>
struct ParamType<std::string>
{
    static constexpr std::string_view name = "string";
    static bool matches(const Json& json) { return json.is_string(); }
    static std::string take(Json& json) { return std::move(json.get_ref<std::string&>()); }
};
template <>
struct ParamType<std::int64_t>
{
    static constexpr std::string_view name = "integer";
    static bool matches(const Json& json)
    {
        // The library wraps what does not fit into 64 signed bits.
        return json.is_number_integer()
            && !(json.is_number_unsigned() && json.get<std::uint64_t>() > std::uint64_t{INT64_MAX});
    }
    static std::int64_t take(const Json& json) { return json.get<std::int64_t>(); }
};
template <>
struct ParamType<bool>
{
    static constexpr std::string_view name = "boolean";
    static bool matches(const Json& json) { return json.is_boolean(); }
    static bool take(const Json& json) { return json.get<bool>(); }
};
template <>
struct ParamType<JsonArray>
{
    static constexpr std::string_view name = "array";
    static bool matches(const Json& json) { return json.is_array(); }
    static JsonArray take(Json& json) { return {std::move(json)}; }
};
template <>
struct ParamType<JsonObject>
{
    static constexpr std::string_view name = "object";
    static bool matches(const Json& json) { return json.is_object(); }
    static JsonObject take(Json& json) { return {std::move(json)}; }
};
template <>
struct ParamType<Json>
{
    static constexpr std::string_view name = "any";
    static bool matches(const Json&) { return true; }
    static Json take(Json& json) { return std::move(json); }
};

template <typename T>
struct IsOptional : std::false_type
{ };
template <typename T>
struct IsOptional<std::optional<T>> : std::true_type
{
    using Value = T;
};

template <typename T>
Status decodeValue(Json& params, std::string_view name, T& value)
{
    const auto it = params.find(name);
    if constexpr (IsOptional<T>::value) {
        if (it == params.end() || it->is_null())
            return {};
        typename IsOptional<T>::Value inner;
        GB_TRY(decodeValue(params, name, inner));
        value = std::move(inner);
        return {};
    } else {
        if (it == params.end())
            return fail("params.missing", "the parameter " + std::string(name) + " is missing",
                Json{{"parameter", name}});
        if (!ParamType<T>::matches(*it))
            return fail("params.type",
                "the parameter " + std::string(name) + " must be of type " + std::string(ParamType<T>::name),
                Json{{"parameter", name}, {"expected", ParamType<T>::name}, {"got", it->type_name()}});
        value = ParamType<T>::take(*it);
        return {};
    }
}

Status checkNames(const Json& params, const std::vector<std::string_view>& known);

template <typename P>
Result<P> decodeParams(Json& params)
{
    P decoded;
    Status status;
    std::vector<std::string_view> known;
    std::apply(
        [&](const auto&... fields) {
            (known.push_back(fields.name), ...);
            ((status = status ? decodeValue(params, fields.name, decoded.*fields.member) : status), ...);
        },
        P::fields());
    if (status)
        status = checkNames(params, known);
    if (!status)
        return fail(status.error());
    return decoded;
}

template <typename T>
Json describeField(std::string_view name, const T*)
{
    if constexpr (IsOptional<T>::value)
        return Json{
            {"name", name}, {"type", ParamType<typename IsOptional<T>::Value>::name}, {"required", false}};
    else
        return Json{{"name", name}, {"type", ParamType<T>::name}, {"required", true}};
}

template <typename P>
Json describeParams()
{
    Json all = Json::array();
    const auto one = [&]<typename T>(const Field<P, T>& f) {
        all.push_back(describeField(f.name, static_cast<const T*>(nullptr)));
    };
    std::apply([&](const auto&... fields) { (one(fields), ...); }, P::fields());
    return all;
}

// All methods' handlers by name.
class Binder
{
public:
    using Handler =
        std::function<void(Json& params, std::string attachment, Reply reply)>; // moves from params
    struct Bound
    {
        Handler handler;
        Json params; // as the method table describes them
    };

    // Answers later, through the Reply.
    template <typename P>
    void bind(std::string_view name, std::function<void(P, std::string, Reply)> handler)
    {
        add(name, describeParams<P>(),
            [handler = std::move(handler)](Json& params, std::string attachment, Reply reply) {
                auto decoded = decodeParams<P>(params);
                if (!decoded)
                    return reply.refuse(decoded.error());
                handler(std::move(*decoded), std::move(attachment), std::move(reply));
            });
    }

    // Answers at once.
    template <typename P>
    void bind(std::string_view name, std::function<Result<Json>(P)> handler)
    {
        bind<P>(name, [handler = std::move(handler)](P params, std::string, Reply reply) {
            reply.finish(handler(std::move(params)));
        });
    }

    const Bound* find(std::string_view name) const;
    const std::map<std::string, Bound, std::less<>>& all() const { return m_bound; }

private:
    void add(std::string_view name, Json params, Handler handler);

    std::map<std::string, Bound, std::less<>> m_bound;
};

} // namespace gb::service
