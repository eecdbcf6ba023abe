// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

#include "modeluse.h"

#include <widgets/itemmodels/fields.h>
#include <widgets/itemmodels/livestate.h>

namespace gb::ui {

ModelUse::ModelUse(api::Client& client, QObject* parent) : QObject(parent), m_client(client)
{
    m_client.watch({"sandboxes"});
    connect(&m_client, &api::Client::stateChanged, this, [this](const QString& topic) {
        if (topic == QLatin1String("sandboxes"))
            look();
    });
    look();
}

QStringList ModelUse::users(const QString& repo) const
{
    QStringList names;
    for (const auto& sandbox : m_sandboxes)
        if (sandbox.models.contains(repo))
            names += sandbox.name;
    names.sort();
    return names;
}

void ModelUse::look()
{
    QSet<QString> alive;
    for (const auto& item : aliveItems(m_client)) {
        if (item.kind != AliveItem::Kind::Sandbox)
            continue;
        alive.insert(item.id);
        // A spec does not change once its sandbox exists, so each is asked for once.
        if (!m_sandboxes.contains(item.id)) {
            m_sandboxes.insert(item.id, {item.title, {}});
            ask(item.id);
        }
    }
    const auto before = m_sandboxes.size();
    m_sandboxes.removeIf([&alive](const auto& entry) { return !alive.contains(entry.key()); });
    if (m_sandboxes.size() != before)
        Q_EMIT changed();
}

void ModelUse::ask(const QString& id)
{
    m_client.call(
        this, "sandboxes.get", {{"sandbox", id.toStdString()}}, [this, id](Result<api::Answer> answer) {
            const auto known = m_sandboxes.find(id);
            if (!answer || known == m_sandboxes.end())
                return;
            const auto spec = objectOr(answer->body, "spec");
            if (const auto models = spec.find("models"); models != spec.end() && models->is_array())
                for (const auto& model : *models) {
                    if (textField(model, "path").isEmpty())
                        known->models.insert(textField(model, "name"));
                    known->models.insert(textField(model, "base_model"));
                }
            known->models.remove(QString());
            if (!known->models.isEmpty())
                Q_EMIT changed();
        });
}

} // namespace gb::ui
