// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

#include "binder.h"

#include <algorithm>

namespace gb::service {

// An option that is misspelt, or that this version does not know, must not be dropped silently.
Status checkNames(const Json& params, const std::vector<std::string_view>& known)
{
    for (const auto& [name, value] : params.items()) {
        if (name != "op" && std::ranges::find(known, name) == known.end())
            return fail("params.unknown", "there is no parameter " + name, Json{{"parameter", name}});
    }
    return {};
}

const Binder::Bound* Binder::find(std::string_view name) const
{
    const auto it = m_bound.find(name);
    return it == m_bound.end() ? nullptr : &it->second;
}

void Binder::add(std::string_view name, Json params, Handler handler)
{
    m_bound.insert_or_assign(std::string(name), Bound{std::move(handler), std::move(params)});
}

} // namespace gb::service
