// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

#include "modelnames.h"

#include <QCompleter>
#include <QLineEdit>

#include "fields.h"

namespace gb::ui {

ModelNames::ModelNames(api::Client& client, QObject* parent) : QStringListModel(parent), m_client(client)
{
    connect(&m_client, &api::Client::connected, this, &ModelNames::ask);
    connect(&m_client, &api::Client::stateChanged, this, [this](const QString& topic) {
        if (topic == QLatin1String("models"))
            showDownloads();
    });
    m_client.watch({"models"});
    if (m_client.state() == api::Client::State::Connected)
        ask();
    showDownloads();
}

void ModelNames::completeIn(QLineEdit* field)
{
    auto* completer = new QCompleter(this, field);
    completer->setFilterMode(Qt::MatchContains);
    completer->setCaseSensitivity(Qt::CaseInsensitive);
    field->setCompleter(completer);
}

void ModelNames::ask()
{
    m_client.call(this, "models.ls", Json::object(), [this](Result<api::Answer> answer) {
        // Without an answer nothing is offered; whoever needs the list says that it did not come.
        if (!answer)
            return;
        m_cached.clear();
        const auto models = answer->body.find("models");
        if (models != answer->body.end() && models->is_array())
            for (const auto& model : *models)
                m_cached += textField(model, "repo");
        show();
    });
}

void ModelNames::showDownloads()
{
    QStringList names;
    const auto& items = m_client.items("models");
    if (items.is_object())
        for (const auto& item : items)
            names += textField(item, "repo");
    names.sort();
    if (names == m_downloads)
        return;
    m_downloads = names;
    show();
}

void ModelNames::show()
{
    auto names = m_cached + m_downloads;
    names.removeAll(QString());
    names.removeDuplicates();
    names.sort(Qt::CaseInsensitive);
    if (names != stringList())
        setStringList(names);
}

} // namespace gb::ui
