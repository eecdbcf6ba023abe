// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <QString>

#include <backend/base/error.h>

namespace gb::ui {

// Messages begin small, as parts of a log's line; where a person reads them they are sentences. A name stays
// as it is written: what has an underscore or a dash, and a package or a program, which stands before its
// verb without an article.
QString beginSentence(QString text);
// The sentence a person reads for an error: translated for the codes the window knows, else the error's own.
QString errorSentence(const Error& error);
// Code and data, for the folded details and the clipboard.
QString errorDetails(const Error& error);

} // namespace gb::ui
