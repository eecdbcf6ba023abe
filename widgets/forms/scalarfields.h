// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "schemafield.h"

class QCheckBox;
class QComboBox;
class QLabel;
class QLineEdit;
class QPlainTextEdit;
class QSlider;

namespace gb::ui {

// A line that grows into an editor when the text has lines.
class TextField final : public SchemaField
{
    Q_OBJECT

public:
    explicit TextField(const Json& schema, QWidget* parent = nullptr);
    Json value() const override;
    void setValue(const Json& value) override;

private:
    void setLong(bool isLong);

    QLineEdit* m_line = nullptr;
    QPlainTextEdit* m_editor = nullptr;
    QWidget* m_grow = nullptr;
};

// Digits as they are typed: 64-bit integers and every float survive. A slider when there is a range.
class NumberField final : public SchemaField
{
    Q_OBJECT

public:
    NumberField(const Json& schema, bool integer, QWidget* parent = nullptr);
    Json value() const override;
    void setValue(const Json& value) override;
    QString problem() const override;

private:
    Json parsed(bool* valid) const;

    bool m_integer;
    double m_minimum;
    double m_maximum;
    QLineEdit* m_line = nullptr;
    QSlider* m_slider = nullptr;
};

class BooleanField final : public SchemaField
{
    Q_OBJECT

public:
    explicit BooleanField(QWidget* parent = nullptr);
    Json value() const override;
    void setValue(const Json& value) override;

private:
    QCheckBox* m_box = nullptr;
};

// Long lists of choices get a line with completion instead of a menu of thousands.
class ChoiceField final : public SchemaField
{
    Q_OBJECT

public:
    explicit ChoiceField(std::vector<Json> choices, QWidget* parent = nullptr);
    Json value() const override;
    void setValue(const Json& value) override;
    QString problem() const override;

private:
    std::vector<Json> m_choices;
    QComboBox* m_combo = nullptr;
};

class NullField final : public SchemaField
{
    Q_OBJECT

public:
    explicit NullField(QWidget* parent = nullptr);
    Json value() const override { return nullptr; }
    void setValue(const Json&) override { }
};

class JsonField final : public SchemaField
{
    Q_OBJECT

public:
    explicit JsonField(QWidget* parent = nullptr);
    Json value() const override;
    void setValue(const Json& value) override;
    QString problem() const override;

private:
    QPlainTextEdit* m_editor = nullptr;
};

} // namespace gb::ui
