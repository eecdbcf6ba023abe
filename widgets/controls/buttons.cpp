// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

#include "buttons.h"

#include <QAction>

#include "icons.h"
#include "theme.h"

namespace gb::ui {

QPushButton* makeButton(const QString& text, ButtonKind kind, const QString& iconName)
{
    auto* button = new QPushButton(text);
    static constexpr const char* names[] = {"normal", "primary", "danger", "link"};
    button->setProperty("gbKind", QLatin1String(names[static_cast<int>(kind)]));
    button->setCursor(Qt::PointingHandCursor);
    button->setIconSize(text.isEmpty() ? QSize(16, 16) : QSize(20, 16));
    button->setAutoDefault(false);
    button->setSizePolicy(QSizePolicy::Fixed, QSizePolicy::Fixed);
    if (iconName.isEmpty())
        return button;
    const auto paint = [button, kind, iconName] {
        const auto& t = tokens();
        button->setIcon(icon(iconName,
            kind == ButtonKind::Primary      ? t.onAccent
                : kind == ButtonKind::Danger ? t.error
                : kind == ButtonKind::Link   ? t.accent
                                             : t.secondary));
    };
    paint();
    QObject::connect(&Theme::instance(), &Theme::changed, button, paint);
    return button;
}

QPushButton* makeActionButton(QAction* action, ButtonKind kind)
{
    auto* button = makeButton(action->text(), kind, action->property("gbIcon").toString());
    const auto follow = [button, action] {
        button->setText(action->text());
        button->setEnabled(action->isEnabled());
        // Showing a button that is not in a layout yet would make it a window of its own.
        if (button->parentWidget() || !action->isVisible())
            button->setVisible(action->isVisible());
        button->setToolTip(action->toolTip());
    };
    follow();
    QObject::connect(action, &QAction::changed, button, follow);
    QObject::connect(button, &QPushButton::clicked, action, &QAction::trigger);
    return button;
}

QToolButton* makeIconButton(const QString& iconName, const QString& text, QWidget* parent)
{
    auto* button = new QToolButton(parent);
    button->setIcon(icon(iconName));
    button->setIconSize({16, 16});
    button->setToolTip(text);
    button->setAccessibleName(text);
    button->setCursor(Qt::PointingHandCursor);
    button->setFocusPolicy(Qt::TabFocus);
    return button;
}

QAction* makeAction(QObject* parent, const QString& text, const QString& iconName, const QString& shortcut)
{
    auto* action = new QAction(text, parent);
    action->setProperty("gbIcon", iconName);
    if (!iconName.isEmpty())
        action->setIcon(icon(iconName));
    if (!shortcut.isEmpty()) {
        action->setShortcut(QKeySequence(shortcut));
        action->setToolTip(
            QStringLiteral("%1 (%2)").arg(text, action->shortcut().toString(QKeySequence::NativeText)));
    }
    return action;
}

} // namespace gb::ui
