// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <backend/base/json.h>

#include "reply.h"

namespace gb::service {

class Sandboxes;

// Starts a command and tells the caller of its output as "sandboxes.output" and "sandboxes.exit", also after
// the answer. A caller that does not read holds up this command and nothing else; one that goes away does not
// end it.
void runInside(Sandboxes* sandboxes, const std::string& sandbox, Json body, Reply reply);

} // namespace gb::service
