// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

#include "safetensors.h"

#include <cerrno>
#include <cstring>
#include <map>

#include <fcntl.h>
#include <sys/stat.h>

#include <backend/base/fd.h>
#include <backend/base/json.h>

namespace gb::hub {
namespace {

constexpr std::uint64_t longestHeader = 64ULL << 20U;
constexpr std::uint64_t firstGuess = 16U << 10U; // one request is enough for a small model

// {"name": {"dtype": "F32", "shape": [2, 3], "data_offsets": [0, 24]}, "__metadata__": {"k": "v"}}. Read
// without a document: a header may have a hundred thousand names, whose look-ups in an ordered object would
// be quadratic.
class HeaderReader : public nlohmann::json_sax<Json>
{
public:
    std::vector<Tensor> tensors;

    bool null() override { return isMeta(); }
    bool boolean(bool) override { return isMeta(); }
    bool number_integer(number_integer_t) override { return isMeta(); }
    bool number_float(number_float_t, const string_t&) override { return isMeta(); }
    bool binary(binary_t&) override { return false; }
    bool parse_error(std::size_t, const std::string&, const nlohmann::detail::exception&) override
    {
        return false;
    }

    bool number_unsigned(number_unsigned_t value) override
    {
        if (isMeta())
            return true;
        if (m_depth != 2 || !m_inArray)
            return false;
        if (m_field == "shape") {
            tensors.back().shape.push_back(value);
            return tensors.back().shape.size() <= 64;
        }
        if (m_field != "data_offsets" || m_offsets == 2)
            return false;
        (m_offsets++ == 0 ? tensors.back().begin : tensors.back().end) = value;
        return true;
    }

    bool string(string_t& value) override
    {
        if (isMeta())
            return true;
        if (m_depth != 2 || m_inArray || m_field != "dtype")
            return false;
        tensors.back().dtype = value;
        return true;
    }

    bool start_object(std::size_t) override
    {
        if (++m_depth == 2 && !m_meta) {
            tensors.emplace_back().name = m_name;
            m_offsets = 0;
        }
        return m_depth <= 2 && !m_inArray;
    }

    bool end_object() override
    {
        if (m_depth-- == 2)
            m_meta = false;
        return true;
    }

    bool start_array(std::size_t) override
    {
        return !isMeta() && m_depth == 2 && !std::exchange(m_inArray, true);
    }
    bool end_array() override { return std::exchange(m_inArray, false); }

    bool key(string_t& name) override
    {
        if (m_depth == 2) {
            m_field = name;
            return true;
        }
        m_name = name;
        m_meta = name == "__metadata__";
        return true;
    }

private:
    bool isMeta() const { return m_meta && m_depth == 2; }

