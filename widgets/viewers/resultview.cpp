// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

#include "resultview.h"

#include <QClipboard>
#include <QComboBox>
#include <QGuiApplication>
#include <QHeaderView>
#include <QPlainTextEdit>
#include <QStackedWidget>
#include <QTableView>
#include <QVBoxLayout>

#include <widgets/controls/buttons.h>
#include <widgets/controls/emptystate.h>
#include <widgets/controls/labels.h>
#include <widgets/controls/numbers.h>
#include <widgets/controls/theme.h>

#include "imageview.h"
#include "jsonslice.h"
#include "jsonview.h"
#include "matrixview.h"
#include "resultshape.h"
#include "tablemodel.h"
#include "tensorview.h"
#include "text.h"
#include "textview.h"
#include "tokenview.h"
#include "vectorview.h"

namespace gb::ui {
namespace {

constexpr std::size_t textShown = 2'000'000; // a plain text editor is slow beyond

QPlainTextEdit* makeTextPage(const QString& name)
{
    auto* edit = new QPlainTextEdit;
    edit->setReadOnly(true);
    edit->setFrameShape(QFrame::NoFrame);
    edit->setAccessibleName(name);
    edit->setFont(Theme::instance().monospace());
    return edit;
}

TextKind textKind(std::string_view json)
{
    const auto said = jsonMember(json, wholeJson(json), "kind");
    const auto kind = said ? jsonString(json, *said) : QString();
    return kind == QLatin1String("markdown") ? TextKind::Markdown
        : kind == QLatin1String("html")      ? TextKind::Html
                                             : TextKind::Plain;
}

} // namespace

ResultView::ResultView(QWidget* parent) : QWidget(parent)
{
    m_choice = new QComboBox;
    m_choice->setAccessibleName(ViewersText::tr("How to show the result"));
    m_about = makeLabel({}, TextRole::Caption);
    auto* copy = makeIconButton(QStringLiteral("copy"), ViewersText::tr("Copy the result"));
    auto* save = makeIconButton(QStringLiteral("download"), ViewersText::tr("Save the result"));
    connect(copy, &QToolButton::clicked, this, [this] {
        if (m_text)
            QGuiApplication::clipboard()->setText(QString::fromStdString(*m_text));
    });
    connect(save, &QToolButton::clicked, this, &ResultView::save);
    connect(m_choice, &QComboBox::activated, this, [this](int index) { setForm(m_forms.value(index)); });
    m_stack = new QStackedWidget;
    m_empty = new EmptyState({}, {}, {});
    m_stack->addWidget(m_empty);
    m_bar = new QWidget;
    auto* bar = new QHBoxLayout(m_bar);
    bar->setContentsMargins(0, 0, 0, 0);
    bar->setSpacing(space::s);
    bar->addWidget(m_choice);
    bar->addWidget(m_about);
    bar->addStretch();
    bar->addWidget(copy);
    bar->addWidget(save);
    auto* layout = new QVBoxLayout(this);
    layout->setContentsMargins(0, 0, 0, 0);
    layout->setSpacing(space::s);
    layout->addWidget(m_bar);
    layout->addWidget(m_stack, 1);
    clear();
}

void ResultView::setResult(std::string json)
{
    const auto before = m_form;
    m_text = std::make_shared<const std::string>(std::move(json));
    m_filled.fill(false);
    m_bar->show();
    const auto forms = formsFor(*m_text);
    const bool same = forms == m_forms;
    m_forms = forms;
    m_choice->clear();
    for (const auto form : m_forms)
        m_choice->addItem(formName(form));
    m_about->setText(bytesText(static_cast<double>(m_text->size())));
    // Calling the same function again keeps the form a person chose.
    setForm(same && m_forms.contains(before) ? before : m_forms.first());
}

void ResultView::clear()
{
    setNothing({QStringLiteral("play"), ViewersText::tr("No result"),
        ViewersText::tr("What the function gives back is shown here."), {}, {}});
}

void ResultView::setNothing(const Nothing& nothing)
{
    m_empty->setIcon(nothing.icon);
    m_empty->setTexts(nothing.title, nothing.sentence);
    m_empty->setAction(nothing.action, nothing.act, false);
    m_text.reset();
    m_forms.clear();
    m_choice->clear();
    m_about->clear();
    m_bar->hide();
    m_stack->setCurrentWidget(m_empty);
}

QList<ResultView::Form> ResultView::formsFor(std::string_view json)
{
    QList<Form> forms;
    if (!findHandles(json, "tensor").empty())
        forms += Form::Tensor;
    if (!findHandles(json, "image").empty())
        forms += Form::Image;
    if (findTokens(json, true))
        forms += Form::Tokens;
    if (findMatrix(json, true))
        forms += Form::Matrix;
    if (findText(json))
        forms += Form::Text;
    if (findVector(json, true))
        forms += Form::Vector;
    if (looksLikeTable(json))
        forms.contains(Form::Matrix) ? forms.append(Form::Table) : forms.prepend(Form::Table);
    forms += Form::Tree;
    forms += Form::Raw;
    return forms;
}

QString ResultView::formName(Form form) const
{
    switch (form) {
    case Form::Tree:
        return ViewersText::tr("Tree");
    case Form::Text:
        return ViewersText::tr("Text");
    case Form::Table:
        return ViewersText::tr("Table");
    case Form::Vector:
        return ViewersText::tr("Vector");
    case Form::Matrix:
        return ViewersText::tr("Matrix");
    case Form::Tokens:
        return ViewersText::tr("Tokens");
    case Form::Tensor:
        return ViewersText::tr("Tensor");
    case Form::Image:
        return ViewersText::tr("Image");
    case Form::Raw:
        return ViewersText::tr("JSON");
    }
    return {};
}

void ResultView::setForm(Form form)
{
    if (!m_text || !m_forms.contains(form))
        return;
    m_form = form;
    // Of what is behind a handle the viewer says the size.
    m_about->setVisible(form != Form::Tensor && form != Form::Image);
    m_choice->setCurrentIndex(static_cast<int>(m_forms.indexOf(form)));
    auto* shown = page(form);
    if (!m_filled.at(static_cast<std::size_t>(form)))
        fill(form);
    m_filled.at(static_cast<std::size_t>(form)) = true;
    m_stack->setCurrentWidget(shown);
}

QWidget* ResultView::page(Form form)
{
    auto& made = m_pages.at(static_cast<std::size_t>(form));
    if (made)
        return made;
    switch (form) {
    case Form::Tree:
        made = new JsonView;
        break;
    case Form::Text:
        made = new TextView;
        break;
    case Form::Raw:
        made = makeTextPage(ViewersText::tr("Result as JSON"));
        break;
    case Form::Table: {
        auto* table = new QTableView;
        table->setModel(new TableModel(table));
        table->setSortingEnabled(true);
        table->horizontalHeader()->setSortIndicator(-1, Qt::AscendingOrder);
        table->verticalHeader()->setDefaultSectionSize(Theme::instance().rowHeight());
        table->setShowGrid(false);
        table->setAlternatingRowColors(true);
        table->setAccessibleName(ViewersText::tr("Result as a table"));
        made = table;
        break;
    }
    case Form::Vector:
        made = new VectorView;
        break;
    case Form::Matrix:
        made = new MatrixView;
        break;
    case Form::Tokens:
        made = new TokenView;
        break;
    case Form::Tensor:
        made = new TensorView;
        break;
    case Form::Image:
        made = new ImageView;
        break;
    }
    m_stack->addWidget(made);
    return made;
}

void ResultView::fill(Form form)
{
    auto* at = page(form);
    const auto& text = *m_text;
    switch (form) {
    case Form::Tree:
        static_cast<JsonView*>(at)->setText(text);
        break;
    case Form::Text:
        static_cast<TextView*>(at)->setText(jsonString(text, *findText(text), textShown), textKind(text));
        break;
    case Form::Raw: {
        // Small results are laid out for reading; a large one is shown as it came, cut.
        const auto parsed = text.size() < 200'000 ? parseJson(text) : Result<Json>(fail("large", ""));
        const auto shown =
            parsed ? parsed->dump(2, ' ', false, Json::error_handler_t::replace) : text.substr(0, textShown);
        static_cast<QPlainTextEdit*>(at)->setPlainText(QString::fromStdString(shown));
        break;
    }
    case Form::Table:
        static_cast<TableModel*>(static_cast<QTableView*>(at)->model())->setText(m_text);
        static_cast<QTableView*>(at)->resizeColumnsToContents();
        break;
    case Form::Vector:
        if (auto vector = findVector(text, false))
            static_cast<VectorView*>(at)->setValues(std::move(*vector));
        break;
    case Form::Matrix:
        if (auto matrix = findMatrix(text, false))
            static_cast<MatrixView*>(at)->setMatrix(std::move(*matrix));
        break;
    case Form::Tokens:
        if (auto tokens = findTokens(text, false))
            static_cast<TokenView*>(at)->setTokens(std::move(*tokens), scoreName(text));
        break;
    case Form::Tensor:
        static_cast<TensorView*>(at)->setTensors(findHandles(text, "tensor"), m_fetch);
        break;
    case Form::Image:
        static_cast<ImageView*>(at)->setImage(findHandles(text, "image").front(), m_fetch);
        break;
    }
}

void ResultView::find()
{
    if (m_form == Form::Tree)
        static_cast<JsonView*>(page(Form::Tree))->find();
}

} // namespace gb::ui
