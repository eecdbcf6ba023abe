// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

#include "scalarfields.h"

#include <charconv>
#include <cmath>

#include <QCheckBox>
#include <QComboBox>
#include <QCompleter>
#include <QHBoxLayout>
#include <QLabel>
#include <QLineEdit>
#include <QPlainTextEdit>
#include <QSlider>
#include <QToolButton>

#include <widgets/controls/buttons.h>
#include <widgets/controls/labels.h>
#include <widgets/controls/theme.h>
#include <widgets/itemmodels/fields.h>

#include "text.h"

namespace gb::ui {
namespace {

constexpr int sliderSteps = 1000;
constexpr int editorLines = 5;

QHBoxLayout* rowLayout(QWidget* widget)
{
    auto* layout = new QHBoxLayout(widget);
    layout->setContentsMargins(0, 0, 0, 0);
    layout->setSpacing(space::s);
    return layout;
}

QPlainTextEdit* makeSmallEditor(int lines, QWidget* parent)
{
    auto* editor = new QPlainTextEdit(parent);
    editor->setTabChangesFocus(true);
    editor->setFixedHeight(editor->fontMetrics().lineSpacing() * lines + 2 * space::s);
    return editor;
}

QString choiceText(const Json& choice)
{
    return choice.is_string() ? QString::fromStdString(choice.get<std::string>()) : compactJson(choice);
}

} // namespace

TextField::TextField(const Json& schema, QWidget* parent) : SchemaField(parent)
{
    m_line = new QLineEdit(this);
    if (const auto limit = integerOr(schema, "maxLength"); limit > 0 && limit < 1'000'000)
        m_line->setMaxLength(static_cast<int>(limit));
    auto* grow = makeIconButton(QStringLiteral("text"), FormsText::tr("Several lines"), this);
    m_grow = grow;
    connect(
        grow, &QToolButton::clicked, this, [this] { setLong(!m_editor || !m_editor->isVisibleTo(this)); });
    auto* layout = rowLayout(this);
    layout->addWidget(m_line, 1);
    layout->addWidget(grow, 0, Qt::AlignTop);
    setFocusProxy(m_line);
    connect(m_line, &QLineEdit::textEdited, this, &SchemaField::edited);
}

void TextField::setLong(bool isLong)
{
    const auto text = QString::fromStdString(value().get<std::string>());
    if (isLong && !m_editor) {
        m_editor = makeSmallEditor(editorLines, this);
        m_editor->setAccessibleName(m_line->accessibleName());
        static_cast<QHBoxLayout*>(layout())->insertWidget(1, m_editor, 1);
        connect(m_editor, &QPlainTextEdit::textChanged, this, &SchemaField::edited);
    }
    if (m_editor) {
        m_editor->setVisible(isLong);
        const QSignalBlocker quiet(m_editor);
        m_editor->setPlainText(text);
    }
    m_line->setVisible(!isLong);
    m_line->setText(text);
}

Json TextField::value() const
{
    const bool isLong = m_editor && m_editor->isVisibleTo(this);
    return (isLong ? m_editor->toPlainText() : m_line->text()).toStdString();
}

void TextField::setValue(const Json& value)
{
    const auto text =
        value.is_string() ? QString::fromStdString(value.get<std::string>()) : compactJson(value);
    const bool isLong = text.contains(QLatin1Char('\n')) || text.size() > 400;
    m_line->setText(text);
    if (m_editor) {
        const QSignalBlocker quiet(m_editor);
        m_editor->setPlainText(text);
    }
    if (isLong != (m_editor && m_editor->isVisibleTo(this))) {
        setLong(isLong);
        if (isLong) {
            // A line swallows line breaks; the editor gets the text as it is.
            const QSignalBlocker quiet(m_editor);
            m_editor->setPlainText(text);
        }
    }
}

NumberField::NumberField(const Json& schema, bool integer, QWidget* parent)
    : SchemaField(parent), m_integer(integer),
      m_minimum(numberOr(schema, "minimum", numberOr(schema, "exclusiveMinimum", -HUGE_VAL))),
      m_maximum(numberOr(schema, "maximum", numberOr(schema, "exclusiveMaximum", HUGE_VAL)))
{
    m_line = new QLineEdit(this);
    m_line->setMaximumWidth(200);
    auto* layout = rowLayout(this);
    layout->addWidget(m_line, 1);
    setFocusProxy(m_line);
    connect(m_line, &QLineEdit::textEdited, this, &SchemaField::edited);
    if (std::isfinite(m_minimum) && std::isfinite(m_maximum) && m_minimum < m_maximum) {
        m_slider = new QSlider(Qt::Horizontal, this);
        m_slider->setRange(0, sliderSteps);
        layout->addWidget(m_slider, 2);
        connect(m_slider, &QSlider::valueChanged, this, [this](int step) {
            const auto number = m_minimum + (m_maximum - m_minimum) * step / sliderSteps;
            m_line->setText(
                m_integer ? QString::number(std::llround(number)) : QString::number(number, 'g', 4));
            Q_EMIT edited();
        });
    } else {
        layout->addStretch(1);
    }
}

Json NumberField::parsed(bool* valid) const
{
    const auto text = m_line->text().trimmed().toStdString();
    const auto* end = text.data() + text.size();
    std::int64_t whole = 0;
    if (const auto [stop, error] = std::from_chars(text.data(), end, whole);
        error == std::errc() && stop == end) {
        *valid = true;
        return whole;
    }
    double number = 0;
    const auto [stop, error] = std::from_chars(text.data(), end, number);
    *valid = !m_integer && error == std::errc() && stop == end && std::isfinite(number);
    return *valid ? Json(number) : Json(text);
}

Json NumberField::value() const
{
    bool valid = false;
    return parsed(&valid);
}

void NumberField::setValue(const Json& value)
{
    m_line->setText(
        value.is_string() ? QString::fromStdString(value.get<std::string>()) : compactJson(value));
    if (m_slider && value.is_number()) {
        const QSignalBlocker quiet(m_slider);
        m_slider->setValue(
            static_cast<int>((value.get<double>() - m_minimum) / (m_maximum - m_minimum) * sliderSteps));
    }
}

QString NumberField::problem() const
{
    bool valid = false;
    const auto number = parsed(&valid);
    if (!valid)
        return m_integer ? FormsText::tr("A whole number is needed.") : FormsText::tr("A number is needed.");
    const auto real = number.get<double>();
    if (real < m_minimum)
        return FormsText::tr("At least %1.").arg(m_minimum);
    return real > m_maximum ? FormsText::tr("At most %1.").arg(m_maximum) : QString();
}

BooleanField::BooleanField(QWidget* parent) : SchemaField(parent)
{
    m_box = new QCheckBox(this);
    rowLayout(this)->addWidget(m_box);
    setFocusProxy(m_box);
    connect(m_box, &QCheckBox::clicked, this, &SchemaField::edited);
}

Json BooleanField::value() const
{
    return m_box->isChecked();
}

void BooleanField::setValue(const Json& value)
{
    m_box->setChecked(value.is_boolean() && value.get<bool>());
}

ChoiceField::ChoiceField(std::vector<Json> choices, QWidget* parent)
    : SchemaField(parent), m_choices(std::move(choices))
{
    m_combo = new QComboBox(this);
    m_combo->setEditable(m_choices.size() > 50);
    m_combo->setInsertPolicy(QComboBox::NoInsert);
    m_combo->setSizeAdjustPolicy(QComboBox::AdjustToMinimumContentsLengthWithIcon);
    m_combo->setMinimumContentsLength(16);
    m_combo->setMaxVisibleItems(20);
    QStringList texts;
    for (const auto& choice : m_choices)
        texts += choiceText(choice).left(200);
    m_combo->addItems(texts);
    if (m_combo->isEditable()) {
        m_combo->completer()->setFilterMode(Qt::MatchContains);
        m_combo->completer()->setCompletionMode(QCompleter::PopupCompletion);
        connect(m_combo, &QComboBox::editTextChanged, this, &SchemaField::edited);
    }
    rowLayout(this)->addWidget(m_combo, 1);
    layout()->addItem(new QSpacerItem(0, 0, QSizePolicy::Expanding));
    setFocusProxy(m_combo);
    connect(m_combo, &QComboBox::activated, this, &SchemaField::edited);
}

Json ChoiceField::value() const
{
    const auto at = m_combo->isEditable()
        ? m_combo->findText(m_combo->currentText(), Qt::MatchFixedString | Qt::MatchCaseSensitive)
        : m_combo->currentIndex();
    return at >= 0 ? m_choices.at(static_cast<std::size_t>(at)) : Json(m_combo->currentText().toStdString());
}

void ChoiceField::setValue(const Json& value)
{
    for (std::size_t i = 0; i < m_choices.size(); ++i)
        if (m_choices[i] == value)
            return m_combo->setCurrentIndex(static_cast<int>(i));
    // What is not among the choices is shown and kept; the interface will say what it thinks of it.
    m_choices.push_back(value);
    m_combo->addItem(choiceText(value));
    m_combo->setCurrentIndex(m_combo->count() - 1);
}

QString ChoiceField::problem() const
{
    if (!m_combo->isEditable())
        return {};
    const auto at = m_combo->findText(m_combo->currentText(), Qt::MatchFixedString | Qt::MatchCaseSensitive);
    return at < 0 ? FormsText::tr("This is not one of the choices.") : QString();
}

NullField::NullField(QWidget* parent) : SchemaField(parent)
{
    rowLayout(this)->addWidget(makeLabel(QStringLiteral("null"), TextRole::Mono, this));
}

JsonField::JsonField(QWidget* parent) : SchemaField(parent)
{
    m_editor = makeSmallEditor(3, this);
    m_editor->setFont(Theme::instance().monospace());
    m_editor->setPlaceholderText(FormsText::tr("JSON"));
    m_editor->setPlainText(QStringLiteral("null"));
    rowLayout(this)->addWidget(m_editor, 1);
    setFocusProxy(m_editor);
    connect(m_editor, &QPlainTextEdit::textChanged, this, &SchemaField::edited);
}

Json JsonField::value() const
{
    const auto text = m_editor->toPlainText().toStdString();
    return parseJson(text).value_or(Json(text));
}

void JsonField::setValue(const Json& value)
{
    const QSignalBlocker quiet(m_editor);
    m_editor->setPlainText(QString::fromStdString(
        value.dump(value.is_structured() ? 2 : -1, ' ', false, Json::error_handler_t::replace)));
}

QString JsonField::problem() const
{
    return parseJson(m_editor->toPlainText().toStdString()) ? QString() : FormsText::tr("This is not JSON.");
}

} // namespace gb::ui
