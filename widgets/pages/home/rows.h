// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <QAbstractButton>
#include <QList>

class QHBoxLayout;

namespace gb::ui {

// A line of a list that is pressed as a whole.
class RowButton final : public QAbstractButton
{
    Q_OBJECT

public:
    explicit RowButton(const QString& name, QWidget* parent = nullptr);
    QHBoxLayout* line() const { return m_line; }

protected:
    void paintEvent(QPaintEvent* event) override;

private:
    QHBoxLayout* m_line = nullptr;
};

// Rows of one height, as many of them as there is room for.
class FittingRows final : public QWidget
{
    Q_OBJECT

public:
    // Never fewer than these, as long as there are so many.
    explicit FittingRows(int fewest, QWidget* parent = nullptr);
    void setRows(const QList<QWidget*>& rows);
    QSize sizeHint() const override;
    QSize minimumSizeHint() const override { return sizeHint(); }

protected:
    void resizeEvent(QResizeEvent* event) override;

private:
    int rowHeight() const;
    void place();

    int m_fewest;
    QList<QWidget*> m_rows;
};

} // namespace gb::ui
