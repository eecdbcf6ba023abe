// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <functional>
#include <string>

#include <backend/base/json.h>

namespace gb::api {

// What a method gives back: an object, and a text or raw bytes that travel as they are.
struct Answer
{
    Json body;
    std::string attachment;
};
using AnswerHandler = std::function<void(Result<Answer>)>;

} // namespace gb::api
