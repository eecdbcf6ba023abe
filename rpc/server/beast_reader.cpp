// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

#include <boost/beast/core/error.hpp>
#include <boost/beast/http/error.hpp>
#include <boost/beast/http/parser.hpp>
#include <boost/beast/http/string_body.hpp>

#include "http_connection.h"

namespace gb::rpc {
namespace {

namespace http = boost::beast::http;

Refusal refusalFor(boost::beast::error_code error)
{
    if (error == http::error::body_limit)
        return {413, "body_too_large", "the body is larger than this host takes"};
    if (error == http::error::header_limit)
        return {431, "header_too_large", "the header is larger than this host takes"};
    return {400, "http", "not a valid HTTP request: " + error.message()};
}

// Fields that Beast has no number for.
void takeOwnField(RequestHead& head, boost::beast::string_view name, const std::string& value)
{
    using boost::beast::iequals;
    if (iequals(name, "mcp-protocol-version"))
        head.mcpVersion = value;
    else if (iequals(name, "mcp-method"))
        head.mcpMethod = value;
    else if (iequals(name, "mcp-name"))
        head.mcpName = value;
}

} // namespace

struct RequestReader::Private
{
    std::optional<http::request_parser<http::string_body>> parser;
    bool headTold = false;
};

RequestReader::RequestReader(std::size_t headerLimit, std::size_t bodyLimit)
    : d(std::make_unique<Private>()), m_headerLimit(headerLimit), m_bodyLimit(bodyLimit)
{
    reset();
}

RequestReader::~RequestReader() = default;

void RequestReader::reset()
{
    d->parser.emplace();
    d->parser->header_limit(static_cast<std::uint32_t>(m_headerLimit));
    d->parser->body_limit(m_bodyLimit);
    d->parser->eager(false); // stop after the head: it decides whether the body is read
    d->headTold = false;
}

RequestReader::Step RequestReader::read(std::string_view& bytes)
{
    auto& parser = *d->parser;
    for (;;) {
        if (parser.is_header_done() && !d->headTold) {
            d->headTold = true;
            parser.eager(true);
            return Step::HeadReady;
        }
        if (parser.is_done())
            return Step::Complete;
        if (bytes.empty())
            return Step::NeedMore;
        boost::beast::error_code error;
        const std::size_t used = parser.put(boost::asio::buffer(bytes.data(), bytes.size()), error);
        bytes.remove_prefix(used);
        if (error == http::error::need_more) {
            if (used == 0 || bytes.empty())
                return Step::NeedMore;
            continue;
        }
        if (error) {
            m_refusal = refusalFor(error);
            return Step::Bad;
        }
    }
}

RequestHead RequestReader::head() const
{
    const auto& message = d->parser->get();
    RequestHead head;
    head.method = std::string(message.method_string());
    head.target = std::string(message.target());
    for (const auto& field : message) {
        const std::string value(field.value());
        switch (field.name()) {
        case http::field::host:
            ++head.hosts;
            head.host = value;
            break;
        case http::field::origin:
            head.hasOrigin = true;
            head.origin = value;
            break;
        case http::field::authorization:
            head.authorization = value;
            break;
        case http::field::content_type:
            head.contentType = value;
            break;
        case http::field::content_encoding:
            head.contentEncoding = value;
            break;
        case http::field::accept:
            head.accept += (head.accept.empty() ? "" : ",") + value;
            break;
        case http::field::if_none_match:
            head.ifNoneMatch = value;
            break;
        default:
            takeOwnField(head, field.name_string(), value);
        }
    }
    const auto length = d->parser->content_length();
    head.hasBody = d->parser->chunked() || (length && *length > 0);
    head.split();
    return head;
}

bool RequestReader::keepAlive() const
{
    return d->parser->keep_alive();
}

bool RequestReader::expectsContinue() const
{
    const auto& message = d->parser->get();
    const auto it = message.find(http::field::expect);
    return it != message.end() && boost::beast::iequals(it->value(), "100-continue");
}

std::string RequestReader::takeBody()
{
    return std::move(d->parser->get().body());
}

} // namespace gb::rpc
