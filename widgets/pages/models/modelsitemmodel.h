// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <QAbstractItemModel>
#include <QHash>
#include <QSet>
#include <QTimer>

#include <backend/api/client.h>

#include "modelrow.h"

namespace gb::ui {

class ModelUse;

// Downloads, newest first, from the state topic; below them what else is in the cache, by name, from
// models.ls, which is asked again after something ended. A row's children are its files.
class ModelsItemModel final : public QAbstractItemModel
{
    Q_OBJECT

public:
    enum Column { Name, State, Size, Progress, Rate, Remaining, LastUsed, UsedBy, ColumnCount };

    explicit ModelsItemModel(api::Client& client, QObject* parent = nullptr);

    void refreshCache();
    void setCache(Json listing);
    void setDownloads(const Json& items);
    // It has to live as long as the model.
    void setUse(const ModelUse& use);
    bool anyInUse() const;
    const Json& cache() const { return m_cache; }
    // From models.ls; null for a model that is not on this disk.
    const Json* cachedModel(const QString& repo) const { return m_cached.value(repo); }
    bool settled() const { return m_settled; }

    // The row that the index is, or is a file of; null for none.
    const ModelRow* rowAt(const QModelIndex& index) const;
    const ModelFile* fileAt(const QModelIndex& index) const;
    int rowOf(const QString& key) const;

    QModelIndex index(int row, int column, const QModelIndex& parent = {}) const override;
    QModelIndex parent(const QModelIndex& child) const override;
    int rowCount(const QModelIndex& parent = {}) const override;
    int columnCount(const QModelIndex& parent = {}) const override;
    QVariant data(const QModelIndex& index, int role) const override;
    QVariant headerData(int section, Qt::Orientation orientation, int role) const override;

Q_SIGNALS:
    void listed();
    void refused(const gb::Error& error);

private:
    void rebuild();
    void merge(std::vector<ModelRow> fresh);
    void removeAllBut(const QSet<QString>& wanted);
    void insertRange(int at, std::vector<ModelRow> rows);
    void moveRow(int from, int to);
    void numberRows();
    bool update(int row, ModelRow fresh);
    int rowOfSerial(quintptr serial) const;
    QString modelCell(const ModelRow& row, int column) const;
    QString fileCell(const ModelFile& file, int column) const;

    api::Client& m_client;
    const ModelUse* m_use = nullptr;
    std::vector<ModelRow> m_rows;
    std::vector<ModelRow> m_downloads;
    std::vector<ModelRow> m_cacheRows;
    Json m_cache;
    QHash<QString, const Json*> m_cached; // by repo, into m_cache
    QHash<quintptr, int> m_rowOfSerial;
    QTimer m_soon;
    quintptr m_lastSerial = 0;
    int m_request = 0;
    bool m_settled = false;
};

} // namespace gb::ui
