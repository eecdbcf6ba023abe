// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <backend/base/result.h>

namespace gb::transfer {

struct Header
{
    std::string name;
    std::string value;
};

// "https://host:443": lower case, the port always written. Empty for anything but http and https.
std::string originOf(const std::string& url);
// The URL a Location header means, seen from the page it came with; empty if it is none.
std::string resolveUrl(const std::string& base, const std::string& location);

// A token together with the one origin it may be sent to. Whatever a request is redirected to, the engine
// adds the header only on hops to that origin, so a token cannot leak by a forgotten condition further up.
struct Credential
{
    std::string origin;
    std::string token;
};

struct ByteRange
{
    std::uint64_t first = 0;
    std::uint64_t last = 0; // inclusive
};

enum class Redirects {
    Keep, // a 3xx answer is the answer
    SameOrigin, // follow while the origin stays; one that leaves is the answer
    Follow,
};

struct Request
{
    std::string method = "GET"; // or HEAD
    std::string url;
    std::vector<Header> headers; // never an Authorization: that is the credential's
    std::optional<Credential> credential;
    std::optional<ByteRange> range;
    Redirects redirects = Redirects::Follow;
    std::size_t bodyLimit = 64U << 10U; // of a body that goes to no sink
    // Fails as "net.stalled" when fewer than this many bytes arrive within the window.
    int stallMs = 30'000;
    std::uint64_t stallBytes = 1024;
};

struct Response
{
    int status = 0;
    std::string url; // of the last hop
    std::vector<Header> headers;
    std::string body; // when there was no sink, or the status was no success
    std::uint64_t received = 0; // body bytes

    bool isSuccess() const { return status >= 200 && status < 300; }
    std::string header(std::string_view name) const; // empty when absent; case does not matter
};

// "http.<status>" with status, url (without its query, which may be signed), and what the server said.
Error statusError(const Response& response);

} // namespace gb::transfer
