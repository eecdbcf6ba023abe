// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <functional>
#include <list>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include <backend/base/fd.h>
#include <backend/base/json.h>

#include "dtype.h"
#include "sharedtext.h"

namespace gb::rpc {

// A tensor a function returned. Its bytes lie in a memfd the worker can no longer change, mapped read-only;
// they are absent while the tensor stays on its device in the worker.
class Tensor
{
public:
    // header: {handle, dtype, shape, device, bytes}. The descriptor is trusted only after its type, seals and
    // size have been seen.
    static Result<std::shared_ptr<const Tensor>> fromDescriptor(const Json& header, UniqueFd fd);
    static Result<std::shared_ptr<const Tensor>> onDevice(const Json& header);
    static Result<std::shared_ptr<const Tensor>> fromBytes(const Json& header, SharedText bytes);
    static std::shared_ptr<const Tensor> make(Dtype dtype, std::vector<std::int64_t> shape, SharedText bytes);

    const std::string& handle() const { return m_handle; }
    Dtype dtype() const { return m_dtype; }
    const std::vector<std::int64_t>& shape() const { return m_shape; }
    const std::string& device() const { return m_device; }
    std::size_t elements() const { return m_elements; }
    std::size_t bytes() const { return m_elements * sizeOf(m_dtype); }
    bool here() const { return m_here; }
    const SharedText& data() const { return m_data; }

private:
    static Result<std::shared_ptr<Tensor>> describe(const Json& header);

    std::string m_handle;
    Dtype m_dtype = Dtype::F32;
    std::vector<std::int64_t> m_shape;
    std::string m_device;
    std::size_t m_elements = 0;
    bool m_here = false;
    SharedText m_data;
};
using TensorPtr = std::shared_ptr<const Tensor>;

// What is kept of past results, the least used leave first.
class TensorStore
{
public:
    explicit TensorStore(std::size_t budget) : m_budget(budget) { }

    // Returns the handles that had to go for it.
    std::vector<std::string> put(const TensorPtr& tensor);
    TensorPtr get(const std::string& handle);
    bool remove(const std::string& handle);
    // Tensors on a device die with their worker; the others do not need it.
    void forgetDevices();

private:
    using Order = std::list<TensorPtr>;

    std::size_t m_budget;
    std::size_t m_bytes = 0;
    Order m_order; // most recently used first
    std::unordered_map<std::string, Order::iterator> m_byHandle;
};

struct TensorStats
{
    std::size_t count = 0; // of numbers that are neither NaN nor infinite
    std::size_t nan = 0;
    std::size_t infinite = 0;
    double min = 0;
    double max = 0;
    double mean = 0;
    double std = 0;
    std::vector<std::uint64_t> histogram; // 64 bins from min to max

    Json toJson(bool withHistogram) const;
};
// Nothing for complex tensors.
std::optional<TensorStats> statistics(const Tensor& tensor, bool withHistogram);

// "0:10,3,::2" as NumPy reads it, without negative steps.
Result<TensorPtr> sliced(const Tensor& tensor, std::string_view slice);

// A matrix (the last two dimensions, the leading ones chosen by a flat index) reduced to at most rows × cols.
struct TileRequest
{
    std::int64_t rows = 512;
    std::int64_t cols = 512;
    std::int64_t lead = 0;
    std::int64_t row0 = 0, row1 = -1, col0 = 0, col1 = -1; // the window; -1: to the end
};
struct Tile
{
    std::int64_t rows = 0;
    std::int64_t cols = 0;
    std::int64_t row0 = 0, row1 = 0, col0 = 0, col1 = 0;
    std::vector<float> mean, min, max;
};
Result<Tile> tile(const Tensor& tensor, const TileRequest& request);

// safetensors: 8-byte length, JSON header, raw bytes. Two parts, so that large data is not copied.
std::string safetensorsHeader(const Tensor& tensor);
std::string safetensors(const Tile& tile);
// Nested lists; what JSON cannot say becomes null and is counted.
void appendLists(std::string& out, const Tensor& tensor, std::size_t& unsaid);

// Runs work over [0, count) in pieces, on several threads when it is worth it.
void inPieces(
    std::size_t count, std::size_t cost, const std::function<void(std::size_t, std::size_t, int)>& work);
int piecesFor(std::size_t cost);

} // namespace gb::rpc
