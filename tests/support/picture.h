// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <QDir>
#include <QImage>
#include <QSet>
#include <QWidget>

namespace gb::test {

// Draws the widget; kept as a file to look at when GB_PICTURES names a folder.
inline QImage picture(QWidget& widget, const QString& name)
{
    const auto image = widget.grab().toImage();
    const auto folder = qEnvironmentVariable("GB_PICTURES");
    if (!folder.isEmpty()) {
        QDir().mkpath(folder);
        image.save(folder + QLatin1Char('/') + name + QStringLiteral(".png"));
    }
    return image;
}

// How many colours it has, up to 64: one means that nothing was drawn.
inline int colorsIn(const QImage& image)
{
    QSet<QRgb> colors;
    for (int y = 0; y < image.height(); y += 2)
        for (int x = 0; x < image.width() && colors.size() < 64; ++x)
            colors.insert(image.pixel(x, y));
    return static_cast<int>(colors.size());
}

} // namespace gb::test
