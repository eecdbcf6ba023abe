// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

#include "modelsdelegate.h"

#include <QPainter>

#include <widgets/controls/theme.h>

#include "modelsitemmodel.h"

namespace gb::ui {
namespace {

constexpr int stateDot = 8;

void paintProgress(QPainter* painter, const QStyleOptionViewItem& option, double share, Tone tone)
{
    const auto& t = tokens();
    painter->save();
    painter->setRenderHint(QPainter::Antialiasing);
    const QFontMetrics metrics(Theme::instance().font(TextSize::Caption));
    const int words = metrics.horizontalAdvance(QStringLiteral("100 %")) + space::s;
    auto box = option.rect.adjusted(space::s, 0, -space::s, 0);
    const auto text = QString::number(static_cast<int>(share * 100)) + QStringLiteral(" %");
    painter->setFont(Theme::instance().font(TextSize::Caption));
    painter->setPen(t.text);
    painter->drawText(box, Qt::AlignRight | Qt::AlignVCenter, text);
    box.setRight(box.right() - words);
    if (box.width() > 16) {
        const QRectF groove(box.left(), box.center().y() - 2, box.width(), 4);
        painter->setPen(Qt::NoPen);
        painter->setBrush(t.border);
        painter->drawRoundedRect(groove, 2, 2);
        painter->setBrush(toneColor(t, tone));
        painter->drawRoundedRect(QRectF(groove.topLeft(), QSizeF(groove.width() * share, 4)), 2, 2);
    }
    painter->restore();
}

} // namespace

void ModelsDelegate::initStyleOption(QStyleOptionViewItem* option, const QModelIndex& index) const
{
    QStyledItemDelegate::initStyleOption(option, index);
    option->textElideMode = index.column() == ModelsItemModel::Name ? Qt::ElideMiddle : option->textElideMode;
    if (index.column() == ModelsItemModel::Progress)
        option->text.clear();
    else if (index.column() == ModelsItemModel::State && !index.internalId())
        option->text.prepend(QStringLiteral("     "));
    if (index.internalId() || index.column() > ModelsItemModel::State)
        option->palette.setColor(QPalette::Text, tokens().secondary);
}

void ModelsDelegate::paint(
    QPainter* painter, const QStyleOptionViewItem& option, const QModelIndex& index) const
{
    QStyledItemDelegate::paint(painter, option, index);
    const auto* models = qobject_cast<const ModelsItemModel*>(index.model());
    const auto* row = models ? models->rowAt(index) : nullptr;
    if (!row)
        return;
    const auto* file = models->fileAt(index);
    if (index.column() == ModelsItemModel::State && !file) {
        painter->save();
        painter->setRenderHint(QPainter::Antialiasing);
        painter->setPen(Qt::NoPen);
        painter->setBrush(toneColor(tokens(), row->tone()));
        painter->drawEllipse(
            option.rect.left() + space::s, option.rect.center().y() - stateDot / 2 + 1, stateDot, stateDot);
        painter->restore();
    }
    if (index.column() != ModelsItemModel::Progress || row->download.isEmpty())
        return;
    if (!file && row->share() >= 0)
        paintProgress(painter, option, std::min(1.0, row->share()), row->tone());
    else if (file && file->size > 0)
        paintProgress(painter, option,
            std::min(1.0, static_cast<double>(file->done) / static_cast<double>(file->size)),
            file->state == QLatin1String("ready") ? Tone::Success : Tone::Accent);
}

} // namespace gb::ui
