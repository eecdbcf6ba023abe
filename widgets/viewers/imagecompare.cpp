// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

#include "imagecompare.h"

#include <algorithm>
#include <cstdlib>

#include <QComboBox>
#include <QLabel>
#include <QVBoxLayout>

#include <widgets/controls/labels.h>
#include <widgets/controls/numbers.h>
#include <widgets/controls/theme.h>

#include "text.h"

namespace gb::ui {
namespace {

struct PixelDifference
{
    QImage image; // as bright as they differ, stretched to the greatest difference
    std::int64_t pixels = 0;
    int greatest = 0; // of a channel
};

int apart(QRgb a, QRgb b)
{
    return std::max({std::abs(qRed(a) - qRed(b)), std::abs(qGreen(a) - qGreen(b)),
        std::abs(qBlue(a) - qBlue(b)), std::abs(qAlpha(a) - qAlpha(b))});
}

PixelDifference pixelDifference(const QImage& left, const QImage& right)
{
    const auto a = left.convertToFormat(QImage::Format_ARGB32);
    const auto b = right.convertToFormat(QImage::Format_ARGB32);
    PixelDifference difference{QImage(a.size(), QImage::Format_Grayscale8)};
    for (int y = 0; y < a.height(); ++y) {
        const auto* lineA = reinterpret_cast<const QRgb*>(a.constScanLine(y));
        const auto* lineB = reinterpret_cast<const QRgb*>(b.constScanLine(y));
        auto* out = difference.image.scanLine(y);
        for (int x = 0; x < a.width(); ++x) {
            const int by = apart(lineA[x], lineB[x]);
            out[x] = static_cast<uchar>(by);
            difference.pixels += by > 0 ? 1 : 0;
            difference.greatest = std::max(difference.greatest, by);
        }
    }
    if (difference.greatest > 0)
        for (int y = 0; y < a.height(); ++y) {
            auto* out = difference.image.scanLine(y);
            for (int x = 0; x < a.width(); ++x)
                out[x] = static_cast<uchar>(out[x] * 255 / difference.greatest);
        }
    return difference;
}

} // namespace

ImageCompare::ImageCompare(QWidget* parent) : QWidget(parent)
{
    m_summary = makeLabel({}, TextRole::Secondary);
    m_summary->setWordWrap(true);
    m_choice = new QComboBox;
    m_choice->setAccessibleName(ViewersText::tr("How to show the images"));
    m_choice->addItems({ViewersText::tr("Side by side"), ViewersText::tr("Difference"),
        ViewersText::tr("Older only"), ViewersText::tr("Newer only")});
    connect(m_choice, &QComboBox::activated, this, [this](int look) { setLook(static_cast<Look>(look)); });
    auto* bar = new QHBoxLayout;
    bar->setSpacing(space::m);
    bar->addWidget(m_choice);
    bar->addWidget(m_summary, 1);
    auto* views = new QHBoxLayout;
    views->setSpacing(space::s);
    for (auto*& view : m_views) {
        view = new ImageView;
        views->addWidget(view, 1);
        connect(view, &ImageView::loaded, this, &ImageCompare::compare);
    }
    auto* layout = new QVBoxLayout(this);
    layout->setContentsMargins(0, 0, 0, 0);
    layout->setSpacing(space::s);
    layout->addLayout(bar);
    layout->addLayout(views, 1);
    setLook(Look::SideBySide);
}

void ImageCompare::setImages(const HandleField& left, const TensorFetch& fetchLeft, const HandleField& right,
    const TensorFetch& fetchRight)
{
    m_views[0]->setImage(left, fetchLeft);
    m_views[1]->setImage(right, fetchRight);
    compare();
}

void ImageCompare::setLook(Look look)
{
    m_choice->setCurrentIndex(static_cast<int>(look));
    const bool both = look == Look::SideBySide;
    m_views[0]->setVisible(both || look == Look::Left);
    m_views[1]->setVisible(both || look == Look::Right);
    m_views[2]->setVisible(both || look == Look::Difference);
}

QString ImageCompare::summary() const
{
    return m_summary->text();
}

void ImageCompare::compare()
{
    const auto& left = m_views[0]->image();
    const auto& right = m_views[1]->image();
    // The difference says when it is shown, too.
    if (left.isNull() || right.isNull() || !m_difference.isNull())
        return;
    if (left.size() != right.size()) {
        m_summary->setText(ViewersText::tr("The sizes differ: %1 × %2 and %3 × %4 pixels.")
                               .arg(left.width())
                               .arg(left.height())
                               .arg(right.width())
                               .arg(right.height()));
        m_choice->model()->setData(m_choice->model()->index(1, 0), 0, Qt::UserRole - 1);
        m_views[2]->hide();
        return;
    }
    auto difference = pixelDifference(left, right);
    m_difference = difference.image;
    const auto all = static_cast<double>(left.width()) * left.height();
    m_summary->setText(difference.pixels == 0
            ? ViewersText::tr("The images are the same.")
            : ViewersText::tr("%1 of %2 pixels differ (%3 %) · greatest difference of a channel %4")
                  .arg(countText(difference.pixels), countText(static_cast<std::int64_t>(all)),
                      QString::number(100.0 * static_cast<double>(difference.pixels) / all, 'g', 3))
                  .arg(difference.greatest));
    m_views[2]->setPicture(m_difference, ViewersText::tr("where they differ"));
}

} // namespace gb::ui
