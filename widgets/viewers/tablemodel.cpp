// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

#include "tablemodel.h"

#include <algorithm>

#include <widgets/controls/theme.h>

namespace gb::ui {
namespace {

constexpr std::size_t tableProbe = 200; // rows that are looked at to learn the columns
constexpr qsizetype tableColumns = 500;

} // namespace

TableModel::TableModel(QObject* parent) : QAbstractTableModel(parent) { }

bool TableModel::setText(std::shared_ptr<const std::string> text)
{
    beginResetModel();
    m_text = std::move(text);
    m_rows.clear();
    m_columns.clear();
    const auto whole = wholeJson(*m_text);
    const bool table = jsonMember(*m_text, whole, "$gb") ? readFrame(whole) : readList(whole);
    if (!table)
        m_rows.clear();
    endResetModel();
    return table;
}

bool TableModel::readFrame(const JsonSlice& whole)
{
    const auto& text = *m_text;
    const auto columns = jsonMember(text, whole, "columns");
    const auto rows = jsonMember(text, whole, "rows");
    if (!columns || !rows)
        return false;
    for (const auto& column : jsonChildren(text, *columns))
        if (const auto name = jsonMember(text, column, "name"))
            m_columns += jsonScalarText(text, *name);
    m_rows = jsonChildren(text, *rows);
    m_objects = false;
    return !m_columns.isEmpty();
}

bool TableModel::readList(const JsonSlice& whole)
{
    const auto& text = *m_text;
    if (jsonKind(text, whole) != JsonKind::Array)
        return false;
    const auto probe = jsonChildren(text, whole, tableProbe);
    if (probe.empty())
        return false;
    m_objects = jsonKind(text, probe.front()) == JsonKind::Object;
    qsizetype widest = 0;
    for (const auto& row : probe) {
        if (jsonKind(text, row) != (m_objects ? JsonKind::Object : JsonKind::Array))
            return false;
        qsizetype at = 0;
        for (const auto& field : jsonChildren(text, row, tableColumns)) {
            ++at;
            if (!m_objects)
                continue;
            const auto key = jsonKey(text, field);
            if (!m_columns.contains(key) && m_columns.size() < tableColumns)
                m_columns += key;
        }
        widest = std::max(widest, at);
    }
    if (!m_objects)
        for (qsizetype i = 0; i < widest; ++i)
            m_columns += QString::number(i);
    // Record forms are objects too, but not rows.
    if (m_columns.isEmpty() || m_columns.first() == QLatin1String("$gb"))
        return false;
    m_rows = jsonChildren(text, whole);
    return true;
}

int TableModel::rowCount(const QModelIndex& parent) const
{
    return parent.isValid() ? 0 : static_cast<int>(m_rows.size());
}

int TableModel::columnCount(const QModelIndex& parent) const
{
    return parent.isValid() ? 0 : static_cast<int>(m_columns.size());
}

JsonSlice TableModel::cell(const JsonSlice& row, int column) const
{
    if (m_objects) {
        const auto key = m_columns[column];
        for (const auto& field : jsonChildren(*m_text, row, tableColumns))
            if (jsonKey(*m_text, field) == key)
                return field;
        return {};
    }
    const auto cells = jsonChildren(*m_text, row, static_cast<std::size_t>(column) + 1);
    return static_cast<std::size_t>(column) < cells.size() ? cells[static_cast<std::size_t>(column)]
                                                           : JsonSlice{};
}

QVariant TableModel::data(const QModelIndex& index, int role) const
{
    if (!index.isValid())
        return {};
    const auto slice = cell(m_rows[static_cast<std::size_t>(index.row())], index.column());
    if (role == Qt::DisplayRole)
        return jsonScalarText(*m_text, slice, 200).replace(QLatin1Char('\n'), QChar(0x21B5));
    if (role == Qt::ToolTipRole)
        return jsonScalarText(*m_text, slice, 2000).toHtmlEscaped();
    const auto kind = jsonKind(*m_text, slice);
    if (role == Qt::TextAlignmentRole)
        return static_cast<int>(
            Qt::AlignVCenter | (kind == JsonKind::Number ? Qt::AlignRight : Qt::AlignLeft));
    if (role == Qt::ForegroundRole && kind == JsonKind::Null)
        return tokens().secondary;
    return {};
}

QVariant TableModel::headerData(int section, Qt::Orientation orientation, int role) const
{
    // A column's name stands over its values.
    if (role == Qt::TextAlignmentRole && orientation == Qt::Horizontal)
        return rowCount() > 0 ? data(index(0, section), role)
                              : QVariant(int(Qt::AlignVCenter | Qt::AlignLeft));
    if (role != Qt::DisplayRole)
        return {};
    return orientation == Qt::Horizontal ? QVariant(m_columns.value(section)) : QVariant(section);
}

void TableModel::sort(int column, Qt::SortOrder order)
{
    if (column < 0 || column >= m_columns.size())
        return;
    struct Key
    {
        std::optional<double> number;
        QString text;
        JsonSlice row;
    };
    std::vector<Key> keys;
    keys.reserve(m_rows.size());
    for (const auto& row : m_rows) {
        const auto slice = cell(row, column);
        const auto number = jsonNumber(*m_text, slice);
        keys.push_back({number, number ? QString() : jsonScalarText(*m_text, slice, 200), row});
    }
    // Numbers before words, each among themselves.
    const auto less = [](const Key& a, const Key& b) {
        if (a.number && b.number)
            return *a.number < *b.number;
        return a.number.has_value() != b.number.has_value() ? a.number.has_value() : a.text < b.text;
    };
    beginResetModel();
    if (order == Qt::AscendingOrder)
        std::ranges::stable_sort(keys, less);
    else
        std::ranges::stable_sort(keys, [&less](const Key& a, const Key& b) { return less(b, a); });
    for (std::size_t i = 0; i < keys.size(); ++i)
        m_rows[i] = keys[i].row;
    endResetModel();
}

QString TableModel::asCsv() const
{
    const auto quoted = [](QString text) {
        if (!text.contains(QLatin1Char(',')) && !text.contains(QLatin1Char('"'))
            && !text.contains(QLatin1Char('\n')))
            return text;
        return QLatin1Char('"') + text.replace(QLatin1Char('"'), QStringLiteral("\"\"")) + QLatin1Char('"');
    };
    QStringList lines;
    QStringList line;
    for (const auto& column : m_columns)
        line += quoted(column);
    lines += line.join(QLatin1Char(','));
    for (const auto& row : m_rows) {
        line.clear();
        for (int column = 0; column < m_columns.size(); ++column)
            line += quoted(jsonScalarText(*m_text, cell(row, column), SIZE_MAX));
        lines += line.join(QLatin1Char(','));
    }
    return lines.join(QLatin1Char('\n')) + QLatin1Char('\n');
}

} // namespace gb::ui
