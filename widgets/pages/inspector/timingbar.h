// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <array>

#include <QWidget>

#include <backend/base/json.h>

namespace gb::ui {

// Where the time of a call went: queue, compute, serialise, transfer, in proportion.
class TimingBar final : public QWidget
{
    Q_OBJECT

public:
    explicit TimingBar(QWidget* parent = nullptr);
    void setTiming(const Json& ns);
    void clear();
    QSize sizeHint() const override { return {200, 20}; }
    QSize minimumSizeHint() const override { return {120, 20}; }

protected:
    void paintEvent(QPaintEvent* event) override;

private:
    std::array<std::int64_t, 4> m_parts{};
};

} // namespace gb::ui
