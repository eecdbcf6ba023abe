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
    // Somebody is at it: then it says of a default that it is one.
    void setNear(bool near);
    void enter(const FieldPath& path);
    bool matches(const QString& words) const;
    void setSearched(bool found);

protected:
    void enterEvent(QEnterEvent* event) override;
    void leaveEvent(QEvent* event) override;

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
    QLabel* m_help = nullptr;
    FieldState m_state;
    QString m_shownProblems;
    QString m_shownSource;
    bool m_found = true;
    bool m_wrong = false;
    bool m_near = false;
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
    void showField(const std::string& path); // "models[1].name"
    QString firstOf(const QStringList& paths) const; // as they stand in the form; empty: none is in it
    DraftRow* row(const std::string& name) const;
    QString titleOf(const QString& path) const; // of a field or a column of its records
    QString sentences(const SpecProblem& problem) const; // with the field's title
    // What somebody else found wrong with the values as they are. A field that changes loses its own.
    void setFindings(std::vector<SpecProblem> findings);
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
    DraftRow* rowOf(const QWidget* widget) const;
    int focusedSection() const; // -1: none that can be seen

    Draft& m_draft;
    QScrollArea* m_scroll = nullptr;
    QVBoxLayout* m_column = nullptr;
    QList<Part> m_parts;
    QString m_searched;
    std::map<std::string, DraftRow*> m_rows;
    std::vector<SpecProblem> m_findings;
};

} // namespace gb::ui
