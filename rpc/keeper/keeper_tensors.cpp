// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

#include "keeper.h"

#include <backend/base/json.h>
#include <backend/base/log.h>

namespace gb::rpc {
namespace {

Error goneError()
{
    return {"handle_gone", "this tensor is not kept any more; call the function again"};
}

// "0:10,3" → [[0,10,1],[3,4,1]] for a worker; only plain forms are cut on a device.
std::optional<Json> deviceSlice(std::string_view slice)
{
    Json ranges = Json::array();
    while (!slice.empty()) {
        const std::size_t comma = slice.find(',');
        const std::string part(slice.substr(0, comma));
        long long start = 0;
        long long stop = 0;
        int used = 0;
        const auto whole = static_cast<int>(part.size());
        if (std::sscanf(part.c_str(), "%lld:%lld%n", &start, &stop, &used) == 2 && used == whole)
            ranges.push_back({start, stop, 1});
        else if (part == ":")
            ranges.push_back({nullptr, nullptr, 1});
        else
            return std::nullopt;
        slice = comma == std::string_view::npos ? std::string_view() : slice.substr(comma + 1);
    }
    return ranges;
}

} // namespace

Result<std::vector<TensorPtr>> Keeper::adoptTensors(const Json& headers, std::vector<UniqueFd> descriptors)
{
    std::vector<TensorPtr> tensors;
    std::size_t next = 0;
    for (const Json& header : headers) {
        const bool expected = boolOr(header, "fd");
        UniqueFd fd;
        if (expected && next < descriptors.size())
            fd = std::move(descriptors[next++]);
        auto tensor = expected ? Tensor::fromDescriptor(header, std::move(fd)) : Tensor::onDevice(header);
        if (!tensor) {
            logWarning("keeper", tensor.error().message, {{"code", tensor.error().code}});
            return fail(tensor.error());
        }
        tensors.push_back(std::move(*tensor));
    }
    for (const TensorPtr& tensor : tensors) {
        for (const std::string& gone : m_tensors.put(tensor))
            m_worker->release(gone);
    }
    return tensors;
}

void Keeper::takeTensors(Finished& finished, WorkerResult& result)
{
    auto tensors = adoptTensors(result.tensors, std::move(result.descriptors));
    if (tensors) {
        finished.tensors = std::move(*tensors);
        return;
    }
    finished.outcome->error = callError("not_serialisable", tensors.error().message);
    finished.outcome->state = "error";
    finished.outcome->result = {};
}

void Keeper::tensor(const std::string& handle, const std::string& slice, TensorHandler handler)
{
    const TensorPtr found = m_tensors.get(handle);
    if (!found)
        return handler(fail(goneError()));
    if (found->here())
        return handler(slice.empty() ? Result<TensorPtr>(found) : sliced(*found, slice));
    const auto ranges = deviceSlice(slice);
    if (!ranges)
        return handler(fail("tensor.slice", "a tensor on a device is cut by start:stop in each dimension"));
    if (!m_worker || !m_loaded)
        return handler(fail(goneError()));
    const std::int64_t id = m_nextWorkerId++;
    m_tensorReads[id] = std::move(handler);
    m_worker->readTensor(
        id, handle, slice.empty() ? Json{{"what", "whole"}} : Json{{"what", "slice"}, {"slice", *ranges}});
}

void Keeper::onTensorData(const Json& header, const SharedText& bytes, std::vector<UniqueFd> fds)
{
    const auto it = m_tensorReads.find(integerOr(header, "id", -1));
    if (it == m_tensorReads.end())
        return;
    const TensorHandler handler = std::move(it->second);
    m_tensorReads.erase(it);
    if (!boolOr(header, "ok"))
        return handler(
            fail("handle_gone", stringOr(objectOr(header, "error"), "message", goneError().message)));
    Json named = header;
    named["handle"] = "read";
    handler(fds.empty() ? Tensor::fromBytes(named, bytes)
                        : Tensor::fromDescriptor(named, std::move(fds.front())));
}

void Keeper::failTensorReads()
{
    auto reads = std::move(m_tensorReads);
    m_tensorReads.clear();
    for (const auto& [id, handler] : reads)
        handler(fail(goneError()));
}

bool Keeper::releaseTensor(const std::string& handle)
{
    if (!m_tensors.remove(handle))
        return false;
    if (m_worker)
        m_worker->release(handle);
    return true;
}

} // namespace gb::rpc
