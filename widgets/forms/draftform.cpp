// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

#include "draftform.h"

#include <utility>

#include <QApplication>
#include <QComboBox>
#include <QHBoxLayout>
#include <QLabel>
#include <QLineEdit>
#include <QScrollArea>
#include <QScrollBar>
#include <QStyle>
#include <QToolButton>

#include <widgets/controls/buttons.h>
#include <widgets/controls/frames.h>
#include <widgets/controls/labels.h>
#include <widgets/controls/tokens.h>

#include "recordsfield.h"
#include "text.h"
#include "tokensfield.h"

namespace gb::ui {
namespace {

QString sourceText(Draft::Source source)
{
    switch (source) {
    case Draft::Source::Preset:
        return FormsText::tr("from the preset");
    case Draft::Source::File:
        return FormsText::tr("from the file");
    case Draft::Source::You:
        return FormsText::tr("set by you");
    case Draft::Source::Default:
        break;
    }
    return FormsText::tr("default");
}

QString resetText(Draft::Source source, const QString& title)
{
    return source == Draft::Source::File ? FormsText::tr("%1: back to the default").arg(title)
                                         : FormsText::tr("Reset %1").arg(title);
}

void setInvalid(QWidget* field, bool wrong)
{
    QWidget* editor = field->findChild<QComboBox*>();
    if (!editor)
        editor = field->findChild<QLineEdit*>();
    if (!editor || editor->property("gbInvalid").toBool() == wrong)
        return;
    editor->setProperty("gbInvalid", wrong);
    editor->style()->unpolish(editor);
    editor->style()->polish(editor);
}

} // namespace

DraftRow::DraftRow(Draft& draft, std::string name, const Texts& texts, SchemaField* field)
    : m_draft(draft), m_name(std::move(name)), m_title(texts.title),
      m_words((texts.title + QLatin1Char(' ') + texts.help + QLatin1Char(' ') + texts.keywords
          + QLatin1Char(' ') + QString::fromStdString(m_name))
                  .toLower()),
      m_field(field)
{
    auto* title = makeLabel(texts.title, TextRole::Strong);
    title->setBuddy(field);
    m_source = makeLabel({}, TextRole::Caption);
    m_reset = makeIconButton(QStringLiteral("undo"), FormsText::tr("Reset %1").arg(texts.title));
    connect(m_reset, &QToolButton::clicked, this, [this] { m_draft.reset(m_name); });
    auto* top = new QHBoxLayout;
    top->setSpacing(space::s);
    top->addWidget(title);
    top->addWidget(m_source);
    top->addWidget(m_reset);
    top->addStretch(1);
    auto policy = m_reset->sizePolicy();
    policy.setRetainSizeWhenHidden(true);
    m_reset->setSizePolicy(policy);
    m_problem = makeComplaint();
    auto* layout = new QVBoxLayout(this);
    layout->setContentsMargins(0, 0, 0, 0);
    layout->setSpacing(space::xs);
    layout->addLayout(top);
    layout->addWidget(field);
    layout->addWidget(m_problem);
    if (!texts.help.isEmpty()) {
        m_help = makeLabel(texts.help, TextRole::Caption);
        m_help->setWordWrap(true);
        layout->addWidget(m_help);
    }
    if (auto* named = field->focusProxy(); named && named->accessibleName().isEmpty())
        named->setAccessibleName(texts.title);
    connect(field, &SchemaField::edited, this, [this] { m_draft.set(m_name, m_field->value()); });
    showValue();
}

void DraftRow::showValue()
{
    m_field->setValue(m_draft.value(m_name));
    showSource();
    if (m_state.kind == FieldState::Kind::Hidden)
        updateVisible();
}

void DraftRow::showSource()
{
    const auto source = m_draft.source(m_name);
    const bool changed = m_draft.isChanged(m_name);
    const auto words = (changed ? QStringLiteral("● ") : QString()) + sourceText(source);
    // Most values are defaults: the word beside each would hide those that are not.
    const bool quiet = source == Draft::Source::Default && !m_near;
    const auto text = quiet ? QString() : words;
    if (m_source->text() != text)
        m_source->setText(text);
    m_reset->setVisible(source != Draft::Source::Default);
    if (m_shownSource == words)
        return;
    m_shownSource = words;
    const auto way = resetText(source, m_title);
    m_reset->setToolTip(way);
    m_reset->setAccessibleName(way);
    if (auto* named = m_field->focusProxy())
        named->setAccessibleDescription(sourceText(source));
}

void DraftRow::setNear(bool near)
{
    if (std::exchange(m_near, near) != near)
        showSource();
}

void DraftRow::enterEvent(QEnterEvent* event)
{
    QWidget::enterEvent(event);
    setNear(true);
}

void DraftRow::leaveEvent(QEvent* event)
{
    QWidget::leaveEvent(event);
    setNear(isAncestorOf(QApplication::focusWidget()));
}

void DraftRow::enter(const FieldPath& path)
{
    if (m_field->isEnabled())
        m_field->enter(path.index, path.rest);
    else
        m_reset->setFocus(Qt::ShortcutFocusReason); // all that can be done with it
}

void DraftRow::showProblems(const std::vector<SpecProblem>& problems, const FieldTitles& titles)
{
    auto* records = qobject_cast<RecordsField*>(m_field);
    auto* tokens = qobject_cast<TokensField*>(m_field);
    if (!tokens)
        tokens = m_field->findChild<TokensField*>();
    QMap<int, QStringList> byRecord;
    QList<int> tokensWrong;
    QStringList here;
    m_wrong = false;
    // The field knows best what may be typed into it.
    const auto own = m_field->problem();
    if (!own.isEmpty()) {
        m_wrong = true;
        here += own;
    }
    for (const auto& problem : problems) {
        if (!own.isEmpty())
            break;
        const auto path = fieldPath(problem.field);
        const auto column = records ? records->titleOf(path.rest) : QString();
        const auto sentence = problemSentences(problem,
            !column.isEmpty()         ? column
                : path.rest.isEmpty() ? m_title
                                      : path.rest,
            titles);
        m_wrong |= problem.severity == SpecProblem::Severity::Error;
        if (records && path.index >= 0 && path.index < records->count()) {
            byRecord[path.index] += sentence;
            continue;
        }
        if (tokens && path.index >= 0)
            tokensWrong += path.index;
        here += sentence;
    }
    if (records)
        records->setProblems(byRecord);
    else if (tokens)
        tokens->setWrong(tokensWrong);
    else
        setInvalid(m_field, m_wrong);
    const auto text = here.join(QLatin1Char('\n'));
    showComplaint(m_problem, text);
    m_shownProblems = text;
    for (const auto& lines : byRecord)
        m_shownProblems += lines.join(QLatin1Char('\n'));
}

QString DraftRow::problemText() const
{
    return m_shownProblems;
}

void DraftRow::setState(const FieldState& state)
{
    m_state = state;
    m_field->setEnabled(state.kind != FieldState::Kind::Disabled);
    // How to fill it in is no use where it cannot be.
    if (m_help)
        m_help->setVisible(state.kind != FieldState::Kind::Disabled || state.reason.isEmpty());
    if (!m_reason && !state.reason.isEmpty()) {
        m_reason = makeLabel({}, TextRole::Caption);
        m_reason->setWordWrap(true);
        static_cast<QVBoxLayout*>(layout())->insertWidget(2, m_reason);
    }
    if (m_reason) {
        m_reason->setText(asSentence(state.reason));
        m_reason->setVisible(!state.reason.isEmpty());
    }
    updateVisible();
}

bool DraftRow::matches(const QString& words) const
{
    const auto wanted = words.toLower().split(QLatin1Char(' '), Qt::SkipEmptyParts);
    return std::ranges::all_of(wanted, [this](const QString& word) { return m_words.contains(word); });
}

void DraftRow::setSearched(bool found)
{
    m_found = found;
    updateVisible();
}

void DraftRow::updateVisible()
{
    // What is not offered here can have come with a file or a preset; it must be possible to take it back.
    const bool offered =
        m_state.kind != FieldState::Kind::Hidden || m_draft.source(m_name) != Draft::Source::Default;
    setVisible(m_found && offered);
}

DraftForm::DraftForm(Draft& draft, QWidget* parent) : QWidget(parent), m_draft(draft)
{
    auto* content = new QWidget;
    m_column = new QVBoxLayout(content);
    m_column->setContentsMargins(space::xl, space::l, space::xl, space::xl);
    m_column->setSpacing(space::s);
    m_column->addStretch(1);
    m_scroll = makeScroll(content);
    auto* layout = new QVBoxLayout(this);
    layout->setContentsMargins(0, 0, 0, 0);
    layout->addWidget(m_scroll);
    connect(&m_draft, &Draft::changed, this, &DraftForm::showChanged);
    connect(m_scroll->verticalScrollBar(), &QScrollBar::valueChanged, this, &DraftForm::noticeScroll);
    connect(qApp, &QApplication::focusChanged, this, [this](const QWidget* before, const QWidget* now) {
        auto* left = rowOf(before);
        auto* entered = rowOf(now);
        if (left && left != entered)
            left->setNear(left->underMouse());
        if (entered)
            entered->setNear(true);
        if (now && isAncestorOf(now))
            noticeScroll();
    });
}

void DraftForm::addSection(const QString& title, const QString& help)
{
    Part part;
    part.title = title;
    part.heading = new QWidget;
    auto* head = new QVBoxLayout(part.heading);
    head->setContentsMargins(0, space::m, 0, 0);
    head->setSpacing(space::xs);
    head->addWidget(makeLabel(title, TextRole::Heading));
    if (!help.isEmpty()) {
        auto* sentence = makeLabel(help, TextRole::Secondary);
        sentence->setWordWrap(true);
        head->addWidget(sentence);
    }
    part.card = makeFrame(FrameKind::Card);
    part.layout = new QVBoxLayout(part.card);
    part.layout->setContentsMargins(space::l, space::l, space::l, space::l);
    part.layout->setSpacing(space::l);
    m_column->insertWidget(m_column->count() - 1, part.heading);
    m_column->insertWidget(m_column->count() - 1, part.card);
    m_parts += part;
}

DraftRow* DraftForm::addRow(const std::string& name, const DraftRow::Texts& texts, SchemaField* field)
{
    auto* made = new DraftRow(m_draft, name, texts, field);
    m_parts.last().layout->addWidget(made);
    m_parts.last().rows += made;
    m_rows[name] = made;
    return made;
}

void DraftForm::addWidget(QWidget* widget)
{
    m_parts.last().layout->addWidget(widget);
}

DraftRow* DraftForm::row(const std::string& name) const
{
    const auto found = m_rows.find(name);
    return found == m_rows.end() ? nullptr : found->second;
}

DraftRow* DraftForm::rowOf(const QWidget* widget) const
{
    for (const auto& [name, each] : m_rows)
        if (widget && each->isAncestorOf(widget))
            return each;
    return nullptr;
}

QList<DraftForm::Section> DraftForm::sections() const
{
    QList<Section> all;
    for (const auto& part : m_parts) {
        Section section{part.title};
        section.shown = part.card->isVisibleTo(m_scroll->widget());
        for (const auto* each : part.rows) {
            section.errors += each->hasError();
            section.changed += m_draft.isChanged(each->name());
        }
        all += section;
    }
    return all;
}

void DraftForm::showSection(int index)
{
    m_scroll->widget()->layout()->activate();
    m_scroll->verticalScrollBar()->setValue(m_parts.at(index).heading->y());
    // The last ones do not reach the top, and are what was asked for all the same.
    Q_EMIT sectionReached(index);
}

void DraftForm::enterSection(int index)
{
    for (const auto* each : m_parts.at(index).rows)
        if (each->isVisibleTo(m_scroll->widget()) && each->field()->isEnabled())
            return showField(each->name());
}

QString DraftForm::titleOf(const QString& path) const
{
    const auto parts = fieldPath(path.toStdString());
    if (const auto* found = row(parts.root)) {
        const auto* records = qobject_cast<RecordsField*>(found->field());
        const auto column = records ? records->titleOf(parts.rest) : QString();
        if (!column.isEmpty())
            return column;
        return parts.index < 0 ? found->title()
                               : FormsText::tr("%1, entry %2").arg(found->title()).arg(parts.index + 1);
    }
    for (const auto& [name, each] : m_rows)
        if (const auto* records = qobject_cast<RecordsField*>(each->field()))
            if (const auto column = records->titleOf(path); !column.isEmpty())
                return column;
    return {};
}

QString DraftForm::sentences(const SpecProblem& problem) const
{
    const auto title = titleOf(QString::fromStdString(problem.field));
    const auto text = problemSentences(problem, title, [this](const QString& path) { return titleOf(path); });
    return title.isEmpty() || text.contains(title) ? text : FormsText::tr("%1: %2").arg(title, text);
}

void DraftForm::showField(const std::string& path)
{
    const auto parts = fieldPath(path);
    auto* found = row(parts.root);
    if (!found)
        return;
    search({});
    m_scroll->widget()->layout()->activate();
    m_scroll->ensureWidgetVisible(found, 0, space::xxl);
    found->enter(parts);
}

QString DraftForm::firstOf(const QStringList& paths) const
{
    for (const auto& part : m_parts)
        for (const auto* each : part.rows)
            for (const auto& path : paths)
                if (fieldPath(path.toStdString()).root == each->name())
                    return path;
    return {};
}

void DraftForm::setFindings(std::vector<SpecProblem> findings)
{
    m_findings = std::move(findings);
    showProblems();
    Q_EMIT sectionsChanged();
}

void DraftForm::setStates(const std::map<std::string, FieldState>& states)
{
    for (const auto& [name, each] : m_rows) {
        const auto found = states.find(name);
        each->setState(found == states.end() ? FieldState() : found->second);
    }
    search(QString(m_searched));
}

int DraftForm::search(const QString& words)
{
    m_searched = words;
    int rows = 0;
    for (const auto& part : m_parts) {
        bool any = false;
        const bool whole = part.title.contains(words, Qt::CaseInsensitive);
        for (auto* each : part.rows) {
            const bool found = whole || each->matches(words);
            each->setSearched(found);
            rows += found;
            any |= each->isVisibleTo(part.card);
        }
        part.card->setVisible(any);
        part.heading->setVisible(any);
    }
    Q_EMIT sectionsChanged();
    return rows;
}

void DraftForm::showChanged(const Draft::Fields& fields)
{
    for (const auto& name : fields)
        if (auto* each = row(name))
            each->showValue();
    if (fields.empty())
        for (const auto& [name, each] : m_rows)
            each->showValue();
    std::erase_if(m_findings,
        [&fields](const SpecProblem& finding) { return fields.contains(fieldPath(finding.field).root); });
    showProblems();
    Q_EMIT sectionsChanged();
}

void DraftForm::showProblems()
{
    std::map<std::string, std::vector<SpecProblem>> byField;
    for (const auto& problem : m_draft.problems())
        byField[fieldPath(problem.field).root].push_back(problem);
    for (const auto& finding : m_findings) {
        auto& known = byField[fieldPath(finding.field).root];
        // A warning of the draft's own comes back with the plan.
        if (std::ranges::none_of(known, [&](const SpecProblem& problem) {
                return problem.field == finding.field && problem.message == finding.message;
            }))
            known.push_back(finding);
    }
    const auto titles = [this](const QString& path) { return titleOf(path); };
    for (const auto& [name, each] : m_rows) {
        const auto before = each->problemText();
        each->showProblems(byField[name], titles);
        // What is wrong with the field that is typed into is said where it can be seen.
        if (each->hasError() && each->problemText() != before
            && each->isAncestorOf(QApplication::focusWidget())) {
            m_scroll->widget()->layout()->activate();
            m_scroll->ensureWidgetVisible(each, 0, space::m);
        }
    }
}

int DraftForm::focusedSection() const
{
    const auto* focus = QApplication::focusWidget();
    if (!focus || !isAncestorOf(focus) || focus->visibleRegion().isEmpty())
        return -1;
    for (int i = 0; i < m_parts.size(); ++i)
        if (m_parts[i].card->isAncestorOf(focus))
            return i;
    return -1;
}

void DraftForm::noticeScroll()
{
    const auto at = m_scroll->verticalScrollBar()->value() + space::xxl;
    int section = focusedSection();
    if (section >= 0)
        return Q_EMIT sectionReached(section);
    section = 0;
    for (int i = 0; i < m_parts.size(); ++i)
        if (m_parts[i].heading->y() <= at && m_parts[i].heading->isVisibleTo(m_scroll->widget()))
            section = i;
    Q_EMIT sectionReached(section);
}

} // namespace gb::ui
