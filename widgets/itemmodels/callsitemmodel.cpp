// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

#include "callsitemmodel.h"

#include <algorithm>

#include "fields.h"

namespace gb::ui {
namespace {

constexpr int callsPage = 100;
constexpr int callsSoonMs = 150;

std::vector<CallSummary> summariesOf(const Json& calls)
{
    std::vector<CallSummary> list;
    if (calls.is_array())
        for (const auto& call : calls)
            if (call.is_object())
                list.push_back(CallSummary::fromJson(call));
    return list;
}

} // namespace

CallSummary CallSummary::fromJson(const Json& json)
{
    CallSummary call;
    call.id = textField(json, "id");
    call.function = textField(json, "fn");
    // A running call names its interface by id, a stored one by id and name.
    const auto interface = objectOr(json, "interface");
    call.interfaceId = interface.empty() ? textField(json, "interface") : textField(interface, "id");
    call.interfaceName = textField(interface, "name");
    const auto caller = objectOr(json, "caller");
    call.callerKind = textField(caller, "kind");
    call.callerName = textField(caller, "name");
    call.state = textField(json, "state");
    call.preview = textField(json, "preview");
    call.comment = textField(json, "comment");
    call.at = timeField(json, "at");
    call.durationNs = integerOr(json, "duration_ns");
    call.pinned = boolOr(json, "pinned");
    return call;
}

CallsItemModel::CallsItemModel(api::Client& client, QObject* parent)
    : QAbstractListModel(parent), m_client(client)
{
    m_soon.setSingleShot(true);
    m_soon.setInterval(callsSoonMs);
    connect(&m_soon, &QTimer::timeout, this, &CallsItemModel::refresh);
    // Calls tell that one has ended, runs that it is stored, which is when the list has it.
    m_client.watch({"calls", "runs"});
    connect(&m_client, &api::Client::connected, this, &CallsItemModel::refresh);
    connect(&m_client, &api::Client::stateChanged, this, [this](const QString& topic) {
        if (topic == QLatin1String("calls"))
            showRunning();
        if ((topic == QLatin1String("calls") || topic == QLatin1String("runs")) && !m_soon.isActive())
            m_soon.start();
    });
    if (m_client.state() == api::Client::State::Connected)
        refresh();
}

void CallsItemModel::setFilter(const QString& filter)
{
    if (filter == m_filter)
        return;
    m_filter = filter;
    beginResetModel();
    m_calls.clear();
    m_keys.clear();
    m_next.clear();
    endResetModel();
    refresh();
}

void CallsItemModel::refresh()
{
    const auto request = ++m_request;
    const Json params = {{"filter", m_filter.toStdString()}, {"limit", callsPage}};
    m_client.call(this, "calls.list", params, [this, request](Result<api::Answer> answer) {
        if (request != m_request)
            return;
        m_settled = true;
        if (!answer) {
            Q_EMIT refused(answer.error());
            return;
        }
        const Json calls = answer->body.value("calls", Json::array());
        // More calls have ended since than fit a page: what lies between is not known here, so the list
        // starts anew.
        const bool first = !touches(calls);
        if (first && !m_calls.empty()) {
            beginResetModel();
            m_calls.clear();
            m_keys.clear();
            endResetModel();
        }
        merge(calls);
        if (first)
            m_next = stringOr(answer->body, "next");
        showRunning();
        Q_EMIT listed();
    });
}

bool CallsItemModel::touches(const Json& calls) const
{
    return calls.size() < callsPage || std::ranges::any_of(calls, [this](const Json& call) {
        const auto row = rowOf(textField(call, "id"));
        return row >= 0 && !at(row).isRunning();
    });
}

void CallsItemModel::merge(const Json& calls)
{
    // Usually a few new ones at the top of what is already shown.
    const auto fresh = summariesOf(calls);
    int next = 0;
    for (const auto& call : fresh) {
        const auto row = rowOf(call.id);
        if (row >= 0) {
            auto& known = m_calls[static_cast<std::size_t>(row)];
            if (!(known == call)) {
                known = call;
                Q_EMIT dataChanged(index(row), index(row));
            }
            next = row + 1;
            continue;
        }
        insertAt(next, call);
        ++next;
    }
}

void CallsItemModel::insertAt(int row, CallSummary call)
{
    beginInsertRows({}, row, row);
    --m_firstKey;
    for (int above = 0; above < row; ++above)
        --m_keys[at(above).id];
    m_keys.insert(call.id, m_firstKey + row);
    m_calls.insert(m_calls.begin() + row, std::move(call));
    endInsertRows();
}

void CallsItemModel::removeAt(int row)
{
    beginRemoveRows({}, row, row);
    m_keys.remove(at(row).id);
    for (int above = 0; above < row; ++above)
        ++m_keys[at(above).id];
    ++m_firstKey;
    m_calls.erase(m_calls.begin() + row);
    endRemoveRows();
}

void CallsItemModel::showRunning()
{
    const auto& running = m_client.items("calls");
    const auto isAlive = [&running](const CallSummary& call) {
        return running.is_object() && running.contains(call.id.toStdString());
    };
    // Ended but not stored yet: it leaves and comes back with its result.
    for (int row = static_cast<int>(m_calls.size()) - 1; row >= 0; --row) {
        const auto& call = m_calls[static_cast<std::size_t>(row)];
        if (!call.isRunning() || isAlive(call))
            continue;
        removeAt(row);
    }
    if (!running.is_object() || !m_filter.isEmpty())
        return;
    for (const auto& json : running) {
        const auto call = CallSummary::fromJson(json);
        if (const auto row = rowOf(call.id); row >= 0) {
            auto& known = m_calls[static_cast<std::size_t>(row)];
            if (known.isRunning() && !(known == call)) {
                known = call;
                Q_EMIT dataChanged(index(row), index(row));
            }
            continue;
        }
        insertAt(0, call);
    }
}

int CallsItemModel::rowOf(const QString& call) const
{
    const auto found = m_keys.constFind(call);
    return found == m_keys.constEnd() ? -1 : static_cast<int>(*found - m_firstKey);
}

int CallsItemModel::rowCount(const QModelIndex& parent) const
{
    return parent.isValid() ? 0 : static_cast<int>(m_calls.size());
}

QVariant CallsItemModel::data(const QModelIndex& index, int role) const
{
    if (!index.isValid())
        return {};
    const auto& call = at(index.row());
    if (role == IdRole)
        return call.id;
    if (role == Qt::DisplayRole)
        return call.function;
    if (role == Qt::AccessibleTextRole)
        return QStringLiteral("%1 %2 %3").arg(call.function, call.state, call.preview);
    return {};
}

bool CallsItemModel::canFetchMore(const QModelIndex& parent) const
{
    return !parent.isValid() && !m_next.empty() && !m_fetching;
}

void CallsItemModel::fetchMore(const QModelIndex&)
{
    m_fetching = true;
    const Json params = {{"filter", m_filter.toStdString()}, {"limit", callsPage}, {"before", m_next}};
    m_client.call(this, "calls.list", params, [this, filter = m_filter](Result<api::Answer> answer) {
        m_fetching = false;
        if (!answer || filter != m_filter)
            return;
        m_next = stringOr(answer->body, "next");
        append(answer->body.value("calls", Json::array()));
    });
}

void CallsItemModel::append(const Json& calls)
{
    auto more = summariesOf(calls);
    std::erase_if(more, [this](const CallSummary& call) { return rowOf(call.id) >= 0; });
    if (more.empty())
        return;
    const auto first = static_cast<int>(m_calls.size());
    beginInsertRows({}, first, first + static_cast<int>(more.size()) - 1);
    for (auto& call : more) {
        m_keys.insert(call.id, m_firstKey + static_cast<qint64>(m_calls.size()));
        m_calls.push_back(std::move(call));
    }
    endInsertRows();
}

} // namespace gb::ui
