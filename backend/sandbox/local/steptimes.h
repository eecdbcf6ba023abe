// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <mutex>
#include <vector>

#include <backend/sandbox/sandboxprovider.h>

namespace gb {

// What steps took and brought the last time they were done, so that a plan can say it before they are done
// again: an image may have been removed meanwhile. By the steps' ids, the newest few hundred.
class StepTimes
{
public:
    explicit StepTimes(fs::path file) : m_file(std::move(file)) { }

    void keep(const PlanStep& step, double seconds);
    // For steps that are still to be done.
    void fill(std::vector<PlanStep>& steps) const;

private:
    Json read() const;

    fs::path m_file;
    mutable std::mutex m_mutex;
};

} // namespace gb
