// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <QList>
#include <QWidget>

#include "tokens.h"

namespace gb::ui {

// One figure over time: name, present value with unit, share of a limit, and the last two minutes as a line.
class Meter final : public QWidget
{
    Q_OBJECT

public:
    explicit Meter(const QString& name, QWidget* parent = nullptr);
    // A limit of 0: there is none, the line scales itself.
    void setReading(double value, double limit, const QString& text);
    void setUnavailable(const QString& why);

    QSize sizeHint() const override { return {160, 56}; }
    QSize minimumSizeHint() const override { return {96, 48}; }

protected:
    void paintEvent(QPaintEvent* event) override;

private:
    Tone tone() const;

    QString m_name;
    QString m_text;
    QString m_why;
    double m_limit = 0;
    QList<double> m_history;
};

} // namespace gb::ui
