// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

#include "shot.h"

#include <cstdio>

#include <QApplication>
#include <QElapsedTimer>
#include <QPixmap>
#include <QTimer>

#include "mainwindow.h"

namespace gb::ui {
namespace {

constexpr int shotPatienceMs = 15'000;

void saveShot(MainWindow& window, const ShotSpec& spec)
{
    const bool saved = window.grab().save(spec.file);
    if (!saved)
        std::fprintf(stderr, "cannot write %s\n", qPrintable(spec.file));
    QApplication::exit(saved ? 0 : 1);
}

} // namespace

void takeShot(MainWindow& window, const ShotSpec& spec)
{
    window.resize(spec.size);
    window.showPage(spec.page, spec.place);
    window.show();
    auto* poll = new QTimer(&window);
    QElapsedTimer since;
    since.start();
    QObject::connect(poll, &QTimer::timeout, &window, [poll, &window, spec, since] {
        if (!window.settled() && since.elapsed() < shotPatienceMs)
            return;
        poll->stop();
        QTimer::singleShot(spec.waitMs, &window, [&window, spec] { saveShot(window, spec); });
    });
    poll->start(20);
}

} // namespace gb::ui
