// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <QString>

#include <backend/base/json.h>

namespace gb::ui {

inline QString textField(const Json& object, std::string_view key)
{
    return QString::fromStdString(stringOr(object, key));
}

// A time of the API: milliseconds as a number, or 0.
inline std::int64_t timeField(const Json& object, std::string_view key)
{
    return integerOr(object, key);
}

inline QString compactJson(const Json& value)
{
    return QString::fromStdString(value.dump(-1, ' ', false, Json::error_handler_t::replace));
}

} // namespace gb::ui
