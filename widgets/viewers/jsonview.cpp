// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

#include "jsonview.h"

#include <algorithm>
#include <functional>

#include <QAction>
#include <QClipboard>
#include <QGuiApplication>
#include <QHeaderView>
#include <QMenu>
#include <QTreeView>
#include <QVBoxLayout>

#include <widgets/controls/filterfield.h>
#include <widgets/controls/labels.h>
#include <widgets/controls/theme.h>

#include "jsontreemodel.h"
#include "text.h"

namespace gb::ui {

JsonView::JsonView(QWidget* parent) : QWidget(parent)
{
    m_model = new JsonTreeModel(this);
    m_tree = new QTreeView;
    m_tree->setModel(m_model);
    m_tree->setUniformRowHeights(true);
    m_tree->setAnimated(false);
    m_tree->setAccessibleName(ViewersText::tr("Result as a tree"));
    m_tree->setContextMenuPolicy(Qt::CustomContextMenu);
    m_tree->header()->setStretchLastSection(true);
    m_tree->header()->resizeSection(0, 220);
    m_search = new FilterField(ViewersText::tr("Find in the result"));
    m_search->setMaximumWidth(280);
    m_status = makeLabel({}, TextRole::Caption);
    auto* bar = new QHBoxLayout;
    bar->setContentsMargins(0, 0, 0, space::xs);
    bar->addWidget(m_search, 1);
    bar->addWidget(m_status);
    bar->addStretch();
    auto* layout = new QVBoxLayout(this);
    layout->setContentsMargins(0, 0, 0, 0);
    layout->setSpacing(0);
    layout->addLayout(bar);
    layout->addWidget(m_tree, 1);
    setFocusProxy(m_tree);
    connect(m_tree, &QWidget::customContextMenuRequested, this, &JsonView::showMenu);
    connect(m_search, &QLineEdit::returnPressed, this, &JsonView::findNext);
    connect(m_search, &FilterField::filterChanged, this, [this] {
        m_found = 0;
        m_status->clear();
    });
    auto* copy = new QAction(this);
    copy->setShortcut(QKeySequence::Copy);
    copy->setShortcutContext(Qt::WidgetWithChildrenShortcut);
    connect(copy, &QAction::triggered, this, [this] {
        const auto bytes = jsonBytes(m_model->text(), m_model->slice(m_tree->currentIndex()));
        QGuiApplication::clipboard()->setText(
            QString::fromUtf8(bytes.data(), static_cast<qsizetype>(bytes.size())));
    });
    m_tree->addAction(copy);
}

void JsonView::setText(std::string text)
{
    m_found = 0;
    // Row heights come from the style sheet, and are taken once.
    m_tree->ensurePolished();
    const bool small = text.size() < 20'000;
    m_model->setText(std::move(text));
    m_tree->expandToDepth(small ? 1 : 0);
    m_tree->setCurrentIndex(m_model->index(0, 0));
}

void JsonView::find()
{
    m_search->setFocus();
    m_search->selectAll();
}

void JsonView::findNext()
{
    const auto needle = m_search->text().toStdString();
    if (needle.empty())
        return;
    const auto& text = m_model->text();
    const std::boyer_moore_horspool_searcher searcher(needle.begin(), needle.end());
    const auto start = text.begin() + static_cast<std::ptrdiff_t>(std::min(m_found, text.size()));
    auto hit = std::search(start, text.end(), searcher);
    if (hit == text.end() && m_found > 0)
        hit = std::search(text.begin(), text.end(), searcher);
    m_status->setText(hit == text.end() ? ViewersText::tr("not found") : QString());
    if (hit == text.end())
        return;
    m_found = static_cast<std::size_t>(hit - text.begin()) + 1;
    const auto index = m_model->indexAt(m_found - 1);
    m_tree->setCurrentIndex(index);
    m_tree->scrollTo(index, QAbstractItemView::PositionAtCenter);
}

void JsonView::showMenu(const QPoint& at)
{
    const auto index = m_tree->indexAt(at);
    if (!index.isValid())
        return;
    const auto copy = [](const QString& text) { QGuiApplication::clipboard()->setText(text); };
    QMenu menu(this);
    menu.addAction(ViewersText::tr("Copy value"), this, [this, index, copy] {
        const auto bytes = jsonBytes(m_model->text(), m_model->slice(index));
        copy(QString::fromUtf8(bytes.data(), static_cast<qsizetype>(bytes.size())));
    });
    menu.addAction(ViewersText::tr("Copy path"), this, [this, index, copy] { copy(m_model->path(index)); });
    menu.addSeparator();
    menu.addAction(
        ViewersText::tr("Open all below"), this, [this, index] { m_tree->expandRecursively(index, 3); });
    menu.exec(m_tree->viewport()->mapToGlobal(at));
}

} // namespace gb::ui
