// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

#include "nestedfields.h"

#include <QClipboard>
#include <QComboBox>
#include <QGuiApplication>
#include <QHBoxLayout>
#include <QLabel>
#include <QToolButton>

#include <widgets/controls/buttons.h>
#include <widgets/controls/frames.h>
#include <widgets/controls/harmless.h>
#include <widgets/controls/labels.h>
#include <widgets/controls/theme.h>
#include <widgets/itemmodels/fields.h>

#include "scalarfields.h"
#include "text.h"

namespace gb::ui {
namespace {

constexpr int deepestForm = 5; // below it is JSON: recursive schemas have no end
constexpr int resetTall = 20;
constexpr int narrowestNote = 80;
constexpr int widestNote = 480;
constexpr int longestForm = 100; // items of a list with fields of their own

bool isRequired(const Json& schema, const std::string& name)
{
    const auto required = schema.find("required");
    if (required == schema.end() || !required->is_array())
        return false;
    return std::find(required->begin(), required->end(), Json(name)) != required->end();
}

// A caption that knows how wide it is. A form has hundreds, and a plain label lays its text out each time
// that it is asked for a size.
class NoteLabel final : public QLabel
{
public:
    NoteLabel(const QString& text, bool wraps, QWidget* parent) : QLabel(parent)
    {
        setTextFormat(Qt::PlainText);
        setText(harmless(text));
        setTextRole(this, TextRole::Caption);
        setWordWrap(wraps);
    }

    QSize sizeHint() const override
    {
        const auto wide = wordWrap() ? std::min(textWidth(), widestNote) : textWidth();
        return {wide, heightForWidth(wide)};
    }
    QSize minimumSizeHint() const override
    {
        return {wordWrap() ? narrowestNote : textWidth(), fontMetrics().height()};
    }
    int heightForWidth(int width) const override
    {
        const bool isLine = !text().contains(QLatin1Char('\n')) && textWidth() <= width;
        return isLine ? fontMetrics().height() : QLabel::heightForWidth(width);
    }

protected:
    void changeEvent(QEvent* event) override
    {
        if (event->type() == QEvent::FontChange || event->type() == QEvent::StyleChange)
            m_width = -1;
        QLabel::changeEvent(event);
    }

private:
    int textWidth() const
    {
        ensurePolished();
        if (m_width < 0)
            m_width = fontMetrics().horizontalAdvance(text()) + 1;
        return m_width;
    }

