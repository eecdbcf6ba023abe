// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <memory>
#include <string>

#include <QAbstractItemModel>

#include "jsonslice.h"

namespace gb::ui {

// A JSON text as a tree; children are cut out when they are first asked for. Containers of more than a
// thousand children show them in groups of a thousand, so that no view has to lay out ten million rows.
class JsonTreeModel final : public QAbstractItemModel
{
    Q_OBJECT

public:
    explicit JsonTreeModel(QObject* parent = nullptr);
    ~JsonTreeModel() override;

    enum Role { PathRole = Qt::UserRole, KindRole, TextRole };

    void setText(std::string text);
    const std::string& text() const { return m_text; }
    JsonSlice slice(const QModelIndex& index) const;
    QString path(const QModelIndex& index) const; // $.layers[3].name
    // The innermost value that covers this byte.
    QModelIndex indexAt(std::size_t byte) const;

    QModelIndex index(int row, int column, const QModelIndex& parent = {}) const override;
    QModelIndex parent(const QModelIndex& child) const override;
    int rowCount(const QModelIndex& parent = {}) const override;
    int columnCount(const QModelIndex& parent = {}) const override;
    bool hasChildren(const QModelIndex& parent = {}) const override;
    QVariant data(const QModelIndex& index, int role) const override;
    QVariant headerData(int section, Qt::Orientation orientation, int role) const override;

private:
    struct Node;
    Node* node(const QModelIndex& index) const;
    Node* child(Node* parent, int row) const;
    void open(Node* node) const;
    QString summary(Node* node) const;

    std::string m_text;
    std::unique_ptr<Node> m_root;
};

} // namespace gb::ui
