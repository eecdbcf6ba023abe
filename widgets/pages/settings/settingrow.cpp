// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

#include "settingrow.h"

#include <optional>

#include <QCheckBox>
#include <QComboBox>
#include <QHBoxLayout>
#include <QLineEdit>
#include <QMap>
#include <QStyle>

#include <widgets/controls/buttons.h>
#include <widgets/controls/labels.h>
#include <widgets/controls/theme.h>
#include <widgets/forms/valuefields.h>
#include <widgets/itemmodels/fields.h>

#include "text.h"

namespace gb::ui {
namespace {

constexpr int settingFieldWidth = 220;

// What a setting is called; one that a newer daemon has is called by its key.
QString settingTitle(const QString& key)
{
    static const QMap<QString, QString> titles = {
        {QStringLiteral("daemon.idle_exit_s"), SettingsText::tr("Leaves when idle for")},
        {QStringLiteral("models.at_once"), SettingsText::tr("Downloads at the same time")},
        {QStringLiteral("models.bytes_per_second"), SettingsText::tr("Rate limit, per second")},
        {QStringLiteral("models.keep_free_bytes"), SettingsText::tr("Keep free on the disk")},
        {QStringLiteral("retention.max_age_days"), SettingsText::tr("Keep runs for")},
        {QStringLiteral("retention.max_bytes"), SettingsText::tr("Keep at most")},
        {QStringLiteral("secrets.key_store"), SettingsText::tr("Use the desktop's key store")}};
    if (const auto found = titles.find(key); found != titles.end())
        return *found;
    auto words = key.section(QLatin1Char('.'), 1).replace(QLatin1Char('_'), QLatin1Char(' '));
    if (!words.isEmpty())
        words[0] = words[0].toUpper();
    return words;
}

// Sizes and times are written as people write them, and what zero stands for in words.
struct NumberWords
{
    std::optional<QuantityField::Kind> kind;
    std::int64_t unit = 1; // what the setting counts, in what the kind counts
    QString zero;

    QString text(std::int64_t number) const
    {
        if (number == 0 && !zero.isEmpty())
            return zero;
        return kind ? QuantityField::text(*kind, number * unit) : QString::number(number);
    }
    std::optional<std::int64_t> parse(const QString& text) const
    {
        if (!zero.isEmpty() && text.trimmed().compare(zero, Qt::CaseInsensitive) == 0)
            return 0;
        bool isWhole = false;
        const std::int64_t plain = text.trimmed().toLongLong(&isWhole);
        if (isWhole)
            return plain;
        const auto amount = kind ? QuantityField::parse(*kind, text) : Json();
        if (!amount.is_number_integer() || amount.get<std::int64_t>() % unit != 0)
            return std::nullopt;
        return amount.get<std::int64_t>() / unit;
    }
};

NumberWords numberWords(const QString& key)
{
    constexpr std::int64_t dayInSeconds = 86'400;
    if (key == QLatin1String("retention.max_age_days"))
        return {QuantityField::Kind::Seconds, dayInSeconds, SettingsText::tr("forever")};
    if (key == QLatin1String("retention.max_bytes") || key == QLatin1String("models.bytes_per_second"))
        return {QuantityField::Kind::Bytes, 1, SettingsText::tr("no limit")};
    if (key.contains(QLatin1String("bytes")))
        return {QuantityField::Kind::Bytes, 1, {}};
    if (key.endsWith(QLatin1String("_s")))
        return {QuantityField::Kind::Seconds, 1, {}};
    return {};
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
        createNumber(setting);
    } else {
        auto* line = new QLineEdit(textField(setting, "value"));
        connect(line, &QLineEdit::editingFinished, this, [this, line, before = line->text()] {
            if (line->text() != before)
                Q_EMIT changed(Json(line->text().toStdString()));
        });
        setField(line);
    }
}

void SettingRow::createNumber(const Json& setting)
{
    const auto words = numberWords(textField(setting, "key"));
    const auto number = integerOr(setting, "value");
    // A line, not a spin box: values reach beyond 32 bits.
    auto* line = new QLineEdit(words.text(number));
    line->setAlignment(Qt::AlignRight);
    connect(line, &QLineEdit::editingFinished, this, [this, line, words, number] {
        const auto typed = words.parse(line->text());
        line->setProperty("gbInvalid", !typed);
        line->style()->unpolish(line);
        line->style()->polish(line);
        if (typed && *typed != number)
            Q_EMIT changed(Json(*typed));
    });
    setField(line);
}

} // namespace gb::ui
