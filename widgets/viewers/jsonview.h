// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <QWidget>

class QTreeView;
class QLabel;

namespace gb::ui {

class FilterField;
class JsonTreeModel;

class JsonView final : public QWidget
{
    Q_OBJECT

public:
    explicit JsonView(QWidget* parent = nullptr);
    void setText(std::string text);
    void find();
    QTreeView* tree() const { return m_tree; }

private:
    void findNext();
    void showMenu(const QPoint& at);

    JsonTreeModel* m_model = nullptr;
    QTreeView* m_tree = nullptr;
    FilterField* m_search = nullptr;
    QLabel* m_status = nullptr;
    std::size_t m_found = 0;
};

} // namespace gb::ui
