// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

namespace gb::transfer {

// A hash that names content: plain SHA-256, or git's id of a blob (SHA-1 over "blob <size>\0" and the
// content).
class Digest
{
public:
    enum class Kind { Sha256, GitBlob };

    Digest(Kind kind, std::uint64_t size);
    ~Digest();
    Digest(const Digest&) = delete;
    Digest& operator=(const Digest&) = delete;

    void add(std::string_view bytes);
    std::string hex(); // ends the computation

private:
    struct Private;
    std::unique_ptr<Private> d;
};

bool isHex(std::string_view text, std::size_t digits); // lower case

} // namespace gb::transfer
