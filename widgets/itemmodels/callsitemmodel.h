// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <deque>

#include <QAbstractListModel>
#include <QHash>
#include <QTimer>

#include <backend/api/client.h>

namespace gb::ui {

// What the history shows of one call.
struct CallSummary
{
    QString id;
    QString function;
    QString interfaceId;
    QString interfaceName;
    QString callerKind;
    QString callerName;
    QString state; // queued, running, ok, error, cancelled, killed, lost
    QString preview;
    QString comment;
    std::int64_t at = 0;
    std::int64_t durationNs = 0;
    bool pinned = false;

    static CallSummary fromJson(const Json& json);
    bool isRunning() const { return state == QLatin1String("running") || state == QLatin1String("queued"); }
    bool operator==(const CallSummary&) const = default;
};

// Everybody's calls, newest first: those that run from the state topic, the rest from calls.list, a page at a
// time. The list is asked again shortly after calls have ended.
class CallsItemModel final : public QAbstractListModel
{
    Q_OBJECT

public:
    enum Role { IdRole = Qt::UserRole };

    explicit CallsItemModel(api::Client& client, QObject* parent = nullptr);

    void setFilter(const QString& filter);
    QString filter() const { return m_filter; }
    void refresh();
    const CallSummary& at(int row) const { return m_calls.at(static_cast<std::size_t>(row)); }
    int rowOf(const QString& call) const;
    bool settled() const { return m_settled; }

    int rowCount(const QModelIndex& parent = {}) const override;
    QVariant data(const QModelIndex& index, int role) const override;
    bool canFetchMore(const QModelIndex& parent) const override;
    void fetchMore(const QModelIndex& parent) override;

Q_SIGNALS:
    void refused(const gb::Error& error); // the filter, or the daemon
    void listed();

private:
    void showRunning();
    // Whether the newest calls go on where the list is.
    bool touches(const Json& calls) const;
    void merge(const Json& calls);
    void append(const Json& calls);

    api::Client& m_client;
    void insertAt(int row, CallSummary call);
    void removeAt(int row);

    std::deque<CallSummary> m_calls;
    // Where each call is: its key less the first row's. What comes and goes at the top moves only the rows
    // above it, so a list of a million stays quick.
    QHash<QString, qint64> m_keys;
    qint64 m_firstKey = 0;
    QString m_filter;
    std::string m_next;
    QTimer m_soon;
    bool m_settled = false;
    bool m_fetching = false;
    int m_request = 0; // answers to older questions are dropped
};

} // namespace gb::ui
