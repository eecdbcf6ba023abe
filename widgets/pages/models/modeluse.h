// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <QHash>
#include <QObject>
#include <QSet>

#include <backend/api/client.h>

namespace gb::ui {

// Which sandboxes that are alive use which models, from the specs they were started with.
class ModelUse final : public QObject
{
    Q_OBJECT

public:
    explicit ModelUse(api::Client& client, QObject* parent = nullptr);

    // Names of sandboxes.
    QStringList users(const QString& repo) const;

Q_SIGNALS:
    void changed();

private:
    struct Sandbox
    {
        QString name;
        QSet<QString> models;
    };

    void look();
    void ask(const QString& id);

    api::Client& m_client;
    QHash<QString, Sandbox> m_sandboxes; // alive ones, by id
};

} // namespace gb::ui
