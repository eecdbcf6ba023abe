// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

#include "compareview.h"

#include <QHeaderView>
#include <QLabel>
#include <QPlainTextEdit>
#include <QStackedWidget>
#include <QTableWidget>
#include <QVBoxLayout>

#include <widgets/controls/labels.h>
#include <widgets/controls/numbers.h>
#include <widgets/controls/theme.h>

#include "text.h"

namespace gb::ui {

CompareView::CompareView(QWidget* parent) : QWidget(parent)
{
    m_summary = makeLabel({}, TextRole::Strong);
    m_summary->setWordWrap(true);
    m_summary->setTextInteractionFlags(Qt::TextSelectableByMouse);
    m_table = new QTableWidget(0, 3);
    m_table->setAccessibleName(ViewersText::tr("Differences"));
    m_table->setEditTriggers(QAbstractItemView::NoEditTriggers);
    m_table->setShowGrid(false);
    m_table->verticalHeader()->hide();
    m_table->horizontalHeader()->setSectionResizeMode(QHeaderView::Stretch);
    m_words = new QPlainTextEdit;
    m_words->setReadOnly(true);
    m_words->setAccessibleName(ViewersText::tr("Differences by words"));
    m_stack = new QStackedWidget;
    m_stack->addWidget(m_table);
    m_stack->addWidget(m_words);
    auto* layout = new QVBoxLayout(this);
    layout->setSpacing(space::m);
    layout->addWidget(m_summary);
    layout->addWidget(m_stack, 1);
}

QString CompareView::summary() const
{
    return m_summary->text();
}

void CompareView::setProblem(const QString& sentence)
{
    m_summary->setText(sentence);
    m_stack->hide();
}

void CompareView::setDiff(const ResultDiff& diff, const QString& leftName, const QString& rightName)
{
    auto text = diff.same()
        ? ViewersText::tr("The results are the same.")
        : ViewersText::tr("Differences: %1").arg(countText(static_cast<std::int64_t>(diff.total)));
    if (diff.numbers)
        text += ViewersText::tr(" · numbers: %1 · greatest difference %2 · mean %3 · cosine %4")
                    .arg(countText(static_cast<std::int64_t>(diff.numbers->count)),
                        QString::number(diff.numbers->greatest, 'g', 5),
                        QString::number(diff.numbers->mean, 'g', 5),
                        QString::number(diff.numbers->cosine, 'g', 6));
    m_summary->setText(text);
    m_table->setHorizontalHeaderLabels({ViewersText::tr("Where"), leftName, rightName});
    m_stack->setVisible(!diff.same());
    m_stack->setCurrentIndex(diff.words.empty() ? 0 : 1);
    if (diff.words.empty())
        showLines(diff);
    else
        showWords(diff);
}

void CompareView::showLines(const ResultDiff& diff)
{
    m_table->setRowCount(static_cast<int>(diff.lines.size()));
    int row = 0;
    for (const auto& line : diff.lines) {
        int column = 0;
        for (const auto* text : {&line.path, &line.left, &line.right}) {
            auto* item = new QTableWidgetItem(QString::fromStdString(*text));
            item->setToolTip(item->text().toHtmlEscaped());
            if (column == 1 && line.kind != ResultDiff::Kind::Added)
                item->setForeground(tokens().error);
            if (column == 2 && line.kind != ResultDiff::Kind::Removed)
                item->setForeground(tokens().success);
            m_table->setItem(row, column++, item);
        }
        ++row;
    }
}

void CompareView::showWords(const ResultDiff& diff)
{
    m_words->clear();
    auto cursor = m_words->textCursor();
    for (const auto& part : diff.words) {
        QTextCharFormat format;
        format.setForeground(tokens().text);
        if (part.kind) {
            const bool removed = *part.kind == ResultDiff::Kind::Removed;
            format.setForeground(removed ? tokens().error : tokens().success);
            // Not by colour alone.
            format.setFontStrikeOut(removed);
            format.setFontUnderline(!removed);
        }
        cursor.insertText(QString::fromStdString(part.text), format);
    }
}

} // namespace gb::ui
