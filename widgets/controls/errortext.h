// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <QString>

#include <backend/base/error.h>

namespace gb::ui {

// The sentence a person reads for an error: translated for the codes the window knows, else the error's own.
QString errorSentence(const Error& error);
// Code and data, for the folded details and the clipboard.
QString errorDetails(const Error& error);

} // namespace gb::ui
