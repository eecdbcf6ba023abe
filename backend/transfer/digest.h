// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <string_view>

#include <backend/base/hash.h>

namespace gb::transfer {

// A hash that names content: plain SHA-256, or git's id of a blob (SHA-1 over "blob <size>\0" and the
// content).
class Digest : public Hash
{
public:
    enum class Kind { Sha256, GitBlob };

    Digest(Kind kind, std::uint64_t size);
};

bool isHex(std::string_view text, std::size_t digits); // lower case

} // namespace gb::transfer
