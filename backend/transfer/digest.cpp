// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

#include "digest.h"

namespace gb::transfer {

Digest::Digest(Kind kind, std::uint64_t size)
    : Hash(kind == Kind::Sha256 ? Algorithm::Sha256 : Algorithm::Sha1)
{
    if (kind == Kind::GitBlob) {
        add("blob " + std::to_string(size));
        add(std::string_view("\0", 1));
    }
}

bool isHex(std::string_view text, std::size_t digits)
{
    return text.size() == digits && text.find_first_not_of("0123456789abcdef") == std::string_view::npos;
}

} // namespace gb::transfer
