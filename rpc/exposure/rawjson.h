// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace gb::rpc {

// The members of an object, or the items of an array (their keys empty), with their values as the text they
// came as: numbers keep every digit. The text must have been checked before (parseJson).
std::vector<std::pair<std::string, std::string_view>> rawMembers(std::string_view json);

// The value of one member; empty when it is not there.
std::string_view rawMember(std::string_view object, std::string_view key);

} // namespace gb::rpc
