// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <QString>

#include <backend/api/client.h>

class QCommandLineParser;

namespace gb::ui {

void addWindowOptions(QCommandLineParser& parser);
// What was asked for and is not there, as a sentence; empty: everything is.
QString refusedOption(const QCommandLineParser& parser, const QString& page, api::Client& client);

} // namespace gb::ui
