// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <QImage>
#include <QWidget>

#include "tensorfield.h"

namespace gb::ui {

// The first image of a result, scaled down to fit; its bytes come from the host.
class ImageView final : public QWidget
{
    Q_OBJECT

public:
    explicit ImageView(QWidget* parent = nullptr);
    void setImage(const HandleField& image, const TensorFetch& fetch);
    // One that is here already.
    void setPicture(const QImage& image, const QString& caption);
    const QImage& image() const { return m_image; }

Q_SIGNALS:
    void loaded(); // or not: then there is no image

protected:
    void paintEvent(QPaintEvent* event) override;

private:
    void showBytes(const std::string& bytes);

    QImage m_image;
    QString m_text;
    int m_request = 0;
};

} // namespace gb::ui
