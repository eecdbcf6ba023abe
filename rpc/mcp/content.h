// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <string>

#include "endpoint.h"

namespace gb::rpc {

// The result of tools/call as JSON text: content blocks (images as images), structured content for tools
// whose results are objects, or the error as the agent should read it.
std::string toolResult(const Tool& tool, const McpOutcome& outcome, bool stateless);

} // namespace gb::rpc
