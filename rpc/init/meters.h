// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <backend/base/json.h>

namespace gb::init {

// What the sandbox uses now: resident memory and processor time of everything in it, and what is free where.
Json readMeters();

} // namespace gb::init
