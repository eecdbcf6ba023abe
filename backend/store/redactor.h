// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <string>
#include <vector>

#include "records.h"

namespace gb {

// Replaces known secret values by «secret NAME» in what is about to be written. Values under six characters
// are left alone: "true" or "12" would shred every record and protect nothing.
class Redactor
{
public:
    static constexpr std::size_t shortestSecret = 6;

    Redactor() = default;
    explicit Redactor(const std::vector<SecretValue>& secrets);

    bool empty() const { return m_secrets.empty(); }
    std::string text(std::string text) const;
    // Stays valid JSON, whatever the value looks like and however it was escaped.
    std::string json(std::string json) const;
    // Same length, so that formats with offsets stay readable.
    std::string bytes(std::string bytes) const;

private:
    struct Secret
    {
        std::string replacement;
        std::string value;
        std::vector<std::string> escaped; // ways to write the value inside a JSON string
    };
    std::vector<Secret> m_secrets; // longest value first
};

} // namespace gb
