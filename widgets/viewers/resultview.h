// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <array>
#include <functional>
#include <memory>
#include <string>

#include <QWidget>

#include "tensorfield.h"

class QComboBox;
class QHBoxLayout;
class QLabel;
class QStackedWidget;

namespace gb::ui {

class EmptyState;

// Shows the text of a result in the form that fits it, and in any other that can; chosen by what the value
// says of itself ("kind"), otherwise by its shape.
class ResultView final : public QWidget
{
    Q_OBJECT

public:
    enum class Form { Tree, Text, Table, Vector, Matrix, Tokens, Tensor, Image, Raw };

    explicit ResultView(QWidget* parent = nullptr);

    void setResult(std::string json);
    // Where tensors and images of the next results come from.
    void setFetch(TensorFetch fetch) { m_fetch = std::move(fetch); }
    void clear();
    // In place of a result: why there is none, and one thing to do about it.
    struct Nothing
    {
        QString icon;
        QString title;
        QString sentence;
        QString action{};
        std::function<void()> act{};
    };
    void setNothing(const Nothing& nothing);
    Form form() const { return m_form; }
    QList<Form> forms() const { return m_forms; }
    void setForm(Form form);
    void find();

    static QList<Form> formsFor(std::string_view json); // the best first

    // What the shown form can be written as: file name endings, the usual one first.
    QStringList endings() const;
    // Writes by the ending; `done` gets an empty text or what went wrong.
    void saveAs(const QString& path, std::function<void(const QString& problem)> done);

private:
    QWidget* page(Form form);
    void fill(Form form);
    QString formName(Form form) const;
    void save();
    Result<QByteArray> contents(const QString& ending);
    void saveTensor(const QString& path, const QString& ending, std::function<void(const QString&)> done);

    std::shared_ptr<const std::string> m_text;
    QList<Form> m_forms;
    Form m_form = Form::Tree;
    QComboBox* m_choice = nullptr;
    QLabel* m_about = nullptr;
    QStackedWidget* m_stack = nullptr;
    QWidget* m_bar = nullptr;
    EmptyState* m_empty = nullptr;
    TensorFetch m_fetch;
    std::array<QWidget*, 9> m_pages{};
    std::array<bool, 9> m_filled{};
};

} // namespace gb::ui
