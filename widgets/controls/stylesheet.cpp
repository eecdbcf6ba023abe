// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

#include "stylesheet.h"

#include <QHash>

#include "icons.h"
#include "theme.h"

namespace gb::ui {
namespace {

const char* const textRules = R"(
QLabel { background: transparent; }
QLabel[gbText="title"] { font-size: @titlePx; font-weight: 600; }
QLabel[gbText="heading"] { font-size: @headingPx; font-weight: 600; }
QLabel[gbText="strong"] { font-weight: 600; }
QLabel[gbText="secondary"] { color: @secondary; }
QLabel[gbText="caption"] { color: @secondary; font-size: @captionPx; }
QLabel[gbText="section"] { color: @secondary; font-size: @captionPx; font-weight: 600; }
QLabel[gbText="mono"] { font-family: "@mono"; font-size: @smallPx; }
QLabel[gbText="error"] { color: @error; font-size: @smallPx; }
QToolTip { color: @window; background: @text; border: 0; padding: 4px 8px; }
)";

const char* const frameRules = R"(
QFrame[gbFrame="card"] { background: @surface; border: 1px solid @border; border-radius: 6px; }
QFrame[gbFrame="well"] { background: @sunken; border: 1px solid @border; border-radius: 6px; }
QFrame[gbFrame="plain"] { background: @surface; border: 0; }
QFrame[gbFrame="bar"] { background: @surface; border: 0; border-bottom: 1px solid @border; }
QFrame[gbFrame="tray"] { background: @surface; border: 0; border-top: 1px solid @border; }
QFrame[gbFrame="rail"] { background: @surface; border: 0; border-right: 1px solid @border; }
QFrame[gbFrame="side"] { background: @surface; border: 0; border-left: 1px solid @border; }
QWidget[gbSide="true"] { background: @surface; }
QFrame[gbFrame="line"] { background: @border; border: 0; max-height: 1px; min-height: 1px; }
QFrame[gbFrame="popup"] { background: @surface; border: 1px solid @border; border-radius: 8px; }
QSplitter::handle { background: @border; }
QSplitter::handle:hover { background: @accent; }
QSplitter::handle:horizontal { width: 1px; }
QSplitter::handle:vertical { height: 1px; }
)";

const char* const buttonRules = R"(
QPushButton { background: @surface; color: @text; border: 1px solid @border; border-radius: 6px;
    padding: 5px 13px; min-height: 18px; outline: 0; }
QPushButton:hover { background: @hover; border-color: @strongBorder; }
QPushButton:pressed { background: @sunken; }
QPushButton:focus { border: 2px solid @accent; padding: 4px 12px; }
QPushButton:disabled { color: @disabled; background: @window; border-color: @border; }
QPushButton[gbKind="primary"] { background: @accent; color: @onAccent; border-color: @accent; font-weight: 600; }
QPushButton[gbKind="primary"]:hover { background: @accentHover; border-color: @accentHover; }
QPushButton[gbKind="primary"]:pressed { background: @accentPressed; }
QPushButton[gbKind="primary"]:focus { border: 2px solid @text; padding: 4px 12px; }
QPushButton[gbKind="primary"]:disabled { background: @sunken; color: @disabled; border-color: @border; }
QPushButton[gbKind="danger"] { color: @error; }
QPushButton[gbKind="danger"]:hover { background: @errorSoft; border-color: @error; }
QPushButton[gbKind="link"] { background: transparent; border: 1px solid transparent; color: @accent;
    padding: 3px 5px; text-align: left; }
QPushButton[gbKind="link"]:hover { text-decoration: underline; }
QPushButton[gbKind="link"]:focus { border: 2px solid @accent; padding: 2px 4px; }
QPushButton[gbKind="chip"] { background: @sunken; border-radius: 13px; padding: 3px 10px; }
QPushButton[gbKind="chip"]:hover { border-color: @accent; }
QPushButton[gbKind="chip"]:focus { border: 2px solid @accent; padding: 2px 9px; }
QPushButton::menu-indicator { image: url("@chevron"); width: 12px; height: 12px; right: 8px;
    subcontrol-position: center right; subcontrol-origin: padding; }
QPushButton[gbMenu="true"] { padding-right: 24px; }
QToolButton { background: transparent; border: 1px solid transparent; border-radius: 6px; padding: 4px;
    color: @text; }
QToolButton:hover { background: @hover; }
QToolButton:pressed, QToolButton:checked { background: @accentSoft; color: @accent; }
QToolButton:focus { border: 2px solid @accent; padding: 3px; }
QToolButton:disabled { color: @disabled; }
QToolButton[gbKind="rail"] { color: @secondary; font-size: @captionPx; padding: 6px 0; border-radius: 8px; }
QToolButton[gbKind="rail"]:hover { color: @text; }
QToolButton[gbKind="rail"]:checked { color: @accent; background: @accentSoft; font-weight: 600; }
QToolButton[gbKind="rail"]:focus { border: 2px solid @accent; padding: 5px 0; }
QToolButton::menu-indicator { image: none; }
)";

