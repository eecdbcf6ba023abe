// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

#include "laidout.h"

#include <utility>

#include <QTextBlock>
#include <QTextCursor>
#include <QTextDocument>
#include <QTextList>
#include <QTextTable>

#include "theme.h"

namespace gb::ui {
namespace {

void markCode(const QTextBlock& block)
{
    QTextCharFormat code;
    code.setFont(Theme::instance().monospace());
    code.setBackground(tokens().sunken);
    QList<QPair<int, int>> places;
    for (auto it = block.begin(); !it.atEnd(); ++it)
        if (it.fragment().charFormat().fontFixedPitch())
            places.append({it.fragment().position(), it.fragment().length()});
    for (const auto& [position, length] : std::as_const(places)) {
        QTextCursor cursor(block);
        cursor.setPosition(position);
        cursor.setPosition(position + length, QTextCursor::KeepAnchor);
        cursor.mergeCharFormat(code);
    }
}

} // namespace

void layOutQuietly(QTextDocument* document)
{
    const auto& theme = Theme::instance();
    for (auto block = document->begin(); block.isValid(); block = block.next()) {
        QTextCursor cursor(block);
        auto format = block.blockFormat();
        const int level = format.headingLevel();
        const bool isListed = block.textList() != nullptr;
        const bool isInTable = cursor.currentTable() != nullptr;
        if (!isInTable) {
            format.setTopMargin(level > 0 ? space::s : 0);
            format.setBottomMargin(isListed ? space::xs : space::s);
        }
        if (format.hasProperty(QTextFormat::BlockCodeFence))
            format.setBackground(tokens().sunken);
        cursor.setBlockFormat(format);
        markCode(block);
        if (level == 0)
            continue;
        cursor.select(QTextCursor::BlockUnderCursor);
        QTextCharFormat letters;
        letters.setProperty(QTextFormat::FontSizeAdjustment, 0);
        letters.setFont(theme.font(level == 1 ? TextSize::Title : TextSize::Heading, QFont::DemiBold));
        cursor.mergeCharFormat(letters);
    }
    for (auto* frame : document->rootFrame()->childFrames())
        if (auto* table = qobject_cast<QTextTable*>(frame)) {
            auto format = table->format();
            format.setCellSpacing(0);
            format.setCellPadding(space::xs);
            format.setBorder(1);
            format.setBorderCollapse(true);
            format.setBorderBrush(tokens().border);
            format.setBorderStyle(QTextFrameFormat::BorderStyle_Solid);
            format.setBottomMargin(space::s);
            table->setFormat(format);
        }
}

} // namespace gb::ui
