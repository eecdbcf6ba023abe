// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

#include "valuefields.h"

#include <charconv>
#include <cmath>

#include <QCheckBox>
#include <QComboBox>
#include <QHBoxLayout>
#include <QLineEdit>
#include <QRegularExpression>
#include <QStandardItemModel>

#include <backend/domain/sandboxspec.h>
#include <widgets/controls/tokens.h>
#include <widgets/itemmodels/fields.h>

#include "linetext.h"
#include "text.h"

namespace gb::ui {
namespace {

constexpr int narrowField = 220;

QHBoxLayout* valueLayout(QWidget* widget, QWidget* editor)
{
    auto* layout = new QHBoxLayout(widget);
    layout->setContentsMargins(0, 0, 0, 0);
    layout->addWidget(editor, 1);
    widget->setFocusProxy(editor);
    return layout;
}

QString shownValue(const Json& value)
{
    if (value.is_null())
        return {};
    return value.is_string() ? QString::fromStdString(value.get<std::string>()) : compactJson(value);
}

} // namespace

LineField::LineField(const QString& placeholder, QWidget* parent) : SchemaField(parent), m_line(new QLineEdit)
{
    m_line->setPlaceholderText(placeholder);
    valueLayout(this, m_line);
    connect(m_line, &QLineEdit::textEdited, this, &SchemaField::edited);
}

Json LineField::value() const
{
    const auto text = m_line->text().trimmed();
    return text.isEmpty() ? Json() : Json(text.toStdString());
}

void LineField::setValue(const Json& wanted)
{
    if (wanted != value())
        showIn(m_line, shownValue(wanted));
}

SwitchField::SwitchField(const QString& text, QWidget* parent)
    : SchemaField(parent), m_box(new QCheckBox(text))
{
    valueLayout(this, m_box);
    connect(m_box, &QCheckBox::clicked, this, &SchemaField::edited);
}

Json SwitchField::value() const
{
    return m_box->isChecked();
}

void SwitchField::setValue(const Json& value)
{
    m_box->setChecked(value.is_boolean() && value.get<bool>());
}

PickField::PickField(Kind kind, std::vector<Choice> choices, QWidget* parent)
    : SchemaField(parent), m_kind(kind), m_combo(new QComboBox)
{
    m_combo->setEditable(kind == Kind::Open);
    m_combo->setInsertPolicy(QComboBox::NoInsert);
    m_combo->setSizeAdjustPolicy(QComboBox::AdjustToMinimumContentsLengthWithIcon);
    m_combo->setMinimumContentsLength(12);
    valueLayout(this, m_combo);
    setChoices(std::move(choices));
    connect(m_combo, &QComboBox::activated, this, &SchemaField::edited);
    if (m_kind == Kind::Open)
        connect(m_combo->lineEdit(), &QLineEdit::textEdited, this, &SchemaField::edited);
}

void PickField::setChoices(std::vector<Choice> choices)
{
    const auto now = m_combo->count() > 0 ? value() : Json();
    m_choices = std::move(choices);
    const QSignalBlocker quiet(m_combo);
    m_combo->clear();
    for (const auto& choice : m_choices) {
        m_combo->addItem(choice.text);
        if (choice.reason.isEmpty())
            continue;
        const auto row = m_combo->count() - 1;
        m_combo->setItemData(row, choice.reason, Qt::ToolTipRole);
        if (auto* items = qobject_cast<QStandardItemModel*>(m_combo->model()))
            items->item(row)->setEnabled(false);
    }
    setValue(now);
}

int PickField::indexOf(const Json& value) const
{
    for (std::size_t i = 0; i < m_choices.size(); ++i)
        if (m_choices[i].value == value)
            return static_cast<int>(i);
    return -1;
}

Json PickField::value() const
{
    if (m_kind == Kind::Closed) {
        const auto at = m_combo->currentIndex();
        return at >= 0 && at < static_cast<int>(m_choices.size())
            ? m_choices[static_cast<std::size_t>(at)].value
            : m_other;
    }
    const auto text = m_combo->currentText().trimmed();
    for (const auto& choice : m_choices)
        if (choice.text == text)
            return choice.value;
    return text.isEmpty() ? Json() : Json(text.toStdString());
}

void PickField::setValue(const Json& wanted)
{
    const auto at = indexOf(wanted);
    if (m_kind == Kind::Open) {
        const auto text = at >= 0 ? m_choices[static_cast<std::size_t>(at)].text : shownValue(wanted);
        if (wanted != value() || (at >= 0 && m_combo->currentText() != text))
            m_combo->setEditText(text);
        return;
    }
    // What is not among the choices is shown and kept; the validation says what it thinks of it.
    const auto known = static_cast<int>(m_choices.size());
    while (m_combo->count() > known)
        m_combo->removeItem(m_combo->count() - 1);
    if (at < 0) {
        m_other = wanted;
        m_combo->addItem(wanted.is_null() ? FormsText::tr("not set") : shownValue(wanted));
    }
    m_combo->setCurrentIndex(at < 0 ? known : at);
}

FigureField::FigureField(const QString& placeholder, QWidget* parent)
    : SchemaField(parent), m_line(new QLineEdit)
{
    m_line->setPlaceholderText(placeholder);
    m_line->setMaximumWidth(narrowField);
    valueLayout(this, m_line)->addStretch(1);
    connect(m_line, &QLineEdit::textEdited, this, &SchemaField::edited);
}

Json FigureField::value() const
{
    const auto text = m_line->text().trimmed().toStdString();
    if (text.empty())
        return nullptr;
    const auto* end = text.data() + text.size();
    std::int64_t whole = 0;
    if (const auto [stop, bad] = std::from_chars(text.data(), end, whole); bad == std::errc() && stop == end)
        return whole;
    double number = 0;
    const auto [stop, bad] = std::from_chars(text.data(), end, number);
    return bad == std::errc() && stop == end && std::isfinite(number) ? Json(number) : Json(text);
}

void FigureField::setValue(const Json& wanted)
{
    if (wanted != value())
        showIn(m_line, shownValue(wanted));
}

QString FigureField::problem() const
{
    return value().is_string() ? FormsText::tr("“%1” is not a number.").arg(m_line->text().trimmed())
                               : QString();
}

QuantityField::QuantityField(Kind kind, const QString& placeholder, QWidget* parent)
    : SchemaField(parent), m_kind(kind), m_line(new QLineEdit)
{
    m_line->setPlaceholderText(placeholder);
    m_line->setMaximumWidth(narrowField);
    valueLayout(this, m_line)->addStretch(1);
    connect(m_line, &QLineEdit::textEdited, this, &SchemaField::edited);
    // Who leaves the field sees what was understood: "90" is 1 min 30 s.
    connect(m_line, &QLineEdit::editingFinished, this, [this] {
        if (const auto now = value(); now.is_number_integer())
            showIn(m_line, text(m_kind, now.get<std::int64_t>()));
    });
}

QString QuantityField::problem() const
{
    if (m_kind == Kind::Bytes || !value().is_string())
        return {};
    return FormsText::tr("“%1” is not a time. Write one like 90 s, 20 min or 2 h.")
        .arg(m_line->text().trimmed());
}

QString QuantityField::text(Kind kind, std::int64_t amount)
{
    struct Unit
    {
        const char* name;
        std::int64_t size;
    };
    static constexpr Unit sizes[] = {
        {"TiB", 1LL << 40}, {"GiB", 1LL << 30}, {"MiB", 1LL << 20}, {"KiB", 1LL << 10}};
    static constexpr Unit times[] = {{"d", 86'400}, {"h", 3'600}, {"min", 60}, {"s", 1}};
    if (kind == Kind::Bytes) {
        for (const auto& [name, size] : sizes)
            if (amount >= size && amount % size == 0)
                return QStringLiteral("%1 %2").arg(amount / size).arg(QLatin1String(name));
        return QString::number(amount);
    }
    if (amount <= 0)
        return QString::number(amount);
    QStringList parts;
    for (const auto& [name, size] : times) {
        if (amount >= size)
            parts += QStringLiteral("%1 %2").arg(amount / size).arg(QLatin1String(name));
        amount %= size;
    }
    return parts.join(QLatin1Char(' '));
}

Json QuantityField::parse(Kind kind, const QString& text)
{
    const auto trimmed = text.trimmed();
    if (trimmed.isEmpty())
        return nullptr;
    if (kind == Kind::Bytes) {
        const auto bytes = parseBytes(trimmed.toStdString());
        return bytes ? Json(*bytes) : Json(trimmed.toStdString());
    }
    static const auto amount = QStringLiteral(
        R"((\d{1,9}(?:\.\d{1,3})?)\s*(d(?:ays?)?|h(?:ours?)?|m(?:in(?:ute)?s?)?|s(?:ec(?:ond)?s?)?)?)");
    static const QRegularExpression whole(QStringLiteral("^(?:\\s*%1)+$").arg(amount));
    static const QRegularExpression part(amount);
    if (!whole.match(trimmed).hasMatch())
        return trimmed.toStdString();
    double seconds = 0;
    for (auto at = part.globalMatch(trimmed); at.hasNext();) {
        const auto found = at.next();
        const auto unit = found.captured(2);
        const int size = unit.startsWith(QLatin1Char('d')) ? 86'400
            : unit.startsWith(QLatin1Char('h'))            ? 3'600
            : unit.startsWith(QLatin1Char('m'))            ? 60
                                                           : 1;
        seconds += found.captured(1).toDouble() * size;
    }
    return static_cast<std::int64_t>(std::llround(seconds));
}

Json QuantityField::value() const
{
    return parse(m_kind, m_line->text());
}

void QuantityField::setValue(const Json& wanted)
{
    if (wanted != value())
        showIn(m_line,
            wanted.is_number_integer() ? text(m_kind, wanted.get<std::int64_t>()) : shownValue(wanted));
}

} // namespace gb::ui
