// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <memory>
#include <string>
#include <string_view>

namespace gb {

// Streaming SHA-256 (OpenSSL).
class Sha256
{
public:
    Sha256();
    ~Sha256();
    Sha256(const Sha256&) = delete;
    Sha256& operator=(const Sha256&) = delete;

    void add(std::string_view bytes);
    std::string hex(); // ends the computation

private:
    struct Private;
    std::unique_ptr<Private> d;
};

std::string sha256Hex(std::string_view bytes);

} // namespace gb
