// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

#include "commandpalette.h"

#include <algorithm>

#include <QApplication>
#include <QGraphicsDropShadowEffect>
#include <QKeyEvent>
#include <QListWidget>
#include <QPainter>
#include <QPointer>
#include <QStyledItemDelegate>
#include <QVBoxLayout>

#include <widgets/controls/filterfield.h>
#include <widgets/controls/icons.h>
#include <widgets/controls/labels.h>
#include <widgets/controls/theme.h>

#include "text.h"

namespace gb::ui {
namespace {

constexpr int paletteWidth = 600;
constexpr int paletteRows = 10;
enum PaletteRole { AboutRole = Qt::UserRole, ShortcutRole, IconRole, CommandRole };

class PaletteDelegate final : public QStyledItemDelegate
{
public:
    using QStyledItemDelegate::QStyledItemDelegate;

    QSize sizeHint(const QStyleOptionViewItem&, const QModelIndex&) const override
    {
        return {100, Theme::instance().rowHeight() + space::s};
    }
    void paint(QPainter* painter, const QStyleOptionViewItem& option, const QModelIndex& index) const override
    {
        const auto& t = tokens();
        const bool selected = option.state & QStyle::State_Selected;
        painter->setRenderHint(QPainter::Antialiasing);
        if (selected) {
            painter->setPen(Qt::NoPen);
            painter->setBrush(t.accentSoft);
            painter->drawRoundedRect(
                option.rect.adjusted(space::xs, 1, -space::xs, -1), cornerRadius, cornerRadius);
        }
        auto box = option.rect.adjusted(space::l, 0, -space::l, 0);
        painter->drawPixmap(box.left(), box.center().y() - 9,
            iconPixmap(index.data(IconRole).toString(), 20, selected ? t.accent : t.secondary,
                painter->device()->devicePixelRatioF()));
        box.setLeft(box.left() + 20 + space::m);
        const auto& theme = Theme::instance();
        painter->setFont(theme.font(TextSize::Caption));
        painter->setPen(t.secondary);
        const auto shortcut = index.data(ShortcutRole).toString();
        painter->drawText(box, Qt::AlignRight | Qt::AlignVCenter, shortcut);
        box.setRight(box.right() - painter->fontMetrics().horizontalAdvance(shortcut) - space::m);
        painter->setFont(theme.font(TextSize::Body));
        painter->setPen(t.text);
        const auto title =
            painter->fontMetrics().elidedText(index.data().toString(), Qt::ElideRight, box.width());
        painter->drawText(box, Qt::AlignVCenter, title);
        box.setLeft(box.left() + painter->fontMetrics().horizontalAdvance(title) + space::m);
        painter->setFont(theme.font(TextSize::Caption));
        painter->setPen(t.secondary);
        painter->drawText(box, Qt::AlignVCenter,
            painter->fontMetrics().elidedText(
                index.data(AboutRole).toString(), Qt::ElideMiddle, box.width()));
    }
};

} // namespace

int matchScore(const QString& typed, const QString& title)
{
    int score = 0;
    qsizetype at = 0;
    for (const auto c : typed) {
        if (c.isSpace())
            continue;
        auto best = title.indexOf(c, at, Qt::CaseInsensitive);
        if (best < 0)
            return -1;
        const auto startsWord = [&title](qsizetype i) { return i == 0 || !title[i - 1].isLetterOrNumber(); };
        for (auto i = best; i >= 0 && best != at; i = title.indexOf(c, i + 1, Qt::CaseInsensitive))
            if (startsWord(i)) {
                best = i;
                break;
            }
        score += best == at && at > 0 ? 10 : startsWord(best) ? 8 : 1;
        at = best + 1;
    }
    return score * 100 - static_cast<int>(title.size());
}

CommandPalette::CommandPalette(QWidget* over) : QFrame(over)
{
    setProperty("gbFrame", QStringLiteral("popup"));
    m_field = new FilterField(ShellText::tr("Type a page, an action or an experiment"));
    m_field->setDelay(0);
    m_list = new QListWidget;
    m_list->setFocusPolicy(Qt::NoFocus);
    m_list->setItemDelegate(new PaletteDelegate(m_list));
    m_list->setUniformItemSizes(true);
    m_list->setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
    m_list->setAccessibleName(ShellText::tr("Matches"));
    m_none = makeLabel({}, TextRole::Secondary);
    m_none->setContentsMargins(space::m, 0, space::m, space::s);
    m_none->setText(ShellText::tr("Nothing here is called like that."));
    auto* layout = new QVBoxLayout(this);
    layout->setContentsMargins(space::s, space::s, space::s, space::s);
    layout->addWidget(m_field);
    layout->addWidget(m_list);
    layout->addWidget(m_none);
    auto* shadow = new QGraphicsDropShadowEffect(this);
    shadow->setBlurRadius(32);
    shadow->setOffset(0, 8);
    shadow->setColor(QColor(0, 0, 0, 80));
    setGraphicsEffect(shadow);
    connect(m_field, &QLineEdit::textChanged, this, &CommandPalette::showMatches);
    connect(m_list, &QListWidget::itemClicked, this, &CommandPalette::runCurrent);
    m_field->installEventFilter(this);
    over->installEventFilter(this);
    hide();
}

void CommandPalette::open(std::vector<Command> commands)
{
    m_before = QApplication::focusWidget();
    m_commands = std::move(commands);
    m_field->clear();
    showMatches({});
    place();
    show();
    raise();
    m_field->setFocus();
}

void CommandPalette::showMatches(const QString& typed)
{
    std::vector<std::pair<int, std::size_t>> matches;
    for (std::size_t i = 0; i < m_commands.size(); ++i)
        if (const auto score = matchScore(typed, m_commands[i].title); score != -1)
            matches.emplace_back(typed.isEmpty() ? 0 : -score, i);
    std::ranges::stable_sort(matches, {}, &std::pair<int, std::size_t>::first);
    m_list->clear();
    for (const auto& [score, index] : matches) {
        const auto& command = m_commands[index];
        auto* item = new QListWidgetItem(command.title, m_list);
        item->setData(AboutRole, command.about);
        item->setData(ShortcutRole, command.shortcut);
        item->setData(IconRole, command.iconName.isEmpty() ? QStringLiteral("command") : command.iconName);
        item->setData(CommandRole, QVariant::fromValue(index));
    }
    m_list->setCurrentRow(0);
    m_list->setVisible(!matches.empty());
    m_none->setVisible(matches.empty());
    place();
}

void CommandPalette::runCurrent()
{
    const auto* item = m_list->currentItem();
    if (!item)
        return;
    const auto run = m_commands[item->data(CommandRole).value<std::size_t>()].run;
    dismiss();
    run();
}

void CommandPalette::dismiss()
{
    hide();
    if (m_before)
        m_before->setFocus();
    m_before = nullptr;
}

bool CommandPalette::eventFilter(QObject* watched, QEvent* event)
{
    if (watched == parentWidget() && event->type() == QEvent::Resize && isVisible())
        place();
    if (watched == m_field && event->type() == QEvent::FocusOut)
        hide();
    if (watched == m_field && event->type() == QEvent::KeyPress) {
        const auto key = static_cast<QKeyEvent*>(event)->key();
        const auto rows = m_list->count();
        if (key == Qt::Key_Escape)
            dismiss();
        else if (key == Qt::Key_Return || key == Qt::Key_Enter)
            runCurrent();
        else if (rows > 0 && (key == Qt::Key_Down || key == Qt::Key_Tab))
            m_list->setCurrentRow((m_list->currentRow() + 1) % rows);
        else if (rows > 0 && (key == Qt::Key_Up || key == Qt::Key_Backtab))
            m_list->setCurrentRow((m_list->currentRow() + rows - 1) % rows);
        else
            return false;
        return true;
    }
    return QFrame::eventFilter(watched, event);
}

void CommandPalette::place()
{
    const auto* over = parentWidget();
    const auto width = qMin(paletteWidth, over->width() - 2 * space::xl);
    const auto row = Theme::instance().rowHeight() + space::s;
    const auto shown = qBound(1, m_list->count(), paletteRows);
    resize(width, qMin(row * shown + 64, over->height() - 2 * space::xxl));
    move((over->width() - width) / 2, space::xxl + space::xl);
}

} // namespace gb::ui
