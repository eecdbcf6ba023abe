// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

#include "digest.h"

#include <algorithm>
#include <array>

#include <openssl/evp.h>

namespace gb::transfer {

struct Digest::Private
{
    EVP_MD_CTX* context = EVP_MD_CTX_new();
};

Digest::Digest(Kind kind, std::uint64_t size) : d(std::make_unique<Private>())
{
    EVP_DigestInit_ex(d->context, kind == Kind::Sha256 ? EVP_sha256() : EVP_sha1(), nullptr);
    if (kind == Kind::GitBlob) {
        const std::string prefix = "blob " + std::to_string(size);
        EVP_DigestUpdate(d->context, prefix.c_str(), prefix.size() + 1);
    }
}

Digest::~Digest()
{
    EVP_MD_CTX_free(d->context);
}

void Digest::add(std::string_view bytes)
{
    EVP_DigestUpdate(d->context, bytes.data(), bytes.size());
}

std::string Digest::hex()
{
    std::array<unsigned char, EVP_MAX_MD_SIZE> digest{};
    unsigned length = 0;
    EVP_DigestFinal_ex(d->context, digest.data(), &length);
    static constexpr char digits[] = "0123456789abcdef";
    std::string text;
    for (unsigned i = 0; i < length; ++i) {
        text += digits[digest[i] >> 4];
        text += digits[digest[i] & 15];
    }
    return text;
}

bool isHex(std::string_view text, std::size_t digits)
{
    return text.size() == digits && text.find_first_not_of("0123456789abcdef") == std::string_view::npos;
}

} // namespace gb::transfer
