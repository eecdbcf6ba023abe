// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <functional>

#include <QMap>
#include <QUrl>

#include "schemafield.h"

class QHBoxLayout;
class QLabel;
class QVBoxLayout;

namespace gb::ui {

// One column of a list of records. What is empty, off or the default is left out of the record.
struct RecordColumn
{
    enum class Kind { Text, Switch, Choice };

    std::string key;
    QString title;
    Kind kind = Kind::Text;
    int line = 0; // records may take two lines
    int stretch = 1;
    QString hint = {}; // placeholder, or what a switch means
    Json initial = nullptr; // what leaving it out means
    QList<QPair<QString, std::string>> choices = {};
    std::function<bool(const Json& record)> shown = {};
};

// A list of records (models, repositories, folders …), each a small card with its own fields and its own
// errors.
class RecordsField final : public SchemaField
{
    Q_OBJECT

public:
    // How a record stands in the draft, for lists that have a shorter spelling, and a map as a list.
    struct Codec
    {
        std::function<Json(const Json& list)> toRecords = {};
        std::function<Json(const Json& records)> fromRecords = {};
    };

    RecordsField(std::vector<RecordColumn> columns, const QString& addText, QWidget* parent = nullptr);

    void setCodec(Codec codec) { m_codec = std::move(codec); }
    void setProposals(const std::string& key, const QStringList& proposals);
    void addButton(const QString& text, const QString& iconName, std::function<void()> act);
    QString titleOf(const QString& key) const; // of a column, or empty
    void setProblems(const QMap<int, QStringList>& byRecord);

    Json value() const override;
    void setValue(const Json& value) override;
    void enter(int index, const QString& key) override;
    int count() const { return static_cast<int>(m_rows.size()); }
    Json record(int index) const;
    void setRecord(int index, const Json& record);
    void append(const Json& record);

Q_SIGNALS:
    void recordEdited(int index, const std::string& key);

private:
    struct Row
    {
        QWidget* card = nullptr;
        QMap<QString, QWidget*> editors;
        QMap<QString, QWidget*> cells;
        QLabel* problem = nullptr;
        Json extra = Json::object(); // keys that are no column
    };

    Row makeRow();
    QWidget* makeEditor(const RecordColumn& column);
    QWidget* makeCell(const RecordColumn& column, Row& row);
    void fill(Row& row, const Json& record);
    Json read(const Row& row) const;
    void showCells(Row& row);
    void editedIn(QWidget* card, const std::string& key);
    void removeRow(QWidget* card);

    std::vector<RecordColumn> m_columns;
    Codec m_codec;
    QMap<QString, QStringList> m_proposals;
    QList<Row> m_rows;
    QVBoxLayout* m_cards = nullptr;
    QHBoxLayout* m_buttons = nullptr;
};

} // namespace gb::ui
