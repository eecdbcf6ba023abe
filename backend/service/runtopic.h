// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <backend/store/store.h>

namespace gb::service {

class StateHub;

Json runItem(const RunRecord& run);
// The topic `runs`: what is live, and the newest.
void publishRuns(Store* store, StateHub* state);
void publishRun(Store* store, StateHub* state, const std::string& run);
void endRunIfLive(Store* store, const std::string& run);

} // namespace gb::service
