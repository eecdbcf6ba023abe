// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

#include "detailspanel.h"

#include <QHBoxLayout>

#include "buttons.h"
#include "icons.h"
#include "labels.h"
#include "text.h"
#include "theme.h"

namespace gb::ui {
namespace {

constexpr int foldedWidth = 36;

} // namespace

DetailsPanel::DetailsPanel(const QString& title, QWidget* parent) : QFrame(parent)
{
    setProperty("gbFrame", QStringLiteral("side"));
    m_title = new ElidedLabel(title, TextRole::Strong);
    m_fold = makeIconButton(QStringLiteral("panel"), ControlsText::tr("Fold the details"));
    connect(m_fold, &QToolButton::clicked, this, [this] { setOpen(!m_open); });
    auto* top = new QHBoxLayout;
    top->setContentsMargins(space::m, space::xs, space::xs, space::xs);
    top->addWidget(m_title, 1);
    top->addWidget(m_fold);
    m_layout = new QVBoxLayout(this);
    m_layout->setContentsMargins(1, 0, 0, 0);
    m_layout->setSpacing(0);
    m_layout->addLayout(top);
    m_layout->addStretch();
}

void DetailsPanel::setTitle(const QString& title)
{
    m_title->setElidedText(title);
}

void DetailsPanel::setContent(QWidget* content)
{
    delete m_content;
    m_content = content;
    delete m_layout->takeAt(1);
    m_layout->addWidget(content, 1);
    content->setVisible(m_open);
}

void DetailsPanel::setOpen(bool open)
{
    if (open == m_open)
        return;
    m_open = open;
    m_title->setVisible(open);
    if (m_content)
        m_content->setVisible(open);
    setMaximumWidth(open ? QWIDGETSIZE_MAX : foldedWidth);
    const auto text = open ? ControlsText::tr("Fold the details") : ControlsText::tr("Show the details");
    m_fold->setToolTip(text);
    m_fold->setAccessibleName(text);
    Q_EMIT opened(open);
}

} // namespace gb::ui
