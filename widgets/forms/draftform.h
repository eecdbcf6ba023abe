// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <map>

#include <QMap>
#include <QWidget>

#include "draft.h"
#include "problemtext.h"
#include "schemafield.h"

class QLabel;
class QScrollArea;
class QToolButton;
class QVBoxLayout;

namespace gb::ui {

// What can be done with a field here, as the one who will carry it out says.
struct FieldState
{
    enum class Kind { Usable, Disabled, Hidden };
    Kind kind = Kind::Usable;
    QString reason = {};
};

// A field of a draft: its label, whether it was changed and where its value comes from, a way back, what it
// is for in one grey sentence, and what is wrong with it.
class DraftRow final : public QWidget
{
    Q_OBJECT

public:
    struct Texts
    {
        QString title;
        QString help = {};
        QString keywords = {}; // found by the search besides title and help
    };

    DraftRow(Draft& draft, std::string name, const Texts& texts, SchemaField* field);

    const std::string& name() const { return m_name; }
    SchemaField* field() const { return m_field; }
    QString title() const { return m_title; }
    void showValue();
    void showProblems(const std::vector<SpecProblem>& problems, const FieldTitles& titles);
    bool hasError() const { return m_wrong; }
    QString problemText() const;
    void setState(const FieldState& state);
    bool matches(const QString& words) const;
    void setSearched(bool found);

private:
    void showSource();
    void updateVisible();

    Draft& m_draft;
    std::string m_name;
    QString m_title;
    QString m_words;
    SchemaField* m_field;
    QLabel* m_source = nullptr;
    QToolButton* m_reset = nullptr;
    QLabel* m_reason = nullptr;
    QLabel* m_problem = nullptr;
    FieldState m_state;
    QString m_shownProblems;
    bool m_found = true;
    bool m_wrong = false;
};

// A draft as a form in sections, which scrolls; the page shows the outline.
class DraftForm final : public QWidget
{
    Q_OBJECT

public:
    explicit DraftForm(Draft& draft, QWidget* parent = nullptr);

    // What follows belongs to this section.
    void addSection(const QString& title, const QString& help = {});
    DraftRow* addRow(const std::string& name, const DraftRow::Texts& texts, SchemaField* field);
    void addWidget(QWidget* widget); // in the present section

    struct Section
    {
        QString title;
        int errors = 0;
        int changed = 0;
        bool shown = true;
    };
    QList<Section> sections() const;
    void showSection(int index);
    void enterSection(int index); // the keyboard goes to its first field
    void showField(const std::string& path); // "models[1].name" shows "models"
    DraftRow* row(const std::string& name) const;
    QString titleOf(const QString& path) const; // of a field or a column of its records
    QString sentences(const SpecProblem& problem) const; // with the field's title
    void setStates(const std::map<std::string, FieldState>& states);
    // Shows only what has all words; how many rows that were.
    int search(const QString& words);

Q_SIGNALS:
    void sectionsChanged();
    void sectionReached(int index);

private:
    struct Part
    {
        QString title;
        QWidget* card = nullptr;
        QWidget* heading = nullptr;
        QVBoxLayout* layout = nullptr;
        QList<DraftRow*> rows;
    };

    void showChanged(const Draft::Fields& fields);
    void showProblems();
    void noticeScroll();
    int focusedSection() const; // -1: none that can be seen

    Draft& m_draft;
    QScrollArea* m_scroll = nullptr;
    QVBoxLayout* m_column = nullptr;
    QList<Part> m_parts;
    QString m_searched;
    std::map<std::string, DraftRow*> m_rows;
};

} // namespace gb::ui
