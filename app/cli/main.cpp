// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

#include <QCoreApplication>

#include "command.h"

int main(int argc, char** argv)
{
    const QCoreApplication application(argc, argv);
    return gb::cli::runCommand({argv + 1, argv + argc});
}
