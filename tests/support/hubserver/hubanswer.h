// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "hubserver.h"

namespace gb::test {

std::string sha256Of(std::string_view bytes);

// What one request is answered with, before faults bend it.
struct HubServer::Answer
{
    int status = 200;
    std::vector<std::string> headers = {};
    std::string text = {}; // the body, unless there is a file
    std::shared_ptr<const HubFile> file = {}; // a copy: tests change theirs meanwhile
    std::uint64_t cut = 0; // how much shorter than it is the file pretends to be

    std::uint64_t bodySize() const { return file ? file->size() - cut : text.size(); }
    void apply(const Fault& fault);
    void applyRange(const std::string& range, const std::optional<Fault>& fault, std::uint64_t& first,
        std::uint64_t& count);
    std::string head(std::uint64_t length) const;
    void read(std::uint64_t offset, std::string& chunk) const;
};

} // namespace gb::test
