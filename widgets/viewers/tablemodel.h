// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <memory>
#include <string>

#include <QAbstractTableModel>

#include "jsonslice.h"

namespace gb::ui {

// A list of objects, a list of lists, or a data frame in record form, as rows. Cells are cut out of the text
// when they are painted.
class TableModel final : public QAbstractTableModel
{
    Q_OBJECT

public:
    explicit TableModel(QObject* parent = nullptr);

    // False when the text is not a table; the model is then empty.
    bool setText(std::shared_ptr<const std::string> text);
    QString asCsv() const;

    int rowCount(const QModelIndex& parent = {}) const override;
    int columnCount(const QModelIndex& parent = {}) const override;
    QVariant data(const QModelIndex& index, int role) const override;
    QVariant headerData(int section, Qt::Orientation orientation, int role) const override;
    void sort(int column, Qt::SortOrder order) override;

private:
    JsonSlice cell(const JsonSlice& row, int column) const;
    bool readFrame(const JsonSlice& whole);
    bool readList(const JsonSlice& whole);

    std::shared_ptr<const std::string> m_text;
    std::vector<JsonSlice> m_rows;
    QStringList m_columns;
    bool m_objects = false;
};

} // namespace gb::ui