const char* const fieldRules = R"(
QLineEdit, QPlainTextEdit, QTextEdit, QAbstractSpinBox, QComboBox { background: @surface; color: @text;
    border: 1px solid @strongBorder; border-radius: 6px; selection-background-color: @selection;
    selection-color: @text; }
QLineEdit, QAbstractSpinBox { padding: 4px 8px; min-height: 20px; }
QLineEdit:focus, QAbstractSpinBox:focus { border: 2px solid @accent; padding: 3px 7px; }
QPlainTextEdit:focus, QTextEdit:focus { border: 2px solid @accent; }
QLineEdit:disabled, QPlainTextEdit:disabled, QAbstractSpinBox:disabled, QComboBox:disabled {
    color: @disabled; background: @window; border-color: @border; }
QLineEdit[gbInvalid="true"], QPlainTextEdit[gbInvalid="true"], QAbstractSpinBox[gbInvalid="true"],
QComboBox[gbInvalid="true"] { border-color: @error; }
QLineEdit[readOnly="true"] { background: @window; border-color: @border; }
/* No padding above: Qt puts as much around the list of choices without counting it, and cuts the last one. */
QComboBox { padding: 0 24px 0 8px; min-height: 28px; }
QComboBox:focus { border: 2px solid @accent; padding: 0 23px 0 7px; min-height: 26px; }
QComboBox::drop-down { border: 0; width: 24px; }
QComboBox::down-arrow { image: url("@chevron"); width: 12px; height: 12px; }
QComboBox QAbstractItemView { background: @surface; border: 1px solid @border; padding: 4px;
    selection-background-color: @accentSoft; selection-color: @text; outline: 0; }
QComboBox QAbstractItemView::item { min-height: 26px; padding: 0 6px; }
QAbstractSpinBox::up-button, QAbstractSpinBox::down-button { border: 0; width: 20px; background: transparent; }
QAbstractSpinBox::up-arrow { image: url("@chevronUp"); width: 10px; height: 10px; }
QAbstractSpinBox::down-arrow { image: url("@chevron"); width: 10px; height: 10px; }
QCheckBox, QRadioButton { spacing: 8px; background: transparent; }
QCheckBox:disabled, QRadioButton:disabled { color: @disabled; }
QCheckBox::indicator { width: 16px; height: 16px; border: 1px solid @strongBorder; border-radius: 4px;
    background: @surface; }
QCheckBox::indicator:hover { border-color: @accent; }
QCheckBox::indicator:checked { background: @accent; border-color: @accent; image: url("@checkMark"); }
QCheckBox::indicator:indeterminate { background: @accentSoft; border-color: @accent; }
QCheckBox::indicator:focus { border: 2px solid @accent; width: 14px; height: 14px; }
QCheckBox::indicator:disabled { background: @window; border-color: @border; }
QProgressBar { background: @sunken; border: 0; border-radius: 3px; max-height: 6px; min-height: 6px; }
QProgressBar::chunk { background: @accent; border-radius: 3px; }
QSlider::groove:horizontal { background: @strongBorder; height: 4px; border-radius: 2px; }
QSlider::sub-page:horizontal { background: @accent; border-radius: 2px; }
QSlider::handle:horizontal { background: @surface; border: 2px solid @accent; width: 12px; height: 12px;
    margin: -6px 0; border-radius: 8px; }
)";

const char* const viewRules = R"(
QAbstractItemView { background: @surface; color: @text; border: 0; outline: 0;
    selection-background-color: @accentSoft; selection-color: @text; }
QTreeView::item, QListView::item { min-height: @rowPx; border: 0; padding: 0 4px; }
QTableView::item { border: 0; padding: 0 8px; }
QTreeView::item:hover, QListView::item:hover { background: @hover; }
QTreeView::item:selected, QListView::item:selected, QTableView::item:selected {
    background: @accentSoft; color: @text; }
QTreeView, QListView, QTableView { border: 2px solid transparent; }
QTreeView:focus, QListView:focus, QTableView:focus { border: 2px solid @accent; }
QTreeView::branch:has-children:closed { image: url("@chevronRight"); }
QTreeView::branch:has-children:open { image: url("@chevron"); }
QHeaderView { background: @surface; border: 0; }
QHeaderView::section { background: @surface; color: @secondary; font-size: @captionPx; font-weight: 600;
    border: 0; border-bottom: 1px solid @border; padding: 6px 8px; text-align: left; }
