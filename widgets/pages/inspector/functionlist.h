// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <QHash>
#include <QSet>
#include <QWidget>

#include <backend/api/client.h>

class QStackedWidget;
class QTreeWidget;

namespace gb::ui {

class EmptyState;
class FilterField;

// Functions of every served interface, grouped by interface.
class FunctionList final : public QWidget
{
    Q_OBJECT

public:
    explicit FunctionList(api::Client& client, QWidget* parent = nullptr);

    struct Function
    {
        QString interfaceId;
        QString interfaceName;
        Json schema; // of the function
    };
    // By name; of this interface, or of the first that has it. Nothing when there is none.
    const Function* find(const QString& name, const QString& interfaceId = {}) const;
    bool select(const QString& name, const QString& interfaceId = {});
    const Function* current() const;
    bool selectFirst();
    bool settled() const { return m_settled && m_asked.isEmpty(); }
    void focusFilter();

Q_SIGNALS:
    void chosen(const gb::ui::FunctionList::Function& function);
    void listed();
    // Return, in the list or in its filter: on to the arguments.
    void activated();

private:
    void syncInterfaces();
    void askSchema(const QString& interface, const QString& etag);
    void rebuild();
    void applyFilter(const QString& filter);
    void activateFiltered();

    api::Client& m_client;
    struct Served
    {
        QString name;
        QString state;
        QString etag;
        QString error;
        QList<Function> functions;
    };
    QMap<QString, Served> m_served; // by id, which sorts by age
    QSet<QString> m_asked;
    FilterField* m_filter = nullptr;
    QTreeWidget* m_tree = nullptr;
    QStackedWidget* m_stack = nullptr;
    EmptyState* m_empty = nullptr;
    bool m_settled = false;
};

} // namespace gb::ui
