// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "hubclient.h"

namespace gb::hub {

struct Tensor
{
    std::string name;
    std::string dtype; // F32, BF16, …
    std::vector<std::uint64_t> shape;
    std::uint64_t begin = 0; // in the file
    std::uint64_t end = 0;

    std::uint64_t parameters() const;
};

struct TensorFile
{
    std::vector<Tensor> tensors;
    std::uint64_t parameters = 0;

    Json toJson() const; // {parameters, by_dtype: {F32: n}, tensors: [{name, dtype, shape, bytes}]}
};

// From the text between the 8 bytes of its length and the data; `size` is the file's.
Result<TensorFile> parseSafetensors(std::string_view header, std::uint64_t size);
Result<TensorFile> readSafetensors(const fs::path& path);
// By range requests of a few KB: known before the download.
Result<TensorFile> readSafetensors(const HubClient& client, const ModelInfo& model, const RemoteFile& file);

// The model an adapter was made for, from adapter_config.json; empty when it names none.
Result<std::string> adapterBase(std::string_view config);

} // namespace gb::hub
