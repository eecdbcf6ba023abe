// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

#include "frame.h"

namespace gb::rpc {
namespace {

void appendLength(std::string& out, std::size_t length)
{
    for (int shift = 24; shift >= 0; shift -= 8)
        out += static_cast<char>((length >> shift) & 0xff);
}

std::uint32_t readLength(const char* bytes)
{
    std::uint32_t length = 0;
    for (int i = 0; i < 4; ++i)
        length = (length << 8U) | static_cast<unsigned char>(bytes[i]);
    return length;
}

} // namespace

std::string encodeFrameHeader(std::size_t jsonSize, std::size_t attachmentSize)
{
    std::string out;
    out.reserve(frameHeaderSize);
    appendLength(out, jsonSize);
    appendLength(out, attachmentSize);
    return out;
}

FrameSizes decodeFrameHeader(const char* header)
{
    return {readLength(header), readLength(header + 4)};
}

std::string encodeFrame(std::string_view json, std::string_view attachment)
{
    std::string out;
    out.reserve(frameHeaderSize + json.size() + attachment.size());
    appendLength(out, json.size());
    appendLength(out, attachment.size());
    out += json;
    out += attachment;
    return out;
}

FrameReader::FrameReader(FrameLimits limits) : m_limits(limits) { }

void FrameReader::feed(std::string_view bytes)
{
    compact();
    m_buffer += bytes;
}

Result<std::optional<Frame>> FrameReader::next()
{
    if (buffered() < frameHeaderSize)
        return std::nullopt;
    const FrameSizes sizes = decodeFrameHeader(m_buffer.data() + m_start);
    const std::size_t jsonSize = sizes.json;
    const std::size_t attachmentSize = sizes.attachment;
    if (jsonSize == 0 || jsonSize > m_limits.json)
        return fail("frame.json_size",
            "a frame announces " + std::to_string(jsonSize) + " bytes of JSON; 1 to "
                + std::to_string(m_limits.json) + " are allowed");
    if (attachmentSize > m_limits.attachment)
        return fail("frame.attachment_size",
            "a frame announces an attachment of " + std::to_string(attachmentSize) + " bytes; up to "
                + std::to_string(m_limits.attachment) + " are allowed");
    if (buffered() < frameHeaderSize + jsonSize + attachmentSize)
        return std::nullopt;
    Frame frame{m_buffer.substr(m_start + frameHeaderSize, jsonSize),
        m_buffer.substr(m_start + frameHeaderSize + jsonSize, attachmentSize)};
    m_start += frameHeaderSize + jsonSize + attachmentSize;
    return frame;
}

void FrameReader::compact()
{
    // Moving the rest to the front on every feed would be quadratic for a burst of small frames.
    if (m_start == m_buffer.size()) {
        m_buffer.clear();
        m_start = 0;
    } else if (m_start > (1U << 16U) && m_start > m_buffer.size() / 2) {
        m_buffer.erase(0, m_start);
        m_start = 0;
    }
}

} // namespace gb::rpc
