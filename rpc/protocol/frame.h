// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include <backend/base/result.h>

namespace gb::rpc {

// The common frame of every stream socket we own: two big-endian 32-bit lengths (JSON, attachment), then the
// JSON text, then the raw bytes. See README.md beside this file for who says what in it.
struct Frame
{
    std::string json;
    std::string attachment;
};

struct FrameLimits
{
    std::size_t json = 16U << 20U;
    std::size_t attachment = 1U << 20U;
};

// The worker's private link carries whole arguments and results in one attachment.
inline constexpr FrameLimits workerLinkLimits{1U << 20U, 1U << 30U};

constexpr std::size_t frameHeaderSize = 8;

std::string encodeFrame(std::string_view json, std::string_view attachment = {});
// Only the eight header bytes, for writers that gather (writev).
std::string encodeFrameHeader(std::size_t jsonSize, std::size_t attachmentSize);

struct FrameSizes
{
    std::uint32_t json = 0;
    std::uint32_t attachment = 0;
};
// For readers that keep their own buffers: what the eight bytes at `header` announce.
FrameSizes decodeFrameHeader(const char* header);

// Cuts a byte stream into frames. An error is final: the peer broke the format and must be dropped. Memory is
// bounded by what has arrived, never by what a header announces.
class FrameReader
{
public:
    explicit FrameReader(FrameLimits limits = {});

    void feed(std::string_view bytes);
    Result<std::optional<Frame>> next();
    std::size_t buffered() const { return m_buffer.size() - m_start; }

private:
    void compact();

    FrameLimits m_limits;
    std::string m_buffer;
    std::size_t m_start = 0;
};

} // namespace gb::rpc