    mutable int m_width = -1;
};

} // namespace

SchemaField* makeSchemaField(
    const Json& schema, const std::shared_ptr<const SchemaRoot>& root, int depth, QWidget* parent)
{
    using Kind = SchemaNode::Kind;
    auto node = readSchema(schema, *root);
    const auto fields =
        node.kind == Kind::Object ? static_cast<int>(objectOr(node.json, "properties").size()) : 1;
    if (depth > deepestForm || root->fieldsLeft < fields)
        return new JsonField(parent);
    root->fieldsLeft -= fields;
    switch (node.kind) {
    case Kind::Text:
        return new TextField(node.json, parent);
    case Kind::Integer:
        return new NumberField(node.json, true, parent);
    case Kind::Number:
        return new NumberField(node.json, false, parent);
    case Kind::Boolean:
        return new BooleanField(parent);
    case Kind::Null:
        return new NullField(parent);
    case Kind::Choice:
        return new ChoiceField(std::move(node.choices), parent);
    case Kind::List:
        return new ListField(node.json, root, depth, parent);
    case Kind::Object:
        return new ObjectField(node.json, root, depth, parent);
    case Kind::Union:
        return new UnionField(std::move(node.choices), root, depth, parent);
    case Kind::Any:
        return new JsonField(parent);
    }
    return new JsonField(parent);
}

FieldRow::FieldRow(const std::string& name, const Json& schema, const std::shared_ptr<const SchemaRoot>& root,
    bool required, int depth, QWidget* parent)
    : QWidget(parent), m_name(name), m_initial(initialValue(schema, *root)), m_required(required),
      m_present(required)
{
    m_field = makeSchemaField(schema, root, depth, this);
    const auto title = QString::fromStdString(name);
    m_field->setAccessibleName(title);
    if (auto* focus = m_field->focusProxy())
        focus->setAccessibleName(title);
    m_title = new ElidedLabel(title, required ? TextRole::Strong : TextRole::Body, this);
    m_title->setBuddy(m_field);
    m_top = new QHBoxLayout;
    m_top->setSpacing(space::s);
    m_top->addWidget(m_title);
    m_top->addWidget(new NoteLabel(QString::fromStdString(schemaName(schema, *root)), false, this));
    m_top->addStretch();
    m_top->addStrut(resetTall); // the line is as high without the button
    auto* layout = new QVBoxLayout(this);
    layout->setContentsMargins(0, 0, 0, space::s);
    layout->setSpacing(2);
    layout->addLayout(m_top);
    layout->addWidget(m_field);
    if (const auto text = textField(readSchema(schema, *root).json, "description"); !text.isEmpty()) {
        layout->addWidget(new NoteLabel(text.left(1000), true, this));
    }
    m_field->setValue(m_initial);
    setPresent(required);
    connect(m_field, &SchemaField::edited, this, [this] {
        setPresent(true);
        check();
        Q_EMIT edited();
    });
}

// Made when it is needed: most fields of a long form stay as they are.
void FieldRow::showReset(bool shown)
{
    if (!m_reset && shown) {
        auto* reset = makeIconButton(
            QStringLiteral("undo"), FormsText::tr("Back to the default: %1").arg(m_title->fullText()), this);
        reset->setFixedHeight(resetTall);
        connect(reset, &QToolButton::clicked, this, [this] {
            setAbsent();
            Q_EMIT edited();
        });
        m_top->addWidget(reset);
        // After the field, as it was made.
        QWidget::setTabOrder(m_field, reset);
        m_reset = reset;
    }
    if (m_reset)
        m_reset->setVisible(shown);
}

void FieldRow::showProblem(const QString& problem)
{
    if (!m_problem && !problem.isEmpty()) {
        m_problem = makeLabel({}, TextRole::Error, this);
        m_problem->setWordWrap(true);
        layout()->addWidget(m_problem);
    }
    if (!m_problem)
        return;
    m_problem->setText(problem);
    m_problem->setVisible(!problem.isEmpty());
}

void FieldRow::setPresent(bool present)
{
    m_present = present || m_required;
    showReset(m_present && !m_required);
    setTextRole(m_title, m_present ? TextRole::Strong : TextRole::Body);
}

Json FieldRow::value() const
{
    return m_field->value();
}

void FieldRow::setValue(const Json& value)
{
    m_field->setValue(value);
    setPresent(true);
    check();
}

void FieldRow::setAbsent()
{
    m_field->setValue(m_initial);
    setPresent(false);
    showProblem({});
}

bool FieldRow::check()
{
    const auto problem = m_present ? m_field->problem() : QString();
    showProblem(problem);
    return problem.isEmpty();
}

ObjectField::ObjectField(
    const Json& schema, const std::shared_ptr<const SchemaRoot>& root, int depth, QWidget* parent)
    : SchemaField(parent)
{
    auto* layout = new QVBoxLayout(this);
    layout->setContentsMargins(depth > 0 ? space::m : 0, 0, 0, 0);
    layout->setSpacing(space::xs);
    const auto properties = objectOr(schema, "properties");
    for (const auto& [name, property] : properties.items()) {
        auto* row = new FieldRow(name, property, root, isRequired(schema, name), depth + 1, this);
        connect(row, &FieldRow::edited, this, &SchemaField::edited);
        layout->addWidget(row);
        m_rows += row;
    }
    if (!m_rows.isEmpty())
        setFocusProxy(m_rows.first()->field());
}

Json ObjectField::value() const
{
    Json value = Json::object();
    for (const auto* row : m_rows)
        if (row->isPresent())
            value[row->name()] = row->value();
    value.update(m_unknown);
    return value;
}

void ObjectField::setValue(const Json& value)
{
    m_unknown = value.is_object() ? value : Json::object();
    for (auto* row : m_rows) {
        const auto found = m_unknown.find(row->name());
        if (found == m_unknown.end()) {
            row->setAbsent();
            continue;
        }
        row->setValue(*found);
        m_unknown.erase(row->name());
    }
}

QString ObjectField::problem() const
{
    QString first;
    for (auto* row : m_rows)
        if (!row->check() && first.isEmpty())
            first = FormsText::tr("Something in here is not right yet.");
    return first;
}

ListField::ListField(
    const Json& schema, const std::shared_ptr<const SchemaRoot>& root, int depth, QWidget* parent)
    : SchemaField(parent), m_items(objectOr(schema, "items")), m_root(root), m_depth(depth)
{
    m_rows = new QVBoxLayout;
    m_rows->setSpacing(space::xs);
    auto* add = makeButton(FormsText::tr("Add"), ButtonKind::Link, QStringLiteral("plus"));
    auto* paste = makeButton(FormsText::tr("Paste a JSON list"), ButtonKind::Link);
    m_count = makeLabel({}, TextRole::Caption, this);
    connect(add, &QPushButton::clicked, this, [this] {
        addItem(initialValue(m_items, *m_root))->setFocus();
        Q_EMIT edited();
    });
    connect(paste, &QPushButton::clicked, this, &ListField::paste);
    auto* foot = new QHBoxLayout;
    foot->addWidget(add);
    foot->addWidget(paste);
    foot->addWidget(m_count);
    foot->addStretch();
    auto* layout = new QVBoxLayout(this);
    layout->setContentsMargins(0, 0, 0, 0);
    layout->setSpacing(space::xs);
    layout->addLayout(m_rows);
    layout->addLayout(foot);
    setFocusProxy(add);
}

SchemaField* ListField::addItem(const Json& value)
{
    auto* row = new QWidget(this);
    auto* field = makeSchemaField(m_items, m_root, m_depth + 1, row);
    field->setValue(value);
    auto* up = makeIconButton(QStringLiteral("chevron-up"), FormsText::tr("Move up"), row);
    auto* remove = makeIconButton(QStringLiteral("trash"), FormsText::tr("Remove"), row);
    auto* layout = new QHBoxLayout(row);
    layout->setContentsMargins(0, 0, 0, 0);
    layout->setSpacing(2);
    layout->addWidget(field, 1);
    layout->addWidget(up, 0, Qt::AlignTop);
    layout->addWidget(remove, 0, Qt::AlignTop);
    connect(field, &SchemaField::edited, this, &SchemaField::edited);
    connect(up, &QToolButton::clicked, this, [this, row] { move(row, -1); });
    connect(remove, &QToolButton::clicked, this, [this, row] {
        m_fields.removeIf([row](const auto& entry) { return entry.first == row; });
        row->hide();
        row->deleteLater();
        Q_EMIT edited();
    });
    m_fields.append({row, field});
    m_rows->addWidget(row);
    row->show();
    return field;
}

void ListField::move(QWidget* row, int step)
{
    for (qsizetype i = 0; i < m_fields.size(); ++i) {
        if (m_fields[i].first != row || i + step < 0 || i + step >= m_fields.size())
            continue;
        m_fields.move(i, i + step);
        m_rows->removeWidget(row);
        m_rows->insertWidget(static_cast<int>(i) + step, row);
        Q_EMIT edited();
        return;
    }
}

void ListField::paste()
{
    const auto pasted = parseJson(QGuiApplication::clipboard()->text().toStdString());
    if (!pasted || !pasted->is_array()) {
        m_count->setText(FormsText::tr("The clipboard holds no JSON list."));
        return;
    }
    setValue(*pasted);
    Q_EMIT edited();
}

Json ListField::value() const
{
    Json list = Json::array();
    for (const auto& [row, field] : m_fields)
        list.push_back(field->value());
    for (const auto& item : m_rest)
        list.push_back(item);
    return list;
}

void ListField::setValue(const Json& value)
{
    for (const auto& [row, field] : m_fields) {
        row->hide();
        row->deleteLater();
    }
    m_fields.clear();
    m_rest = Json::array();
    if (value.is_array())
        for (const auto& item : value) {
            if (m_fields.size() < longestForm)
                addItem(item);
            else
                m_rest.push_back(item);
        }
    m_count->setText(
        m_rest.empty() ? QString() : FormsText::tr("and %1 more, kept as they are").arg(m_rest.size()));
}

QString ListField::problem() const
{
    for (qsizetype i = 0; i < m_fields.size(); ++i)
        if (const auto problem = m_fields[i].second->problem(); !problem.isEmpty())
            return FormsText::tr("Item %1: %2").arg(i).arg(problem);
    return {};
}

UnionField::UnionField(
    std::vector<Json> choices, const std::shared_ptr<const SchemaRoot>& root, int depth, QWidget* parent)
    : SchemaField(parent), m_choices(std::move(choices)), m_root(root), m_depth(depth)
{
    m_switch = new QComboBox(this);
    m_switch->setAccessibleName(FormsText::tr("Kind of value"));
    for (const auto& choice : m_choices) {
        const auto title = textField(choice, "title");
        m_switch->addItem(title.isEmpty() ? QString::fromStdString(schemaName(choice, *m_root)) : title);
    }
    m_place = new QVBoxLayout;
    m_place->setSpacing(0);
    auto* layout = new QHBoxLayout(this);
    layout->setContentsMargins(0, 0, 0, 0);
    layout->setSpacing(space::s);
    layout->addWidget(m_switch, 0, Qt::AlignTop);
    layout->addLayout(m_place, 1);
    setFocusProxy(m_switch);
    connect(m_switch, &QComboBox::activated, this, [this](int index) {
        choose(index, initialValue(m_choices.at(static_cast<std::size_t>(index)), *m_root));
        Q_EMIT edited();
    });
    choose(0, initialValue(m_choices.front(), *m_root));
}

void UnionField::choose(int index, const Json& value)
{
    if (m_field) {
        m_field->hide();
        m_field->deleteLater();
    }
    m_switch->setCurrentIndex(index);
    m_field = makeSchemaField(m_choices.at(static_cast<std::size_t>(index)), m_root, m_depth + 1, this);
    m_field->setValue(value);
    connect(m_field, &SchemaField::edited, this, &SchemaField::edited);
    m_place->addWidget(m_field);
    // Null has no more to say than the choice beside it does; its place keeps the choice from growing.
    auto policy = m_field->sizePolicy();
    policy.setRetainSizeWhenHidden(true);
    m_field->setSizePolicy(policy);
    m_field->setVisible(qobject_cast<NullField*>(m_field) == nullptr);
}

Json UnionField::value() const
{
    return m_field->value();
}

void UnionField::setValue(const Json& value)
{
    for (std::size_t i = 0; i < m_choices.size(); ++i)
        if (fitsSchema(value, m_choices[i], *m_root))
            return choose(static_cast<int>(i), value);
    choose(0, value);
}

QString UnionField::problem() const
{
    return m_field->problem();
}

} // namespace gb::ui
