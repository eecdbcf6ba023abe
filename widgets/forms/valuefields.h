// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "schemafield.h"

class QCheckBox;
class QComboBox;
class QCompleter;
class QLabel;
class QLineEdit;

namespace gb::ui {

// The typed fields of a draft (draftform.h). Unlike those made from a schema they know "nothing": an empty
// line is null, which stands for the default. What is not of their type is given back as the text it is.

class LineField final : public SchemaField
{
    Q_OBJECT

public:
    explicit LineField(const QString& placeholder, QWidget* parent = nullptr);
    Json value() const override;
    void setValue(const Json& value) override;
    QLineEdit* line() const { return m_line; }

private:
    QLineEdit* m_line = nullptr;
};

class SwitchField final : public SchemaField
{
    Q_OBJECT

public:
    explicit SwitchField(const QString& text, QWidget* parent = nullptr);
    Json value() const override;
    void setValue(const Json& value) override;

private:
    QCheckBox* m_box = nullptr;
};

// One of several, or, when it is open, any text: then the choices are proposals.
class PickField final : public SchemaField
{
    Q_OBJECT

public:
    struct Choice
    {
        QString text;
        Json value;
        QString reason = {}; // why it cannot be chosen here
    };
    enum class Kind { Closed, Open };

    PickField(Kind kind, std::vector<Choice> choices, QWidget* parent = nullptr);
    void setChoices(std::vector<Choice> choices);
    Json value() const override;
    void setValue(const Json& value) override;

private:
    int indexOf(const Json& value) const;

    Kind m_kind;
    std::vector<Choice> m_choices;
    QComboBox* m_combo = nullptr;
    Json m_other; // a value that is none of the choices
};

class FigureField final : public SchemaField
{
    Q_OBJECT

public:
    explicit FigureField(const QString& placeholder, QWidget* parent = nullptr);
    Json value() const override;
    void setValue(const Json& value) override;
    QString problem() const override;

private:
    QLineEdit* m_line = nullptr;
};

// A size ("8 GiB") or a time ("1 h 30 min"), which stands for bytes or seconds.
class QuantityField final : public SchemaField
{
    Q_OBJECT

public:
    enum class Kind { Bytes, Seconds };

    QuantityField(Kind kind, const QString& placeholder, QWidget* parent = nullptr);
    Json value() const override;
    void setValue(const Json& value) override;
    QString problem() const override;

    static QString text(Kind kind, std::int64_t amount);
    static Json parse(Kind kind, const QString& text); // a number, or the text as it is

private:
    Kind m_kind;
    QLineEdit* m_line = nullptr;
};

} // namespace gb::ui
