// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstring>
#include <memory>
#include <string>
#include <string_view>

namespace gb::rpc {

// Immutable bytes that several owners keep alive: a result goes to the caller, the record and the spool
// without being copied.
class SharedText
{
public:
    SharedText() = default;
    SharedText(std::string text) // NOLINT(google-explicit-constructor): every text is one
    {
        auto owner = std::make_shared<const std::string>(std::move(text));
        m_view = *owner;
        m_owner = std::move(owner);
    }
    SharedText(std::shared_ptr<const void> owner, std::string_view view)
        : m_owner(std::move(owner)), m_view(view)
    { }

    std::string_view view() const { return m_view; }
    std::size_t size() const { return m_view.size(); }
    bool empty() const { return m_view.empty(); }
    SharedText part(std::size_t at, std::size_t length) const { return {m_owner, m_view.substr(at, length)}; }

private:
    std::shared_ptr<const void> m_owner;
    std::string_view m_view;
};

} // namespace gb::rpc
