// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

#include "functionlist.h"

#include <QHeaderView>
#include <QStackedWidget>
#include <QTreeWidget>
#include <QVBoxLayout>

#include <widgets/controls/emptystate.h>
#include <widgets/controls/filterfield.h>
#include <widgets/controls/harmless.h>
#include <widgets/controls/icons.h>
#include <widgets/controls/labels.h>
#include <widgets/controls/statepill.h>
#include <widgets/controls/theme.h>
#include <widgets/itemmodels/fields.h>

#include "text.h"

namespace gb::ui {
namespace {

enum FunctionRole { InterfaceRole = Qt::UserRole, NameRole };

} // namespace

FunctionList::FunctionList(api::Client& client, QWidget* parent) : QWidget(parent), m_client(client)
{
    m_filter = new FilterField(InspectorText::tr("Filter functions"));
    m_tree = new QTreeWidget;
    m_tree->setHeaderHidden(true);
    m_tree->setColumnCount(1);
    m_tree->setIndentation(14);
    m_tree->setAccessibleName(InspectorText::tr("Functions"));
    m_tree->setUniformRowHeights(true);
    m_empty = new EmptyState(QStringLiteral("inspector"), InspectorText::tr("Nothing is served"),
        InspectorText::tr("Serve an interface file; its functions appear here."));
    m_empty->setCommand(QStringLiteral("glovebox serve interface.py"));
    m_stack = new QStackedWidget;
    m_stack->addWidget(m_tree);
    m_stack->addWidget(m_empty);
    auto* layout = new QVBoxLayout(this);
    layout->setContentsMargins(space::m, space::m, space::m, 0);
    layout->setSpacing(space::s);
    layout->addWidget(m_filter);
    layout->addWidget(m_stack, 1);

    connect(&m_client, &api::Client::stateChanged, this, [this](const QString& topic) {
        if (topic != QLatin1String("interfaces"))
            return;
        m_settled = true;
        syncInterfaces();
    });
    connect(m_filter, &FilterField::filterChanged, this, &FunctionList::applyFilter);
    connect(m_filter, &QLineEdit::returnPressed, this, &FunctionList::activateFiltered);
    connect(m_tree, &QTreeWidget::itemActivated, this, [this] {
        if (current())
            Q_EMIT activated();
    });
    connect(m_tree, &QTreeWidget::currentItemChanged, this, [this] {
        if (const auto* function = current())
            Q_EMIT chosen(*function);
    });
    connect(&Theme::instance(), &Theme::changed, this, &FunctionList::rebuild);
    m_settled = !m_client.items("interfaces").empty();
    syncInterfaces();
}

void FunctionList::syncInterfaces()
{
    const auto& items = m_client.items("interfaces");
    QMap<QString, Served> now;
    if (items.is_object())
        for (const auto& item : items) {
            const auto id = textField(item, "id");
            const auto state = textField(item, "state");
            if (id.isEmpty() || state == QLatin1String("gone"))
                continue;
            auto served = m_served.value(id);
            served.name = textField(item, "name");
            served.state = state;
            served.error = textField(objectOr(item, "error"), "message");
            const auto etag = textField(item, "schema_etag");
            if (state == QLatin1String("ready") && (etag != served.etag || served.functions.isEmpty()))
                askSchema(id, etag);
            now.insert(id, served);
        }
    m_served = now;
    rebuild();
}

void FunctionList::askSchema(const QString& interface, const QString& etag)
{
    if (m_asked.contains(interface))
        return;
    m_asked.insert(interface);
    const Json params = {{"interface", interface.toStdString()}};
    m_client.call(this, "interfaces.schema", params, [this, interface, etag](Result<api::Answer> answer) {
        m_asked.remove(interface);
        const auto served = m_served.find(interface);
        if (!answer || served == m_served.end())
            return;
        served->etag = etag;
        served->functions.clear();
        // A large schema travels as the attachment.
        auto schema = objectOr(answer->body, "schema");
        if (schema.empty() && !answer->attachment.empty())
            schema = parseJson(answer->attachment).value_or(Json::object());
        const auto functions = schema.find("functions");
        if (functions != schema.end() && functions->is_array())
            for (const auto& function : *functions)
                if (function.is_object())
                    served->functions.append({interface, served->name, function});
        rebuild();
        if (const auto* function = current())
            Q_EMIT chosen(*function);
    });
}

void FunctionList::rebuild()
{
    const auto* before = m_tree->currentItem();
    const auto name = before ? before->data(0, NameRole).toString() : QString();
    const auto interface = before ? before->data(0, InterfaceRole).toString() : QString();
    const QSignalBlocker quiet(m_tree);
    m_tree->clear();
    for (auto served = m_served.constBegin(); served != m_served.constEnd(); ++served) {
        auto* group = new QTreeWidgetItem(m_tree, {served->name});
        auto font = Theme::instance().font(TextSize::Small, QFont::DemiBold);
        group->setFont(0, font);
        group->setFlags(Qt::ItemIsEnabled);
        group->setData(0, InterfaceRole, served.key());
        group->setIcon(
            0, icon(QStringLiteral("plug"), toneColor(tokens(), StatePill::toneOf(served->state))));
        group->setToolTip(0, served->error.isEmpty() ? served->state : served->error.toHtmlEscaped());
        if (served->state != QLatin1String("ready"))
            group->setText(0, QStringLiteral("%1 — %2").arg(served->name, served->state));
        for (const auto& function : served->functions) {
            const auto called = textField(function.schema, "name");
            auto* item = new QTreeWidgetItem(group, {harmless(called)});
            item->setData(0, InterfaceRole, served.key());
            item->setData(0, NameRole, called);
            item->setToolTip(0, harmless(textField(function.schema, "summary")).toHtmlEscaped());
            item->setIcon(0, icon(QStringLiteral("inspector")));
            if (called == name && served.key() == interface)
                m_tree->setCurrentItem(item);
        }
        group->setExpanded(true);
    }
    m_stack->setCurrentWidget(m_served.isEmpty() ? static_cast<QWidget*>(m_empty) : m_tree);
    applyFilter(m_filter->text());
    Q_EMIT listed();
}

void FunctionList::applyFilter(const QString& filter)
{
    for (int g = 0; g < m_tree->topLevelItemCount(); ++g) {
        auto* group = m_tree->topLevelItem(g);
        int shown = 0;
        for (int i = 0; i < group->childCount(); ++i) {
            auto* item = group->child(i);
            const bool fits = filter.isEmpty() || item->text(0).contains(filter, Qt::CaseInsensitive)
                || item->toolTip(0).contains(filter, Qt::CaseInsensitive);
            item->setHidden(!fits);
            shown += fits ? 1 : 0;
        }
        group->setHidden(shown == 0 && !filter.isEmpty());
    }
}

const FunctionList::Function* FunctionList::find(const QString& name, const QString& interfaceId) const
{
    for (auto served = m_served.constBegin(); served != m_served.constEnd(); ++served) {
        if (!interfaceId.isEmpty() && served.key() != interfaceId)
            continue;
        for (const auto& function : served->functions)
            if (textField(function.schema, "name") == name)
                return &function;
    }
    return nullptr;
}

const FunctionList::Function* FunctionList::current() const
{
    const auto* item = m_tree->currentItem();
    const auto name = item ? item->data(0, NameRole).toString() : QString();
    return name.isEmpty() ? nullptr : find(name, item->data(0, InterfaceRole).toString());
}

bool FunctionList::select(const QString& name, const QString& interfaceId)
{
    for (int g = 0; g < m_tree->topLevelItemCount(); ++g)
        for (int i = 0; i < m_tree->topLevelItem(g)->childCount(); ++i) {
            auto* item = m_tree->topLevelItem(g)->child(i);
            if (item->data(0, NameRole).toString() != name
                || (!interfaceId.isEmpty() && item->data(0, InterfaceRole).toString() != interfaceId))
                continue;
            m_tree->setCurrentItem(item);
            return true;
        }
    return false;
}

bool FunctionList::selectFirst()
{
    for (const auto& served : std::as_const(m_served))
        if (!served.functions.isEmpty())
            return select(
                textField(served.functions.first().schema, "name"), served.functions.first().interfaceId);
    return false;
}

// What was chosen before stays if the filter shows it; else the first that it shows.
void FunctionList::activateFiltered()
{
    // Typed a moment ago, it may not have been looked at yet.
    applyFilter(m_filter->text());
    auto* chosenItem = m_tree->currentItem();
    if (!chosenItem || chosenItem->isHidden() || !chosenItem->parent()) {
        chosenItem = nullptr;
        for (int g = 0; g < m_tree->topLevelItemCount() && !chosenItem; ++g)
            for (int i = 0; i < m_tree->topLevelItem(g)->childCount() && !chosenItem; ++i)
                if (auto* item = m_tree->topLevelItem(g)->child(i); !item->isHidden())
                    chosenItem = item;
    }
    if (!chosenItem)
        return;
    m_tree->setCurrentItem(chosenItem);
    Q_EMIT activated();
}

void FunctionList::focusFilter()
{
    m_filter->setFocus();
    m_filter->selectAll();
}

} // namespace gb::ui
