// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

#include "jsontreemodel.h"

#include <algorithm>

#include <widgets/controls/numbers.h>
#include <widgets/controls/theme.h>

#include "text.h"

namespace gb::ui {
namespace {

constexpr std::size_t jsonGroup = 1000;

} // namespace

struct JsonTreeModel::Node
{
    Node* parent = nullptr;
    JsonSlice slice;
    std::size_t row = 0; // among the shown children of the parent
    std::size_t first = 0; // of a group: the first child it shows
    std::size_t count = 0; // of a group: how many
    bool isGroup = false;
    bool opened = false;
    std::vector<JsonSlice> slices; // of the container's children
    std::vector<std::unique_ptr<Node>> nodes; // shown children, made when asked for

    // A group shows its container's children.
    const std::vector<JsonSlice>& childSlices() const { return isGroup ? parent->slices : slices; }
};

JsonTreeModel::JsonTreeModel(QObject* parent) : QAbstractItemModel(parent), m_root(std::make_unique<Node>())
{ }
JsonTreeModel::~JsonTreeModel() = default;

void JsonTreeModel::setText(std::string text)
{
    beginResetModel();
    m_text = std::move(text);
    m_root = std::make_unique<Node>();
    m_root->slices = {wholeJson(m_text)};
    m_root->opened = true;
    m_root->nodes.resize(1);
    endResetModel();
}

JsonTreeModel::Node* JsonTreeModel::node(const QModelIndex& index) const
{
    return index.isValid() ? static_cast<Node*>(index.internalPointer()) : m_root.get();
}

void JsonTreeModel::open(Node* node) const
{
    if (node->opened)
        return;
    node->opened = true;
    if (node->isGroup) {
        node->nodes.resize(node->count);
        return;
    }
    node->slices = jsonChildren(m_text, node->slice);
    const auto count = node->slices.size();
    node->nodes.resize(count > jsonGroup ? (count + jsonGroup - 1) / jsonGroup : count);
}

JsonTreeModel::Node* JsonTreeModel::child(Node* parent, int row) const
{
    open(parent);
    const auto at = static_cast<std::size_t>(row);
    if (at >= parent->nodes.size())
        return nullptr;
    auto& made = parent->nodes[at];
    if (made)
        return made.get();
    made = std::make_unique<Node>();
    made->parent = parent;
    made->row = at;
    if (!parent->isGroup && parent->slices.size() > jsonGroup) {
        made->isGroup = true;
        made->first = at * jsonGroup;
        made->count = std::min(jsonGroup, parent->slices.size() - made->first);
        made->slice = parent->slice;
    } else {
        made->slice = parent->childSlices()[parent->first + at];
    }
    return made.get();
}

QModelIndex JsonTreeModel::index(int row, int column, const QModelIndex& parent) const
{
    if (row < 0 || column < 0 || column > 1)
        return {};
    auto* found = child(node(parent), row);
    return found ? createIndex(row, column, found) : QModelIndex();
}

QModelIndex JsonTreeModel::parent(const QModelIndex& child) const
{
    auto* parent = child.isValid() ? node(child)->parent : nullptr;
    return parent && parent != m_root.get() ? createIndex(static_cast<int>(parent->row), 0, parent)
                                            : QModelIndex();
}

int JsonTreeModel::rowCount(const QModelIndex& parent) const
{
    if (parent.column() > 0)
        return 0;
    auto* of = node(parent);
    open(of);
    return static_cast<int>(of->nodes.size());
}

int JsonTreeModel::columnCount(const QModelIndex&) const
{
    return 2;
}

bool JsonTreeModel::hasChildren(const QModelIndex& parent) const
{
    if (!parent.isValid())
        return !m_root->nodes.empty();
    if (parent.column() > 0)
        return false;
    const auto* of = node(parent);
    if (of->isGroup)
        return true;
    const auto kind = jsonKind(m_text, of->slice);
    return (kind == JsonKind::Array || kind == JsonKind::Object)
        && !jsonChildren(m_text, of->slice, 1).empty();
}

QString JsonTreeModel::summary(Node* node) const
{
    const auto kind = jsonKind(m_text, node->slice);
    if (kind != JsonKind::Array && kind != JsonKind::Object) {
        const auto text = jsonScalarText(m_text, node->slice);
        // Nothing at all would pass for a value that could not be shown.
        return text.isEmpty() ? QStringLiteral("\"\"") : text;
    }
    // Counting a large container means reading it; only say what is known or cheap.
    const auto size = node->slice.end - node->slice.begin;
    if (!node->opened && size > 100'000)
        return bytesText(size);
    const auto count = node->opened ? node->slices.size() : jsonChildren(m_text, node->slice).size();
    return kind == JsonKind::Array ? QStringLiteral("[%1]").arg(count) : QStringLiteral("{%1}").arg(count);
}

QVariant JsonTreeModel::data(const QModelIndex& index, int role) const
{
    if (!index.isValid())
        return {};
    auto* at = node(index);
    const auto kind = jsonKind(m_text, at->slice);
    if (role == PathRole)
        return path(index);
    if (role == KindRole)
        return static_cast<int>(kind);
    if (role == TextRole || (role == Qt::ToolTipRole && index.column() == 1 && !at->isGroup))
        return jsonScalarText(m_text, at->slice, role == TextRole ? SIZE_MAX : 2000).toHtmlEscaped();
    if (role == Qt::ForegroundRole) {
        if (index.column() == 0 || at->isGroup)
            return tokens().secondary;
        switch (kind) {
        case JsonKind::String:
            return tokens().success;
        case JsonKind::Number:
            return tokens().info;
        case JsonKind::Boolean:
        case JsonKind::Null:
            return tokens().warning;
        default:
            return tokens().secondary;
        }
    }
    if (role == Qt::FontRole)
        return Theme::instance().monospace();
    if (role != Qt::DisplayRole)
        return {};
    if (at->isGroup)
        return index.column() == 0 ? QStringLiteral("[%1 … %2]").arg(at->first).arg(at->first + at->count - 1)
                                   : QString();
    if (index.column() == 1)
        return summary(at).replace(QLatin1Char('\n'), QChar(0x21B5));
    if (at->parent == m_root.get())
        return ViewersText::tr("result");
    if (at->slice.keyBegin != at->slice.keyEnd || at->slice.keyBegin != 0)
        return jsonKey(m_text, at->slice);
    return QString::number(at->parent->first + at->row);
}

QVariant JsonTreeModel::headerData(int section, Qt::Orientation orientation, int role) const
{
    if (orientation != Qt::Horizontal || role != Qt::DisplayRole)
        return {};
    return section == 0 ? ViewersText::tr("Key") : ViewersText::tr("Value");
}

JsonSlice JsonTreeModel::slice(const QModelIndex& index) const
{
    return node(index)->slice;
}

QString JsonTreeModel::path(const QModelIndex& index) const
{
    QStringList parts;
    for (const auto* at = node(index); at && at->parent; at = at->parent) {
        if (at->isGroup || at->parent == m_root.get())
            continue;
        if (at->slice.keyBegin == 0)
            parts.prepend(QStringLiteral("[%1]").arg(at->parent->first + at->row));
        else
            parts.prepend(QLatin1Char('.') + jsonKey(m_text, at->slice));
    }
    return QLatin1Char('$') + parts.join(QString());
}

QModelIndex JsonTreeModel::indexAt(std::size_t byte) const
{
    auto found = index(0, 0);
    while (found.isValid()) {
        auto* at = node(found);
        open(at);
        const auto& slices = at->childSlices();
        const auto from = slices.begin() + static_cast<std::ptrdiff_t>(at->first);
        const auto to = at->isGroup ? from + static_cast<std::ptrdiff_t>(at->count) : slices.end();
        const auto next = std::upper_bound(from, to, byte,
            [](std::size_t b, const JsonSlice& s) { return b < (s.keyBegin ? s.keyBegin : s.begin); });
        if (next == from)
            break;
        auto row = static_cast<std::size_t>(next - from) - 1;
        if (std::prev(next)->end <= byte)
            break;
        if (!at->isGroup && slices.size() > jsonGroup)
            row /= jsonGroup;
        found = index(static_cast<int>(row), 0, found);
    }
    return found;
}

} // namespace gb::ui
