// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

#include "modelsitemmodel.h"

#include <algorithm>

#include <backend/base/clock.h>
#include <widgets/controls/errortext.h>
#include <widgets/controls/numbers.h>
#include <widgets/itemmodels/fields.h>

#include "modeluse.h"
#include "text.h"

namespace gb::ui {
namespace {

constexpr int cacheSoonMs = 300;

} // namespace

ModelsItemModel::ModelsItemModel(api::Client& client, QObject* parent)
    : QAbstractItemModel(parent), m_client(client)
{
    m_soon.setSingleShot(true);
    m_soon.setInterval(cacheSoonMs);
    connect(&m_soon, &QTimer::timeout, this, &ModelsItemModel::refreshCache);
    connect(&m_client, &api::Client::connected, this, &ModelsItemModel::refreshCache);
    connect(&m_client, &api::Client::stateChanged, this, [this](const QString& topic) {
        if (topic == QLatin1String("models"))
            setDownloads(m_client.items("models"));
    });
    m_client.watch({"models"});
    if (m_client.state() == api::Client::State::Connected)
        refreshCache();
    setDownloads(m_client.items("models"));
}

void ModelsItemModel::refreshCache()
{
    const auto request = ++m_request;
    m_client.call(this, "models.ls", Json::object(), [this, request](Result<api::Answer> answer) {
        if (request != m_request)
            return;
        m_settled = true;
        if (!answer)
            Q_EMIT refused(answer.error());
        else
            setCache(std::move(answer->body));
    });
}

void ModelsItemModel::setCache(Json listing)
{
    m_cache = std::move(listing);
    m_cached.clear();
    m_cacheRows.clear();
    const auto models = m_cache.is_object() ? m_cache.find("models") : m_cache.end();
    if (m_cache.is_object() && models != m_cache.end() && models->is_array()) {
        for (const auto& model : *models) {
            if (!model.is_object())
                continue;
            m_cacheRows.push_back(ModelRow::fromCache(model));
            m_cached.insert(m_cacheRows.back().repo, &model);
        }
    }
    std::ranges::stable_sort(m_cacheRows, {}, [](const ModelRow& row) { return row.repo.toLower(); });
    rebuild();
    Q_EMIT listed();
}

void ModelsItemModel::setDownloads(const Json& items)
{
    std::vector<ModelRow> downloads;
    if (items.is_object())
        for (const auto& item : items)
            if (item.is_object())
                downloads.push_back(ModelRow::fromDownload(item));
    std::ranges::stable_sort(downloads, std::greater(), &ModelRow::addedAt);
    const auto ended = [](const std::vector<ModelRow>& rows) {
        return std::ranges::count_if(rows, [](const ModelRow& row) { return !row.isUnderWay(); });
    };
    // What is on the disk changes with what ends and with what is taken off the list.
    if (ended(downloads) != ended(m_downloads) || downloads.size() < m_downloads.size())
        m_soon.start();
    m_downloads = std::move(downloads);
    rebuild();
}

void ModelsItemModel::setUse(const ModelUse& use)
{
    m_use = &use;
    connect(m_use, &ModelUse::changed, this, &ModelsItemModel::rebuild);
    rebuild();
}

bool ModelsItemModel::anyInUse() const
{
    return std::ranges::any_of(m_rows, [](const ModelRow& row) { return !row.users.isEmpty(); });
}

void ModelsItemModel::rebuild()
{
    auto fresh = m_downloads;
    QSet<QString> listed;
    for (auto& row : fresh) {
        listed.insert(row.repo);
        if (const auto* model = cachedModel(row.repo)) {
            row.onDisk = integerOr(*model, "bytes");
            row.lastUsed = timeField(*model, "last_used");
        }
    }
    std::ranges::copy_if(m_cacheRows, std::back_inserter(fresh),
        [&listed](const ModelRow& row) { return !listed.contains(row.repo); });
    if (m_use)
        for (auto& row : fresh)
            row.users = m_use->users(row.repo);
    merge(std::move(fresh));
}

void ModelsItemModel::merge(std::vector<ModelRow> fresh)
{
    QSet<QString> wanted;
    for (const auto& row : fresh)
        wanted.insert(row.key);
    removeAllBut(wanted);
    QSet<QString> known;
    for (const auto& row : m_rows)
        known.insert(row.key);
    int first = -1;
    int last = -1;
    for (std::size_t i = 0; i < fresh.size(); ++i) {
        const auto to = static_cast<int>(i);
        if (!known.contains(fresh[i].key)) {
            const auto isNew = [&known](const ModelRow& row) { return !known.contains(row.key); };
            const auto end = std::find_if_not(fresh.begin() + to, fresh.end(), isNew);
            insertRange(to, {std::make_move_iterator(fresh.begin() + to), std::make_move_iterator(end)});
            i = static_cast<std::size_t>(end - fresh.begin()) - 1;
            continue;
        }
        if (m_rows[i].key != fresh[i].key)
            moveRow(rowOf(fresh[i].key), to);
        if (!update(to, std::move(fresh[i])))
            continue;
        first = first < 0 ? to : first;
        last = to;
    }
    // One word about all rows: at ten updates a second of hundreds of rows each signal counts.
    if (first >= 0)
        Q_EMIT dataChanged(index(first, 0), index(last, ColumnCount - 1));
}

void ModelsItemModel::removeAllBut(const QSet<QString>& wanted)
{
    for (int last = static_cast<int>(m_rows.size()) - 1; last >= 0; --last) {
        const auto goes = [&](int row) {
            return !wanted.contains(m_rows[static_cast<std::size_t>(row)].key);
        };
        if (!goes(last))
            continue;
        int first = last;
        while (first > 0 && goes(first - 1))
            --first;
        beginRemoveRows({}, first, last);
        m_rows.erase(m_rows.begin() + first, m_rows.begin() + last + 1);
        numberRows();
        endRemoveRows();
        last = first;
    }
}

void ModelsItemModel::insertRange(int at, std::vector<ModelRow> rows)
{
    for (auto& row : rows)
        row.serial = ++m_lastSerial;
    beginInsertRows({}, at, at + static_cast<int>(rows.size()) - 1);
    m_rows.insert(
        m_rows.begin() + at, std::make_move_iterator(rows.begin()), std::make_move_iterator(rows.end()));
    numberRows();
    endInsertRows();
}

void ModelsItemModel::moveRow(int from, int to)
{
    beginMoveRows({}, from, from, {}, to);
    std::rotate(m_rows.begin() + to, m_rows.begin() + from, m_rows.begin() + from + 1);
    numberRows();
    endMoveRows();
}

void ModelsItemModel::numberRows()
{
    m_rowOfSerial.clear();
    for (std::size_t i = 0; i < m_rows.size(); ++i)
        m_rowOfSerial.insert(m_rows[i].serial, static_cast<int>(i));
}

bool ModelsItemModel::update(int row, ModelRow fresh)
{
    auto& known = m_rows[static_cast<std::size_t>(row)];
    fresh.serial = known.serial;
    if (known == fresh)
        return false;
    const auto top = index(row, 0);
    const auto before = static_cast<int>(known.files.size());
    const auto after = static_cast<int>(fresh.files.size());
    if (after < before) {
        beginRemoveRows(top, after, before - 1);
        known.files.resize(fresh.files.size());
        endRemoveRows();
    } else if (after > before) {
        beginInsertRows(top, before, after - 1);
        known.files.insert(known.files.end(), fresh.files.begin() + before, fresh.files.end());
        endInsertRows();
    }
    int first = -1;
    int last = -1;
    for (int i = 0; i < std::min(before, after); ++i) {
        if (known.files[static_cast<std::size_t>(i)] == fresh.files[static_cast<std::size_t>(i)])
            continue;
        first = first < 0 ? i : first;
        last = i;
    }
    known = std::move(fresh);
    if (first >= 0)
        Q_EMIT dataChanged(index(first, 0, top), index(last, ColumnCount - 1, top));
    return true;
}

int ModelsItemModel::rowOf(const QString& key) const
{
    const auto found = std::ranges::find(m_rows, key, &ModelRow::key);
    return found == m_rows.end() ? -1 : static_cast<int>(found - m_rows.begin());
}

int ModelsItemModel::rowOfSerial(quintptr serial) const
{
    return m_rowOfSerial.value(serial, -1);
}

const ModelRow* ModelsItemModel::rowAt(const QModelIndex& index) const
{
    if (!index.isValid())
        return nullptr;
    const auto row = index.internalId() ? rowOfSerial(index.internalId()) : index.row();
    return row < 0 ? nullptr : &m_rows[static_cast<std::size_t>(row)];
}

const ModelFile* ModelsItemModel::fileAt(const QModelIndex& index) const
{
    const auto* row = index.isValid() && index.internalId() ? rowAt(index) : nullptr;
    return row ? &row->files[static_cast<std::size_t>(index.row())] : nullptr;
}

QModelIndex ModelsItemModel::index(int row, int column, const QModelIndex& parent) const
{
    if (!hasIndex(row, column, parent))
        return {};
    return createIndex(
        row, column, parent.isValid() ? m_rows[static_cast<std::size_t>(parent.row())].serial : 0);
}

QModelIndex ModelsItemModel::parent(const QModelIndex& child) const
{
    if (!child.isValid() || !child.internalId())
        return {};
    const auto row = rowOfSerial(child.internalId());
    return row < 0 ? QModelIndex() : createIndex(row, 0, quintptr(0));
}

int ModelsItemModel::rowCount(const QModelIndex& parent) const
{
    if (!parent.isValid())
        return static_cast<int>(m_rows.size());
    if (parent.internalId() || parent.column() > 0)
        return 0;
    return static_cast<int>(m_rows[static_cast<std::size_t>(parent.row())].files.size());
}

int ModelsItemModel::columnCount(const QModelIndex&) const
{
    return ColumnCount;
}

QString ModelsItemModel::modelCell(const ModelRow& row, int column) const
{
    switch (column) {
    case Name:
        return row.name();
    case State:
        return row.state == QLatin1String("stalled") && row.since
            ? row.stateText() + QStringLiteral(" · ") + sinceText(row.since, wallMs())
            : row.stateText();
    case Size:
        return row.size >= 0 ? bytesText(static_cast<double>(row.size)) : QString();
    case Progress:
        return row.share() >= 0 && !row.download.isEmpty()
            ? ModelsText::tr("%1 %").arg(static_cast<int>(row.share() * 100))
            : QString();
    case Rate:
        return row.rate >= 0 ? rateText(row.rate) : QString();
    case Remaining:
        return row.remainingSeconds >= 0 ? clockText(row.remainingSeconds) : QString();
    case LastUsed:
        return row.lastUsed ? agoText(row.lastUsed, wallMs()) : QString();
    case UsedBy:
        return row.users.join(QStringLiteral(", "));
    default:
        return {};
    }
}

QString ModelsItemModel::fileCell(const ModelFile& file, int column) const
{
    switch (column) {
    case Name:
        return file.path;
    case State:
        return fileStateText(file.state);
    case Size:
        return bytesText(static_cast<double>(file.size));
    case Progress:
        return file.size > 0 && file.state != QLatin1String("cached")
            ? ModelsText::tr("%1 %").arg(100 * file.done / file.size)
            : QString();
    default:
        return {};
    }
}

QVariant ModelsItemModel::data(const QModelIndex& index, int role) const
{
    const auto* row = rowAt(index);
    if (!row)
        return {};
    const auto* file = fileAt(index);
    if (role == Qt::DisplayRole)
        return file ? fileCell(*file, index.column()) : modelCell(*row, index.column());
    if (role == Qt::TextAlignmentRole) {
        const bool number = index.column() == Size || (index.column() >= Rate && index.column() != UsedBy);
        return QVariant(Qt::Alignment(number ? Qt::AlignRight : Qt::AlignLeft) | Qt::AlignVCenter);
    }
    if (role == Qt::AccessibleTextRole && index.column() == Name)
        return file ? file->path
                    : QStringList({row->name(), row->stateText(), modelCell(*row, UsedBy)})
                          .join(QLatin1Char(' '))
                          .trimmed();
    if (role != Qt::ToolTipRole)
        return {};
    if (index.column() == Name)
        return (file ? file->path : row->name()).toHtmlEscaped();
    if (file)
        return {};
    if (index.column() == State && row->reason.is_object())
        return errorSentence(Error::fromJson(row->reason)).toHtmlEscaped();
    if (index.column() == LastUsed && row->lastUsed)
        return exactTimeText(row->lastUsed);
    if (index.column() == UsedBy && !row->users.isEmpty())
        return row->users.join(QLatin1Char('\n')).toHtmlEscaped();
    return {};
}

QVariant ModelsItemModel::headerData(int section, Qt::Orientation orientation, int role) const
{
    if (orientation != Qt::Horizontal)
        return {};
    if (role == Qt::TextAlignmentRole)
        return QVariant(
            Qt::Alignment(
                section == Size || (section >= Rate && section != UsedBy) ? Qt::AlignRight : Qt::AlignLeft)
            | Qt::AlignVCenter);
    if (role != Qt::DisplayRole)
        return {};
    static const QStringList titles = {ModelsText::tr("Name"), ModelsText::tr("State"),
        ModelsText::tr("Size"), ModelsText::tr("Progress"), ModelsText::tr("Rate"),
        ModelsText::tr("Remaining"), ModelsText::tr("Last used"), ModelsText::tr("Used by")};
    return titles.value(section);
}

} // namespace gb::ui
