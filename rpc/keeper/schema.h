// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include <backend/base/result.h>

namespace gb::rpc {

// What the interface file exposes, as its worker described it; kept while the worker is away.
class Schema
{
public:
    struct Function
    {
        std::int64_t timeoutMs = 0; // the author's own: the only one that may end the worker
        int concurrency = 1;
        bool generator = false;
    };

    static Result<std::shared_ptr<const Schema>> parse(std::string text);
    // The same with some of the functions only.
    Result<std::shared_ptr<const Schema>> restrictedTo(
        const std::function<bool(std::string_view)>& may) const;

    const std::string& text() const { return m_text; }
    const std::string& etag() const { return m_etag; }
    const std::string& original() const { return m_original; } // the answer to GET / of the original format
    const std::vector<std::string>& names() const { return m_names; }
    const Function* find(std::string_view name) const;

private:
    std::string m_text;
    std::string m_etag;
    std::string m_original;
    std::vector<std::string> m_names; // in the order of the file
    std::map<std::string, Function, std::less<>> m_functions;
};

// The refusal of a name that is not exposed. It names the nearest, or the first few, of those the caller may
// call, and no others.
Error unknownFunction(
    const Schema& schema, std::string_view wanted, const std::function<bool(std::string_view)>& may = {});

} // namespace gb::rpc
