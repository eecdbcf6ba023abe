// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

#include "tensor.h"

#include <cerrno>

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>

namespace gb::rpc {
namespace {

bool goodHandle(std::string_view handle)
{
    if (handle.empty() || handle.size() > 64)
        return false;
    for (const char c : handle) {
        if (!((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-'
                || c == '_'))
            return false;
    }
    return true;
}

std::shared_ptr<const void> mapped(int fd, std::size_t size)
{
    void* at = ::mmap(nullptr, size, PROT_READ, MAP_SHARED, fd, 0);
    if (at == MAP_FAILED)
        return nullptr;
    return {at, [size](const void* memory) { ::munmap(const_cast<void*>(memory), size); }};
}

} // namespace

Result<std::shared_ptr<Tensor>> Tensor::describe(const Json& header)
{
    auto tensor = std::make_shared<Tensor>();
    tensor->m_handle = stringOr(header, "handle");
    tensor->m_device = stringOr(header, "device", "cpu");
    const auto dtype = dtypeNamed(stringOr(header, "dtype"));
    const auto shape = header.find("shape");
    if (!goodHandle(tensor->m_handle) || !dtype || shape == header.end() || !shape->is_array())
        return fail("tensor.header", "a tensor's description is incomplete");
    tensor->m_dtype = *dtype;
    std::size_t elements = 1;
    constexpr std::size_t most = std::size_t{1} << 46U;
    for (const Json& size : *shape) {
        const std::int64_t value = size.is_number_integer() ? size.get<std::int64_t>() : -1;
        if (value < 0 || (value > 0 && elements > most / static_cast<std::size_t>(value)))
            return fail("tensor.shape", "a tensor's shape is not possible");
        tensor->m_shape.push_back(value);
        elements *= static_cast<std::size_t>(value);
    }
    tensor->m_elements = elements;
    return tensor;
}

Result<TensorPtr> Tensor::fromDescriptor(const Json& header, UniqueFd fd)
{
    auto tensor = describe(header);
    if (!tensor)
        return fail(tensor.error());
    struct stat info
    { };
    constexpr int wanted = F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE;
    const int seals = fd.valid() ? ::fcntl(fd.get(), F_GET_SEALS) : -1;
    if (seals < 0 || (seals & wanted) != wanted)
        return fail("tensor.seals", "a tensor's memory is not sealed and could change while it is read");
    if (::fstat(fd.get(), &info) != 0 || static_cast<std::size_t>(info.st_size) != (*tensor)->bytes())
        return fail("tensor.size", "a tensor's memory does not have the size of its shape");
    (*tensor)->m_here = true;
    if ((*tensor)->bytes() == 0)
        return TensorPtr(std::move(*tensor));
    auto memory = mapped(fd.get(), (*tensor)->bytes());
    if (!memory)
        return failErrno("cannot map", "a tensor", errno);
    const std::string_view view(static_cast<const char*>(memory.get()), (*tensor)->bytes());
    (*tensor)->m_data = SharedText(std::move(memory), view);
    return TensorPtr(std::move(*tensor));
}

Result<TensorPtr> Tensor::onDevice(const Json& header)
{
    auto tensor = describe(header);
    if (!tensor)
        return fail(tensor.error());
    return TensorPtr(std::move(*tensor));
}

Result<TensorPtr> Tensor::fromBytes(const Json& header, SharedText bytes)
{
    auto tensor = describe(header);
    if (!tensor)
        return fail(tensor.error());
    if (bytes.size() != (*tensor)->bytes())
        return fail("tensor.size", "a tensor's bytes do not have the size of its shape");
    (*tensor)->m_here = true;
    (*tensor)->m_data = std::move(bytes);
    return TensorPtr(std::move(*tensor));
}

TensorPtr Tensor::make(Dtype dtype, std::vector<std::int64_t> shape, SharedText bytes)
{
    auto tensor = std::make_shared<Tensor>();
    tensor->m_dtype = dtype;
    tensor->m_shape = std::move(shape);
    tensor->m_elements = bytes.size() / sizeOf(dtype);
    tensor->m_device = "cpu";
    tensor->m_here = true;
    tensor->m_data = std::move(bytes);
    return tensor;
}

std::vector<std::string> TensorStore::put(const TensorPtr& tensor)
{
    remove(tensor->handle());
    m_order.push_front(tensor);
    m_byHandle[tensor->handle()] = m_order.begin();
    m_bytes += tensor->here() ? tensor->bytes() : 0;
    std::vector<std::string> gone;
    while (m_bytes > m_budget && m_order.size() > 1) {
        gone.push_back(m_order.back()->handle());
        remove(gone.back());
    }
    return gone;
}

TensorPtr TensorStore::get(const std::string& handle)
{
    const auto it = m_byHandle.find(handle);
    if (it == m_byHandle.end())
        return nullptr;
    m_order.splice(m_order.begin(), m_order, it->second);
    return *it->second;
}

bool TensorStore::remove(const std::string& handle)
{
    const auto it = m_byHandle.find(handle);
    if (it == m_byHandle.end())
        return false;
    m_bytes -= (*it->second)->here() ? (*it->second)->bytes() : 0;
    m_order.erase(it->second);
    m_byHandle.erase(it);
    return true;
}

void TensorStore::forgetDevices()
{
    std::vector<std::string> gone;
    for (const TensorPtr& tensor : m_order) {
        if (!tensor->here())
            gone.push_back(tensor->handle());
    }
    for (const std::string& handle : gone)
        remove(handle);
}

} // namespace gb::rpc
