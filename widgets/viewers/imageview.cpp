// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

#include "imageview.h"

#include <algorithm>

#include <QBuffer>
#include <QImageReader>
#include <QPainter>
#include <QPointer>

#include <widgets/controls/errortext.h>
#include <widgets/controls/theme.h>

#include "text.h"

namespace gb::ui {
namespace {

constexpr int imageFoot = 24;
constexpr int imageMostSide = 16'384;
constexpr int imageLargest = 16; // times

} // namespace

ImageView::ImageView(QWidget* parent) : QWidget(parent)
{
    setAccessibleName(ViewersText::tr("Image"));
    setMinimumSize(120, 80);
    connect(&Theme::instance(), &Theme::changed, this, qOverload<>(&QWidget::update));
}

void ImageView::setImage(const HandleField& image, const TensorFetch& fetch)
{
    m_image = {};
    m_text = ViewersText::tr("The image is no longer held by the host.");
    update();
    if (!fetch)
        return;
    m_text.clear();
    const auto request = ++m_request;
    fetch({{"handle", image.handle.toStdString()}, {"what", "slice"}},
        [guard = QPointer(this), request](Result<api::Answer> answer) {
            if (!guard || request != guard->m_request)
                return;
            if (answer)
                guard->showBytes(answer->attachment);
            else
                guard->m_text = errorSentence(answer.error());
            guard->update();
            Q_EMIT guard->loaded();
        });
}

void ImageView::setPicture(const QImage& image, const QString& caption)
{
    ++m_request;
    m_image = image;
    m_text = caption;
    setAccessibleDescription(m_text);
    update();
}

void ImageView::showBytes(const std::string& bytes)
{
    auto data = QByteArray::fromRawData(bytes.data(), static_cast<qsizetype>(bytes.size()));
    QBuffer buffer(&data);
    buffer.open(QIODevice::ReadOnly);
    // The record form is PNG only; no other decoder sees bytes a function made.
    QImageReader reader(&buffer, "png");
    reader.setDecideFormatFromContent(false);
    const auto size = reader.size();
    if (!size.isValid() || size.width() > imageMostSide || size.height() > imageMostSide
        || !reader.read(&m_image)) {
        m_image = {};
        m_text = ViewersText::tr("This image cannot be shown.");
        return;
    }
    m_text = ViewersText::tr("%1 × %2 pixels").arg(m_image.width()).arg(m_image.height());
    setAccessibleDescription(m_text);
}

void ImageView::paintEvent(QPaintEvent*)
{
    QPainter painter(this);
    painter.fillRect(rect(), tokens().sunken);
    const auto room = rect().adjusted(space::s, space::s, -space::s, -imageFoot);
    if (!m_image.isNull() && room.isValid()) {
        auto size = m_image.size();
        if (size.width() > room.width() || size.height() > room.height())
            size.scale(room.size(), Qt::KeepAspectRatio);
        // A small one is shown with whole pixels, so that each can be told apart.
        const int larger =
            std::min({room.width() / m_image.width(), room.height() / m_image.height(), imageLargest});
        if (larger > 1)
            size = m_image.size() * larger;
        QRect target(QPoint(), size);
        target.moveCenter(room.center());
        painter.setRenderHint(QPainter::SmoothPixmapTransform, larger <= 1);
        painter.drawImage(target, m_image);
        painter.setPen(tokens().border);
        painter.setBrush(Qt::NoBrush);
        painter.drawRect(target.adjusted(-1, -1, 0, 0));
    }
    painter.setPen(tokens().secondary);
    painter.setFont(Theme::instance().font(TextSize::Caption));
    painter.drawText(
        rect().adjusted(space::s, 0, -space::s, -space::xs), Qt::AlignBottom | Qt::AlignLeft, m_text);
}

} // namespace gb::ui
