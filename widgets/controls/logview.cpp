// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

#include "logview.h"

#include <QAction>
#include <QHBoxLayout>
#include <QLabel>

#include "buttons.h"
#include "filterfield.h"
#include "labels.h"
#include "numbers.h"
#include "text.h"
#include "theme.h"

namespace gb::ui {

LogView::LogView(QWidget* parent) : QWidget(parent)
{
    m_canvas = new LogCanvas;
    m_search = new FilterField(ControlsText::tr("Find in the log"));
    m_search->setMaximumWidth(320);
    m_status = makeLabel({}, TextRole::Caption);
    m_follow = makeButton(ControlsText::tr("Follow"), ButtonKind::Link, QStringLiteral("chevron-down"));
    m_follow->hide();
    auto* bar = new QHBoxLayout;
    bar->setContentsMargins(space::s, space::xs, space::s, space::xs);
    bar->setSpacing(space::s);
    bar->addWidget(m_search, 1);
    bar->addWidget(m_status);
    bar->addStretch();
    bar->addWidget(m_follow);
    auto* layout = new QVBoxLayout(this);
    layout->setContentsMargins(0, 0, 0, 0);
    layout->setSpacing(0);
    layout->addLayout(bar);
    layout->addWidget(m_canvas, 1);
    setFocusProxy(m_canvas);

    connect(m_search, &FilterField::filterChanged, m_canvas, &LogCanvas::setNeedle);
    connect(m_search, &QLineEdit::textChanged, m_status, [this] { m_status->clear(); });
    connect(m_search, &QLineEdit::returnPressed, m_canvas, [this] { m_canvas->findNext(1); });
    connect(m_canvas, &LogCanvas::searchEnded, this,
        [this](bool found) { m_status->setText(found ? QString() : ControlsText::tr("not found")); });
    connect(m_canvas, &LogCanvas::followChanged, m_follow,
        [this](bool follow) { m_follow->setVisible(!follow); });
    connect(m_follow, &QPushButton::clicked, m_canvas, [this] { m_canvas->setFollow(true); });
    auto* find = new QAction(this);
    find->setShortcut(QKeySequence::Find);
    find->setShortcutContext(Qt::WidgetWithChildrenShortcut);
    connect(find, &QAction::triggered, this, &LogView::find);
    addAction(find);
}

void LogView::append(std::string_view bytes)
{
    m_canvas->append(bytes);
}

void LogView::clear()
{
    m_canvas->clear();
    m_status->clear();
}

void LogView::find()
{
    m_search->setFocus();
    m_search->selectAll();
}

} // namespace gb::ui
