// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <QStringListModel>

#include <backend/api/client.h>

class QCompleter;
class QLineEdit;

namespace gb::ui {

// The names of the models that are on this machine or on their way, for fields in which one is named. Asked
// from the daemon once connected and again when downloads come and go.
class ModelNames final : public QStringListModel
{
    Q_OBJECT

public:
    explicit ModelNames(api::Client& client, QObject* parent = nullptr);

    // Offers the names in the field, found by any part of them.
    void completeIn(QLineEdit* field);

private:
    void ask();
    void showDownloads();
    void show();

    api::Client& m_client;
    QStringList m_cached;
    QStringList m_downloads;
};

} // namespace gb::ui
