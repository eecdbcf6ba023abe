// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <QSize>
#include <QString>

namespace gb::ui {

class MainWindow;

// A picture of a page with live state, for documentation, tests and review.
struct ShotSpec
{
    QString page;
    QString place; // after a colon: inspector:greet
    QString file;
    QSize size = {1280, 800};
    int waitMs = 300; // after the page has settled
};

// Shows the window, waits until it has settled (at most 15 s), saves the picture and leaves the event loop
// with 0, or with 1 when the page or the file cannot be had.
void takeShot(MainWindow& window, const ShotSpec& spec);

} // namespace gb::ui