    int m_depth = 0;
    bool m_meta = false;
    bool m_inArray = false;
    int m_offsets = 0;
    std::string m_name;
    std::string m_field;
};

unsigned bitsOf(std::string_view dtype)
{
    static const std::map<std::string_view, unsigned> bits{{"BOOL", 8}, {"U8", 8}, {"I8", 8}, {"F8_E4M3", 8},
        {"F8_E5M2", 8}, {"F8_E8M0", 8}, {"U16", 16}, {"I16", 16}, {"F16", 16}, {"BF16", 16}, {"U32", 32},
        {"I32", 32}, {"F32", 32}, {"U64", 64}, {"I64", 64}, {"F64", 64}, {"C64", 64}, {"F4", 4}};
    const auto it = bits.find(dtype);
    return it == bits.end() ? 0 : it->second;
}

tl::unexpected<Error> badHeader(const std::string& why)
{
    return fail("hub.bad_safetensors", "not a safetensors header: " + why);
}

bool isConsistent(const Tensor& tensor, std::uint64_t dataSize)
{
    if (tensor.begin > tensor.end || tensor.end > dataSize)
        return false;
    std::uint64_t values = 1;
    for (const std::uint64_t dimension : tensor.shape) {
        if (dimension != 0 && values > (1ULL << 48U) / dimension)
            return false;
        values *= dimension;
    }
    const unsigned bits = bitsOf(tensor.dtype); // a type of the future is shown as it is
    return bits == 0 || values * bits == (tensor.end - tensor.begin) * 8;
}

std::uint64_t lengthFrom(std::string_view bytes)
{
    std::uint64_t length = 0;
    for (std::size_t i = 8; i-- > 0;)
        length = length << 8U | static_cast<unsigned char>(bytes[i]);
    return length;
}

} // namespace

std::uint64_t Tensor::parameters() const
{
    std::uint64_t values = 1;
    for (const std::uint64_t dimension : shape)
        values *= dimension;
    return values;
}

Json TensorFile::toJson() const
{
    std::map<std::string, std::uint64_t> byType;
    Json list = Json::array();
    for (const Tensor& tensor : tensors) {
        byType[tensor.dtype] += tensor.parameters();
        list.push_back(Json{{"name", tensor.name}, {"dtype", tensor.dtype}, {"shape", tensor.shape},
            {"bytes", tensor.end - tensor.begin}});
    }
    return Json{{"parameters", parameters}, {"by_dtype", byType}, {"tensors", std::move(list)}};
}

Result<TensorFile> parseSafetensors(std::string_view header, std::uint64_t size)
{
    HeaderReader reader;
    if (!Json::sax_parse(header.begin(), header.end(), &reader))
        return badHeader("its JSON is something else");
    TensorFile file;
    file.tensors = std::move(reader.tensors);
    const std::uint64_t dataBegin = 8 + header.size();
    if (size < dataBegin)
        return badHeader("the file is shorter than it says");
    for (Tensor& tensor : file.tensors) {
        if (!isConsistent(tensor, size - dataBegin))
            return badHeader("\"" + tensor.name.substr(0, 100) + "\" does not fit its bytes");
        tensor.begin += dataBegin;
        tensor.end += dataBegin;
        file.parameters += tensor.parameters();
    }
    return file;
}

Result<TensorFile> readSafetensors(const fs::path& path)
{
    const UniqueFd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
    if (!fd.valid())
        return failErrno("cannot open", path.string(), errno);
    struct stat info
    { };
    std::string start(8, '\0');
    if (::fstat(fd.get(), &info) != 0 || ::pread(fd.get(), start.data(), 8, 0) != 8)
        return badHeader("the file is too short");
    const std::uint64_t length = lengthFrom(start);
    if (length > longestHeader || static_cast<std::uint64_t>(info.st_size) < 8 + length)
        return badHeader("its length makes no sense");
    std::string header(static_cast<std::size_t>(length), '\0');
    if (::pread(fd.get(), header.data(), header.size(), 8) != static_cast<ssize_t>(header.size()))
        return failErrno("cannot read", path.string(), errno);
    return parseSafetensors(header, static_cast<std::uint64_t>(info.st_size));
}

Result<TensorFile> readSafetensors(const HubClient& client, const ModelInfo& model, const RemoteFile& file)
{
    auto start = client.read(model, file, 0, firstGuess);
    if (!start)
        return fail(start.error());
    if (start->size() < 8)
        return badHeader("the file is too short");
    const std::uint64_t length = lengthFrom(*start);
    if (length > longestHeader || 8 + length > file.size)
        return badHeader("its length makes no sense");
    if (start->size() < 8 + length) {
        const auto rest = client.read(model, file, start->size(), 8 + length - start->size());
        if (!rest)
            return fail(rest.error());
        *start += *rest;
    }
    return parseSafetensors(std::string_view(*start).substr(8, static_cast<std::size_t>(length)), file.size);
}

Result<std::string> adapterBase(std::string_view config)
{
    const auto json = parseJson(config);
    if (!json)
        return fail("hub.bad_adapter", "adapter_config.json is not readable: " + json.error().message);
    return stringOr(*json, "base_model_name_or_path");
}

} // namespace gb::hub
