// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

#include "secretscard.h"

#include <QHBoxLayout>
#include <QLineEdit>

#include <backend/base/clock.h>
#include <backend/domain/specrules.h>
#include <widgets/controls/buttons.h>
#include <widgets/controls/frames.h>
#include <widgets/controls/numbers.h>
#include <widgets/controls/theme.h>
#include <widgets/itemmodels/fields.h>

#include "settingrow.h"
#include "text.h"

namespace gb::ui {
namespace {

const QString hubToken = QStringLiteral("HF_TOKEN");

QString secretTitle(const QString& name)
{
    return name == hubToken ? SettingsText::tr("Model hub (%1)").arg(name) : name;
}

QString secretHelp(const QString& name, const Json* secret, const QString& file)
{
    if (!secret)
        return name == hubToken
            ? SettingsText::tr("Not set here. Needed for models whose access has to be requested.")
            : SettingsText::tr("Not set yet.");
    const auto when = agoText(timeField(*secret, "set_at"), wallMs());
    if (stringOr(*secret, "store") == "file")
        return SettingsText::tr("Set %1, in a file that only you may read: %2").arg(when, file);
    return boolOr(*secret, "known")
        ? SettingsText::tr("Set %1, in the key store of the desktop.").arg(when)
        : SettingsText::tr("Set %1, but the key store of the desktop does not give it.").arg(when);
}

} // namespace

SecretsCard::SecretsCard(api::Client& client, QWidget* parent) : QFrame(parent), m_client(client)
{
    setProperty("gbFrame", QStringLiteral("card"));
    auto* layout = new QVBoxLayout(this);
    layout->setContentsMargins(space::l, space::xs, space::l, space::xs);
    layout->setSpacing(0);
    m_rows = new QVBoxLayout;
    m_rows->setSpacing(0);
    layout->addLayout(m_rows);
    layout->addWidget(createAdder());
    show(Json::object());
    connect(&m_client, &api::Client::connected, this, &SecretsCard::refresh);
}

QWidget* SecretsCard::createAdder()
{
    auto* row = new SettingRow(SettingsText::tr("Another one"),
        SettingsText::tr("Named as programs know it from their environment, for example MY_SERVICE_KEY."));
    m_newName = new QLineEdit;
    m_newName->setObjectName(QStringLiteral("new-secret"));
    m_newName->setPlaceholderText(SettingsText::tr("name"));
    connect(m_newName, &QLineEdit::returnPressed, this, [this] {
        const auto name = m_newName->text().trimmed();
        if (const auto complaint = rules::secretName(name.toStdString())) {
            Q_EMIT refused(SettingsText::tr("This cannot be its name"),
                Error{"secrets.name", complaint->message, Json{{"fix", complaint->fix}}});
            return;
        }
        m_newName->clear();
        if (!m_added.contains(name))
            m_added += name;
        refresh();
    });
    row->setField(m_newName);
    return row;
}

void SecretsCard::refresh()
{
    m_client.call(this, "secrets.list", Json::object(), [this](Result<api::Answer> answer) {
        if (answer)
            show(answer->body);
        else
            Q_EMIT refused(SettingsText::tr("The tokens and keys could not be listed"), answer.error());
    });
}

void SecretsCard::show(const Json& listing)
{
    clearLayout(m_rows);
    std::map<QString, const Json*> all = {{hubToken, nullptr}};
    for (const auto& name : std::as_const(m_added))
        all.emplace(name, nullptr);
    if (const auto secrets = listing.find("secrets"); secrets != listing.end() && secrets->is_array())
        for (const auto& secret : *secrets)
            all[textField(secret, "name")] = &secret;
    for (const auto& [name, secret] : all)
        addRow(name, secret, textField(listing, "file"));
    Q_EMIT shown();
}

void SecretsCard::addRow(const QString& name, const Json* secret, const QString& file)
{
    auto* row = new SettingRow(secretTitle(name), secretHelp(name, secret, file));
    auto* field = new QLineEdit;
    field->setObjectName(name);
    field->setEchoMode(QLineEdit::Password);
    field->setPlaceholderText(
        secret ? SettingsText::tr("paste to replace it") : SettingsText::tr("paste it here"));
    auto* save = makeIconButton(QStringLiteral("check"), SettingsText::tr("Keep %1").arg(name));
    save->setEnabled(false);
    connect(field, &QLineEdit::textChanged, save,
        [save](const QString& text) { save->setEnabled(!text.trimmed().isEmpty()); });
    connect(field, &QLineEdit::returnPressed, save, &QToolButton::click);
    connect(save, &QToolButton::clicked, this, [this, name, field] { set(name, field); });
    auto* side = new QWidget;
    auto* line = new QHBoxLayout(side);
    line->setContentsMargins(0, 0, 0, 0);
    line->setSpacing(space::xs);
    line->addWidget(field, 1);
    line->addWidget(save);
    if (secret) {
        auto* forget = makeIconButton(QStringLiteral("trash"), SettingsText::tr("Forget %1").arg(name));
        connect(forget, &QToolButton::clicked, this, [this, name] { clear(name); });
        line->addWidget(forget);
    }
    row->setField(side);
    field->setAccessibleName(row->accessibleName());
    m_rows->addWidget(row);
    m_rows->addWidget(makeLine());
}

void SecretsCard::set(const QString& name, QLineEdit* field)
{
    const auto value = field->text().trimmed();
    field->clear();
    const Json params = {{"name", name.toStdString()}, {"value", value.toStdString()}};
    m_client.call(this, "secrets.set", params, [this, name](Result<api::Answer> answer) {
        if (answer)
            refresh();
        else
            Q_EMIT refused(SettingsText::tr("%1 was not kept").arg(name), answer.error());
    });
}

void SecretsCard::clear(const QString& name)
{
    m_added.removeAll(name);
    m_client.call(
        this, "secrets.clear", {{"name", name.toStdString()}}, [this, name](Result<api::Answer> answer) {
            if (answer)
                refresh();
            else
                Q_EMIT refused(SettingsText::tr("%1 was not forgotten").arg(name), answer.error());
        });
}

} // namespace gb::ui
