// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <memory>

#include "link.h"

namespace gb::init {

// A file on its way in: written beside its place and moved there when it is whole.
class Upload
{
public:
    static Result<std::unique_ptr<Upload>> start(const Json& request, Link& link);
    ~Upload();

    std::int64_t channel() const { return m_channel; }
    Status write(std::string_view bytes);
    Status finish();
    // From an open file of the keeper instead of frames: copied by the kernel, a piece at a time.
    bool hasSource() const { return m_source.valid(); }
    Result<bool> copySome(); // true at the end of the source

private:
    enum : int { InKernel, ThroughPages, ByHand }; // ways of copying
    ssize_t copyPiece(std::size_t most);

    std::int64_t m_channel = 0;
    Link* m_link = nullptr;
    UniqueFd m_source;
    std::int64_t m_left = 0; // of its size when it was opened
    int m_way = InKernel; // the next one when the kernel cannot do it for these two files
    std::string m_target;
    std::string m_temporary;
    unsigned m_mode = 0;
    std::int64_t m_bytes = 0;
    UniqueFd m_file;
};

// A file on its way out, as fast as credit comes in.
class Download
{
public:
    static Result<std::unique_ptr<Download>> start(const Json& request, Link& link);

    std::int64_t channel() const { return m_channel; }
    void addCredit(std::int64_t bytes) { m_credit += bytes; }
    bool canSend() const { return m_credit > 0 && !m_link->congested(); }
    // True when the end (or an error) has been sent.
    bool sendSome();

private:
    std::int64_t m_channel = 0;
    Link* m_link = nullptr;
    std::int64_t m_credit = 0;
    std::int64_t m_left = 0; // of its size when it was opened: one that grows all the time has an end as well
    UniqueFd m_file;
};

Result<Json> listFolder(const std::string& path, const std::string& after, std::size_t limit);
Result<Json> statPath(const std::string& path);
Status makeFolders(const std::string& path, unsigned mode);

} // namespace gb::init
