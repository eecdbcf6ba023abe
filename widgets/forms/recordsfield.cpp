// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

#include "recordsfield.h"

#include <QCheckBox>
#include <QComboBox>
#include <QCompleter>
#include <QHBoxLayout>
#include <QLabel>
#include <QLineEdit>
#include <QPushButton>
#include <QToolButton>

#include <widgets/controls/buttons.h>
#include <widgets/controls/frames.h>
#include <widgets/controls/labels.h>
#include <widgets/controls/tokens.h>
#include <widgets/itemmodels/fields.h>

#include "linetext.h"
#include "problemtext.h"
#include "text.h"

namespace gb::ui {

RecordsField::RecordsField(std::vector<RecordColumn> columns, const QString& addText, QWidget* parent)
    : SchemaField(parent), m_columns(std::move(columns))
{
    auto* layout = new QVBoxLayout(this);
    layout->setContentsMargins(0, 0, 0, 0);
    layout->setSpacing(space::s);
    m_cards = new QVBoxLayout;
    m_cards->setSpacing(space::s);
    layout->addLayout(m_cards);
    m_buttons = new QHBoxLayout;
    m_buttons->setSpacing(space::s);
    m_buttons->addStretch(1);
    layout->addLayout(m_buttons);
    addButton(addText, QStringLiteral("plus"), [this] {
        append(Json::object());
        m_rows.last().editors.value(QString::fromStdString(m_columns.front().key))->setFocus();
    });
}

void RecordsField::addButton(const QString& text, const QString& iconName, std::function<void()> act)
{
    auto* button = makeButton(text, ButtonKind::Normal, iconName);
    connect(button, &QPushButton::clicked, this, std::move(act));
    m_buttons->insertWidget(m_buttons->count() - 1, button);
    if (m_buttons->count() == 2)
        setFocusProxy(button);
}

QString RecordsField::titleOf(const QString& key) const
{
    for (const auto& column : m_columns)
        if (key == QLatin1String(column.key.c_str()))
            return column.title;
    return {};
}

void RecordsField::setProposals(const std::string& key, const QStringList& proposals)
{
    const auto name = QString::fromStdString(key);
    m_proposals[name] = proposals;
    for (const auto& row : m_rows)
        if (auto* line = qobject_cast<QLineEdit*>(row.editors.value(name))) {
            auto* completer = new QCompleter(proposals, line);
            completer->setFilterMode(Qt::MatchContains);
            completer->setCaseSensitivity(Qt::CaseInsensitive);
            line->setCompleter(completer);
        }
}

QWidget* RecordsField::makeEditor(const RecordColumn& column)
{
    if (column.kind == RecordColumn::Kind::Switch) {
        auto* box = new QCheckBox(column.title);
        box->setToolTip(column.hint);
        return box;
    }
    if (column.kind == RecordColumn::Kind::Choice) {
        auto* combo = new QComboBox;
        for (const auto& [text, value] : column.choices)
            combo->addItem(text, QString::fromStdString(value));
        combo->setAccessibleName(column.title);
        return combo;
    }
    auto* line = new QLineEdit;
    line->setPlaceholderText(column.hint);
    line->setAccessibleName(column.title);
    const auto proposals = m_proposals.value(QString::fromStdString(column.key));
    if (!proposals.isEmpty()) {
        auto* completer = new QCompleter(proposals, line);
        completer->setFilterMode(Qt::MatchContains);
        completer->setCaseSensitivity(Qt::CaseInsensitive);
        line->setCompleter(completer);
    }
    return line;
}

QWidget* RecordsField::makeCell(const RecordColumn& column, Row& row)
{
    auto* editor = makeEditor(column);
    const auto key = column.key;
    const auto changed = [this, card = row.card, key] { editedIn(card, key); };
    if (auto* line = qobject_cast<QLineEdit*>(editor))
        connect(line, &QLineEdit::textEdited, this, changed);
    else if (auto* box = qobject_cast<QCheckBox*>(editor))
        connect(box, &QCheckBox::clicked, this, changed);
    else if (auto* combo = qobject_cast<QComboBox*>(editor))
        connect(combo, &QComboBox::activated, this, changed);
    row.editors[QString::fromStdString(key)] = editor;
    if (column.kind == RecordColumn::Kind::Switch)
        return editor;
    auto* cell = new QWidget;
    auto* layout = new QVBoxLayout(cell);
    layout->setContentsMargins(0, 0, 0, 0);
    layout->setSpacing(2);
    layout->addWidget(makeLabel(column.title, TextRole::Caption));
    layout->addWidget(editor);
    return cell;
}

RecordsField::Row RecordsField::makeRow()
{
    Row row;
    row.card = makeFrame(FrameKind::Well, this);
    auto* inside = new QVBoxLayout(row.card);
    inside->setContentsMargins(space::m, space::s, space::s, space::s);
    inside->setSpacing(space::s);
    int lines = 1;
    for (const auto& column : m_columns)
        lines = qMax(lines, column.line + 1);
    for (int i = 0; i < lines; ++i) {
        auto* line = new QHBoxLayout;
        line->setSpacing(space::s);
        for (const auto& column : m_columns) {
            if (column.line != i)
                continue;
            auto* cell = makeCell(column, row);
            row.cells[QString::fromStdString(column.key)] = cell;
            line->addWidget(cell, column.stretch, Qt::AlignBottom);
        }
        if (i > 0)
            line->addStretch(1);
        else {
            auto* remove = makeIconButton(QStringLiteral("close"), FormsText::tr("Remove this entry"));
            connect(remove, &QToolButton::clicked, this, [this, card = row.card] { removeRow(card); });
            line->addWidget(remove, 0, Qt::AlignTop);
        }
        inside->addLayout(line);
    }
    row.problem = makeComplaint();
    inside->addWidget(row.problem);
    m_cards->addWidget(row.card);
    row.card->show();
    return row;
}

void RecordsField::fill(Row& row, const Json& record)
{
    row.extra = record.is_object() ? record : Json::object();
    for (const auto& column : m_columns) {
        auto* editor = row.editors.value(QString::fromStdString(column.key));
        const auto found = row.extra.find(column.key);
        const Json now = found == row.extra.end() ? column.initial : *found;
        row.extra.erase(column.key);
        const auto text = now.is_null() ? QString()
            : now.is_string()           ? QString::fromStdString(now.get<std::string>())
                                        : compactJson(now);
        if (auto* line = qobject_cast<QLineEdit*>(editor)) {
            if (line->text().trimmed() != text)
                showIn(line, text);
        } else if (auto* box = qobject_cast<QCheckBox*>(editor)) {
            box->setChecked(now.is_boolean() && now.get<bool>());
        } else if (auto* combo = qobject_cast<QComboBox*>(editor)) {
            combo->setCurrentIndex(qMax(0, combo->findData(text)));
        }
    }
    showCells(row);
}

Json RecordsField::read(const Row& row) const
{
    Json record = Json::object();
    for (const auto& column : m_columns) {
        const auto* editor = row.editors.value(QString::fromStdString(column.key));
        Json now;
        if (const auto* line = qobject_cast<const QLineEdit*>(editor))
            now = line->text().trimmed().toStdString();
        else if (const auto* box = qobject_cast<const QCheckBox*>(editor))
            now = box->isChecked();
        else if (const auto* combo = qobject_cast<const QComboBox*>(editor))
            now = combo->currentData().toString().toStdString();
        const auto* text = now.get_ptr<const std::string*>();
        const bool empty = now == false || (text && text->empty());
        if (now != column.initial && (!empty || !column.initial.is_null()))
            record[column.key] = now;
    }
    for (const auto& [key, value] : row.extra.items())
        record[key] = value;
    // The first column is what the record is about, so it is there even while it is empty.
    if (!record.contains(m_columns.front().key))
        record[m_columns.front().key] = "";
    return record;
}

void RecordsField::showCells(Row& row)
{
    const auto record = read(row);
    for (const auto& column : m_columns)
        if (column.shown)
            row.cells.value(QString::fromStdString(column.key))->setVisible(column.shown(record));
}

Json RecordsField::record(int index) const
{
    return read(m_rows.at(index));
}

void RecordsField::setRecord(int index, const Json& record)
{
    fill(m_rows[index], record);
    Q_EMIT edited();
}

void RecordsField::append(const Json& record)
{
    m_rows += makeRow();
    fill(m_rows.last(), record);
    Q_EMIT edited();
}

Json RecordsField::value() const
{
    Json records = Json::array();
    for (const auto& row : m_rows)
        records.push_back(read(row));
    return m_codec.fromRecords ? m_codec.fromRecords(records) : records;
}

void RecordsField::setValue(const Json& wanted)
{
    if (wanted == value())
        return;
    const auto records = m_codec.toRecords ? m_codec.toRecords(wanted) : wanted;
    const auto size = records.is_array() ? static_cast<qsizetype>(records.size()) : 0;
    while (m_rows.size() > size) {
        auto* card = m_rows.takeLast().card;
        card->hide();
        card->deleteLater();
    }
    while (m_rows.size() < size)
        m_rows += makeRow();
    for (qsizetype i = 0; i < size; ++i) {
        const auto& item = records[static_cast<std::size_t>(i)];
        // A bare text is the short spelling of a record that has only its first column.
        fill(m_rows[i], item.is_string() ? Json{{m_columns.front().key, item}} : item);
    }
}

void RecordsField::enter(int index, const QString& key)
{
    if (index < 0 || index >= m_rows.size())
        return setFocus(Qt::ShortcutFocusReason);
    const auto& row = m_rows[index];
    auto* editor = row.editors.value(key);
    if (!editor || !editor->isVisibleTo(row.card))
        editor = row.editors.value(QString::fromStdString(m_columns.front().key));
    editor->setFocus(Qt::ShortcutFocusReason);
}

void RecordsField::setProblems(const QMap<int, QStringList>& byRecord)
{
    for (int i = 0; i < m_rows.size(); ++i) {
        const auto text = byRecord.value(i).join(QLatin1Char('\n'));
        showComplaint(m_rows[i].problem, text);
    }
}

void RecordsField::editedIn(QWidget* card, const std::string& key)
{
    for (int i = 0; i < m_rows.size(); ++i) {
        if (m_rows[i].card != card)
            continue;
        showCells(m_rows[i]);
        Q_EMIT edited();
        Q_EMIT recordEdited(i, key);
        return;
    }
}

void RecordsField::removeRow(QWidget* card)
{
    for (int i = 0; i < m_rows.size(); ++i) {
        if (m_rows[i].card != card)
            continue;
        m_rows.removeAt(i);
        card->hide();
        card->deleteLater();
        setFocus();
        Q_EMIT edited();
        return;
    }
}

} // namespace gb::ui