QTabBar { background: transparent; border: 0; }
QTabBar::tab { background: transparent; color: @secondary; padding: 6px 12px; border: 0;
    border-bottom: 2px solid transparent; }
QTabBar::tab:hover { color: @text; }
QTabBar::tab:selected { color: @text; border-bottom: 2px solid @accent; font-weight: 600; }
QTabBar::tab:focus { color: @accent; }
QTabWidget::pane { border: 0; border-top: 1px solid @border; }
QMenu { background: @surface; border: 1px solid @border; padding: 4px; }
QMenu::item { padding: 6px 24px 6px 12px; border-radius: 4px; }
QMenu::item:selected { background: @accentSoft; color: @text; }
QMenu::item:disabled { color: @disabled; }
QMenu::separator { height: 1px; background: @border; margin: 4px 8px; }
QMenu::icon { padding-left: 8px; }
QScrollArea { background: transparent; border: 0; }
QScrollArea > QWidget > QWidget[gbScrolled="true"] { background: transparent; }
QScrollBar { background: transparent; border: 0; margin: 0; }
QScrollBar:vertical { width: 12px; }
QScrollBar:horizontal { height: 12px; }
QScrollBar::handle { background: @scroll; border-radius: 3px; }
QScrollBar::handle:vertical { min-height: 32px; margin: 2px 3px; }
QScrollBar::handle:horizontal { min-width: 32px; margin: 3px 2px; }
QScrollBar::handle:hover { background: @secondary; }
QScrollBar::add-line, QScrollBar::sub-line { width: 0; height: 0; }
QScrollBar::add-page, QScrollBar::sub-page { background: transparent; }
)";

QHash<QString, QString> values(const Theme& theme)
{
    const auto& t = theme.tokens();
    const auto px = [&theme](TextSize size) { return QStringLiteral("%1px").arg(theme.pixels(size)); };
    return {{QStringLiteral("window"), t.window.name()}, {QStringLiteral("surface"), t.surface.name()},
        {QStringLiteral("sunken"), t.sunken.name()}, {QStringLiteral("border"), t.border.name()},
        {QStringLiteral("strongBorder"), mixed(t.border, t.secondary, 0.28).name()},
        {QStringLiteral("text"), t.text.name()}, {QStringLiteral("secondary"), t.secondary.name()},
        {QStringLiteral("disabled"), t.disabled.name()}, {QStringLiteral("accent"), t.accent.name()},
        {QStringLiteral("accentSoft"), t.accentSoft.name()}, {QStringLiteral("onAccent"), t.onAccent.name()},
        {QStringLiteral("accentHover"), mixed(t.accent, t.text, 0.12).name()},
        {QStringLiteral("accentPressed"), mixed(t.accent, t.text, 0.22).name()},
        {QStringLiteral("hover"), mixed(t.surface, t.text, 0.05).name()},
        {QStringLiteral("selection"), mixed(t.surface, t.accent, 0.3).name()},
        {QStringLiteral("scroll"), mixed(t.border, t.secondary, 0.35).name()},
        {QStringLiteral("error"), t.error.name()},
        {QStringLiteral("errorSoft"), toneBackground(t, Tone::Error).name()},
        {QStringLiteral("captionPx"), px(TextSize::Caption)},
        {QStringLiteral("smallPx"), px(TextSize::Small)},
        {QStringLiteral("headingPx"), px(TextSize::Heading)},
        {QStringLiteral("titlePx"), px(TextSize::Title)},
        {QStringLiteral("rowPx"), QStringLiteral("%1px").arg(theme.rowHeight())},
        {QStringLiteral("mono"), theme.monospace().family()},
        {QStringLiteral("chevron"), iconFile(QStringLiteral("chevron-down"), t.secondary)},
        {QStringLiteral("chevronUp"), iconFile(QStringLiteral("chevron-up"), t.secondary)},
        {QStringLiteral("chevronRight"), iconFile(QStringLiteral("chevron-right"), t.secondary)},
        {QStringLiteral("checkMark"), iconFile(QStringLiteral("check"), t.onAccent)}};
}

} // namespace

QString makeStyleSheet(const Theme& theme)
{
    const auto known = values(theme);
    QString out;
    for (const auto* part : {textRules, frameRules, buttonRules, fieldRules, viewRules}) {
        const QString text = QLatin1String(part);
        for (qsizetype i = 0; i < text.size(); ++i) {
            if (text[i] != QLatin1Char('@')) {
                out += text[i];
                continue;
            }
            auto end = i + 1;
            while (end < text.size() && text[end].isLetter())
                ++end;
            const auto name = text.mid(i + 1, end - i - 1);
            Q_ASSERT_X(known.contains(name), "makeStyleSheet", qPrintable(name));
            out += known.value(name);
            i = end - 1;
        }
    }
    return out;
}

} // namespace gb::ui
