// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

#include "hash.h"

#include <array>

#include <openssl/evp.h>

namespace gb {

namespace {

// Looked up once: EVP_sha256() makes OpenSSL 3 search its providers at each use.
const EVP_MD* find(Hash::Algorithm algorithm)
{
    static EVP_MD* const sha256 = EVP_MD_fetch(nullptr, "SHA256", nullptr);
    static EVP_MD* const sha1 = EVP_MD_fetch(nullptr, "SHA1", nullptr);
    return algorithm == Hash::Algorithm::Sha256 ? sha256 : sha1;
}

} // namespace

struct Hash::Private
{
    EVP_MD_CTX* context = EVP_MD_CTX_new();
};

Hash::Hash(Algorithm algorithm) : d(std::make_unique<Private>())
{
    EVP_DigestInit_ex(d->context, find(algorithm), nullptr);
}

Hash::~Hash()
{
    EVP_MD_CTX_free(d->context);
}

void Hash::add(std::string_view bytes)
{
    EVP_DigestUpdate(d->context, bytes.data(), bytes.size());
}

std::string Hash::hex()
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

std::string sha256Hex(std::string_view bytes)
{
    Sha256 hash;
    hash.add(bytes);
    return hash.hex();
}

} // namespace gb
