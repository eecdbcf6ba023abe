// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <QWidget>

class QGridLayout;

namespace gb::ui {

// Names on the left, values on the right, each copied with one click.
class KeyValueList final : public QWidget
{
    Q_OBJECT

public:
    explicit KeyValueList(QWidget* parent = nullptr);

    struct Row
    {
        QString key;
        QString value;
        bool mono = false;
    };
    void setRows(const QList<Row>& rows);
    int count() const { return static_cast<int>(m_rows.size()); }

Q_SIGNALS:
    void copied(const QString& value);

private:
    QList<Row> m_rows;
    QGridLayout* m_layout = nullptr;
};

} // namespace gb::ui
