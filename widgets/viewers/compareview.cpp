// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

#include "compareview.h"

#include <algorithm>

#include <QHeaderView>
#include <QLabel>
#include <QPlainTextEdit>
#include <QStackedWidget>
#include <QTableWidget>
#include <QVBoxLayout>

#include <widgets/controls/errortext.h>
#include <widgets/controls/labels.h>
#include <widgets/controls/numbers.h>
#include <widgets/controls/progressrow.h>
#include <widgets/controls/theme.h>

#include "imagecompare.h"
#include "tensorcompare.h"
#include "text.h"

namespace gb::ui {
namespace {

constexpr std::size_t comparedMost = 16U << 20U;
constexpr int handleDepthMost = 8;

// Two handles are never the same, so what stands for a tensor or an image is compared by itself; here only
// what it is: kind, type, shape.
void dropHandles(Json& value, int depth)
{
    if (!value.is_structured() || depth == 0)
        return;
    if (value.is_object() && value.contains("$gb") && value.contains("handle")) {
        Json kept = Json::object();
        for (const char* key : {"$gb", "dtype", "shape", "format", "width", "height"})
            if (const auto found = value.find(key); found != value.end())
                // As a word: a side of a shape is no number to take the mean of.
                kept[key] = found->is_string() ? *found : Json(found->dump());
        value = std::move(kept);
        return;
    }
    for (auto& part : value)
        dropHandles(part, depth - 1);
}

Result<ResultDiff> diffWithoutHandles(const std::string& left, const std::string& right)
{
    if (left.size() > comparedMost || right.size() > comparedMost)
        return diffResults(std::string_view(left), std::string_view(right));
    auto a = parseJson(left);
    auto b = parseJson(right);
    if (!a || !b)
        return diffResults(std::string_view(left), std::string_view(right));
    dropHandles(*a, handleDepthMost);
    dropHandles(*b, handleDepthMost);
    return diffResults(*a, *b);
}

QString differenceText(const TensorCompare& compare)
{
    const auto& difference = compare.difference();
    if (difference.same())
        return ViewersText::tr("%1 values, all the same").arg(countText(difference.count));
    auto text = ViewersText::tr("%1 values · greatest difference %2 · mean %3 · cosine %4")
                    .arg(countText(difference.count), QString::number(difference.greatest, 'g', 5),
                        QString::number(difference.mean, 'g', 5), QString::number(difference.cosine, 'g', 6));
    if (difference.odd > 0)
        text += ViewersText::tr(" · %1 finite on one side only").arg(countText(difference.odd));
    return text;
}

} // namespace

CompareView::CompareView(QWidget* parent) : QWidget(parent)
{
    m_summary = makeLabel({}, TextRole::Strong);
    m_summary->setWordWrap(true);
    m_summary->setTextInteractionFlags(Qt::TextSelectableByMouse);
    m_table = new QTableWidget(0, 3);
    m_table->setAccessibleName(ViewersText::tr("Differences"));
    m_table->setEditTriggers(QAbstractItemView::NoEditTriggers);
    m_table->setShowGrid(false);
    m_table->setFrameShape(QFrame::NoFrame);
    m_table->horizontalHeader()->setDefaultAlignment(Qt::AlignLeft | Qt::AlignVCenter);
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
    m_tensors = new QVBoxLayout;
    m_tensors->setSpacing(space::xs);
    m_images = new QVBoxLayout;
    layout->addWidget(m_summary);
    layout->addLayout(m_tensors);
    layout->addLayout(m_images, 3);
    layout->addWidget(m_stack, 1);
    connect(&Theme::instance(), &Theme::changed, this, &CompareView::showParts);
}

void CompareView::setResults(const Side& left, const Side& right)
{
    const auto diff = diffWithoutHandles(left.result, right.result);
    if (!diff)
        return setProblem(errorSentence(diff.error()));
    setDiff(*diff, left.name, right.name);
    compareTensors(left, right);
    compareImages(left, right);
}

void CompareView::compareTensors(const Side& left, const Side& right)
{
    const auto older = findHandles(left.result, "tensor");
    const auto newer = findHandles(right.result, "tensor");
    if (!older.empty() && m_stack->isHidden())
        m_summary->setText(ViewersText::tr("Apart from their values the results are the same."));
    for (const auto& one : older) {
        const auto other = std::ranges::find(newer, one.path, &HandleField::path);
        if (other == newer.end()) // the structure says so
            continue;
        auto* row = new ProgressRow;
        m_tensors->addWidget(row);
        auto* compare = new TensorCompare({one, left.fetch}, {*other, right.fetch}, row);
        const auto show = [row, path = one.path](const QString& state, const QString& message, double share) {
            ProgressSpec spec;
            spec.title = path;
            spec.message = message;
            spec.state = state;
            spec.done = share;
            spec.total = state.isEmpty() ? 0 : 1;
            row->setProgress(spec);
        };
        show(QStringLiteral("running"), ViewersText::tr("Comparing %1").arg(shapeText(one.shape)), 0);
        connect(compare, &TensorCompare::progressed, row, [show, shape = one.shape](double share) {
            show(QStringLiteral("running"), ViewersText::tr("Comparing %1").arg(shapeText(shape)), share);
        });
        connect(compare, &TensorCompare::finished, row, [show, compare] {
            show({}, compare->error() ? errorSentence(*compare->error()) : differenceText(*compare), 0);
        });
        compare->start();
    }
}

void CompareView::compareImages(const Side& left, const Side& right)
{
    const auto older = findHandles(left.result, "image");
    const auto newer = findHandles(right.result, "image");
    if (older.empty() || newer.empty())
        return;
    auto* images = new ImageCompare;
    m_images->addWidget(images);
    images->setImages(older.front(), left.fetch, newer.front(), right.fetch);
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
    m_diff = diff;
    showParts();
}

void CompareView::showParts()
{
    if (m_diff.words.empty())
        showLines(m_diff);
    else
        showWords(m_diff);
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
