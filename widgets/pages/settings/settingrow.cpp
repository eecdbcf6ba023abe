// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

#include "settingrow.h"

#include <QCheckBox>
#include <QComboBox>
#include <QHBoxLayout>
#include <QLineEdit>
#include <QSpinBox>

#include <widgets/controls/buttons.h>
#include <widgets/controls/labels.h>
#include <widgets/controls/theme.h>
#include <widgets/itemmodels/fields.h>

#include "text.h"

namespace gb::ui {
namespace {

constexpr int settingFieldWidth = 220;

// "retention.max_age_days" → "Max age, days": keys are words a person can read, the last one the unit.
QString settingTitle(const QString& key)
{
    auto words = key.section(QLatin1Char('.'), 1).replace(QLatin1Char('_'), QLatin1Char(' '));
    for (const auto* unit : {"days", "bytes", "s"})
        if (const auto last = QLatin1Char(' ') + QLatin1String(unit); words.endsWith(last))
            words = words.chopped(last.size()) + QStringLiteral(", ")
                + (last == QLatin1String(" s") ? QStringLiteral("seconds") : last.mid(1));
    if (!words.isEmpty())
        words[0] = words[0].toUpper();
    return words;
}

} // namespace

SettingRow::SettingRow(const QString& title, const QString& help, QWidget* parent) : QWidget(parent)
{
    auto* name = makeLabel(title);
    auto* sentence = makeLabel(help, TextRole::Caption);
    sentence->setWordWrap(true);
    sentence->setVisible(!help.isEmpty());
    auto* words = new QVBoxLayout;
    words->setSpacing(2);
    words->addWidget(name);
    words->addWidget(sentence);
    m_side = new QWidget(this);
    m_side->setFixedWidth(settingFieldWidth);
    auto* side = new QHBoxLayout(m_side);
    side->setContentsMargins(0, 0, 0, 0);
    m_reset =
        makeIconButton(QStringLiteral("undo"), SettingsText::tr("Back to the default: %1").arg(title), this);
    auto policy = m_reset->sizePolicy();
    policy.setRetainSizeWhenHidden(true);
    m_reset->setSizePolicy(policy);
    m_reset->hide();
    connect(m_reset, &QToolButton::clicked, this, &SettingRow::resetRequested);
    auto* layout = new QHBoxLayout(this);
    layout->setContentsMargins(0, space::s, 0, space::s);
    layout->setSpacing(space::l);
    layout->addLayout(words, 1);
    layout->addWidget(m_reset);
    layout->addWidget(m_side);
    setAccessibleName(title);
}

void SettingRow::setField(QWidget* field)
{
    field->setAccessibleName(accessibleName());
    m_side->layout()->addWidget(field);
}

void SettingRow::setModified(bool modified)
{
    m_reset->setVisible(modified);
}

SettingRow* SettingRow::fromSetting(const Json& setting)
{
    auto* row = new SettingRow(settingTitle(textField(setting, "key")), textField(setting, "description"));
    row->createField(setting);
    const auto value = setting.find("value");
    const auto fallback = setting.find("default");
    row->setModified(value != setting.end() && fallback != setting.end() && *value != *fallback);
    connect(row, &SettingRow::resetRequested, row, [row] { Q_EMIT row->changed(Json(nullptr)); });
    return row;
}

void SettingRow::createField(const Json& setting)
{
    const auto type = stringOr(setting, "type");
    if (type == "boolean") {
        auto* box = new QCheckBox;
        box->setChecked(boolOr(setting, "value"));
        connect(box, &QCheckBox::clicked, this, [this](bool on) { Q_EMIT changed(Json(on)); });
        setField(box);
    } else if (type == "choice") {
        auto* combo = new QComboBox;
        combo->addItems(textField(setting, "choices").split(QLatin1Char('|')));
        combo->setCurrentText(textField(setting, "value"));
        connect(combo, &QComboBox::textActivated, this,
            [this](const QString& text) { Q_EMIT changed(Json(text.toStdString())); });
        setField(combo);
    } else if (type == "integer") {
        // A line, not a spin box: values reach beyond 32 bits.
        auto* line = new QLineEdit(QString::number(integerOr(setting, "value")));
        line->setAlignment(Qt::AlignRight);
        connect(line, &QLineEdit::editingFinished, this, [this, line, before = line->text()] {
            bool valid = false;
            const auto number = line->text().trimmed().toLongLong(&valid);
            line->setProperty("gbInvalid", !valid);
            line->setStyleSheet(line->styleSheet());
            if (valid && line->text() != before)
                Q_EMIT changed(Json(number));
        });
        setField(line);
    } else {
        auto* line = new QLineEdit(textField(setting, "value"));
        connect(line, &QLineEdit::editingFinished, this, [this, line, before = line->text()] {
            if (line->text() != before)
                Q_EMIT changed(Json(line->text().toStdString()));
        });
        setField(line);
    }
}

} // namespace gb::ui
