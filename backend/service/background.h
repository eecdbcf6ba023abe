// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <functional>

#include <QObject>

#include "reply.h"

namespace gb::service {

// Runs what may take longer than a moment (searching the store) on a pool thread and answers with it. `guard`
// must live until the pool is idle.
void answerFromPool(QObject* guard, Reply reply, std::function<Result<api::Answer>()> work);

} // namespace gb::service
