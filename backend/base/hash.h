// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <memory>
#include <string>
#include <string_view>

namespace gb {

// A hash of what is added piece by piece (OpenSSL).
class Hash
{
public:
    enum class Algorithm { Sha256, Sha1 };

    explicit Hash(Algorithm algorithm);
    ~Hash();
    Hash(const Hash&) = delete;
    Hash& operator=(const Hash&) = delete;

    void add(std::string_view bytes);
    std::string hex(); // ends the computation

private:
    struct Private;
    std::unique_ptr<Private> d;
};

class Sha256 : public Hash
{
public:
    Sha256() : Hash(Algorithm::Sha256) { }
};

std::string sha256Hex(std::string_view bytes);

} // namespace gb
