// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

#include "secretstore.h"

#include <sys/stat.h>

#include <QPointer>

#include <backend/base/clock.h>
#include <backend/domain/specrules.h>

namespace gb {
namespace {

constexpr std::size_t longestSecret = 64U << 10U;

Status checkSecret(const std::string& name, const std::string& value)
{
    if (const auto complaint = rules::secretName(name))
        return fail("secrets.name", complaint->message, Json{{"fix", complaint->fix}});
    if (value.empty() || value.size() > longestSecret || value.find('\0') != std::string::npos)
        return fail("secrets.value", "a secret is a text of 1 to 65536 bytes");
    return {};
}

} // namespace

SecretStore::SecretStore(fs::path file, std::unique_ptr<KeyStore> keys)
    : m_file(std::move(file)), m_keys(std::move(keys))
{ }

Result<std::unique_ptr<SecretStore>> SecretStore::open(fs::path file, std::unique_ptr<KeyStore> keys)
{
    std::unique_ptr<SecretStore> store(new SecretStore(std::move(file), std::move(keys)));
    GB_TRY(store->load());
    store->readKeyStore();
    return store;
}

Status SecretStore::load()
{
    struct stat info = {};
    if (::stat(m_file.c_str(), &info) == 0 && (info.st_mode & 077U) != 0)
        return fail("secrets.open_to_others", m_file.string() + " may be read by others",
            Json{{"file", m_file.string()}});
    const auto text = readFile(m_file);
    if (!text)
        return text.error().code == "io.not_found" ? Status() : fail(text.error());
    const auto json = parseJson(*text);
    const auto secrets = json && json->is_object() ? json->find("secrets") : Json::const_iterator();
    if (!json || !json->is_object() || secrets == json->end() || !secrets->is_object())
        return fail(
            "secrets.broken", m_file.string() + " is not a file of secrets", Json{{"file", m_file.string()}});
    for (const auto& [name, entry] : secrets->items())
        m_entries[name] = {
            integerOr(entry, "set_at"), stringOr(entry, "store") == "key_store", stringOr(entry, "value")};
    return {};
}

Status SecretStore::save(const std::map<std::string, Entry>& entries) const
{
    Json secrets = Json::object();
    for (const auto& [name, entry] : entries) {
        Json& stored = secrets[name] =
            Json{{"set_at", entry.setAt}, {"store", entry.inKeyStore ? "key_store" : "file"}};
        if (!entry.inKeyStore)
            stored["value"] = entry.value;
    }
    return writeFileAtomic(m_file,
        Json{{"secrets", std::move(secrets)}}.dump(2, ' ', false, Json::error_handler_t::replace) + "\n",
        0600);
}

void SecretStore::readKeyStore()
{
    for (const auto& [name, entry] : m_entries) {
        if (!entry.inKeyStore || !m_keys)
            continue;
        m_keys->read(name, [this, name = name](const Result<std::string>& value) {
            const auto found = m_entries.find(name);
            if (!value || found == m_entries.end() || !found->second.inKeyStore)
                return;
            found->second.value = *value;
            Q_EMIT changed();
        });
    }
}

Status SecretStore::put(const std::string& name, std::string value, bool inKeyStore)
{
    auto entries = m_entries;
    entries[name] = {wallMs(), inKeyStore, std::move(value)};
    GB_TRY(save(entries));
    m_entries = std::move(entries);
    Q_EMIT changed();
    return {};
}

void SecretStore::set(const std::string& name, std::string value, Done done)
{
    if (const auto checked = checkSecret(name, value); !checked)
        return done(checked);
    if (!m_keys || !m_useKeys)
        return done(put(name, std::move(value), false));
    m_keys->write(name, value, [this, name, value, done = std::move(done)](const Status& status) {
        // Who closes the question of the key store does not want a file instead.
        if (!status && status.error().code == "secrets.denied")
            return done(status);
        done(put(name, value, status.has_value()));
    });
}

void SecretStore::clear(const std::string& name, Done done)
{
    const auto found = m_entries.find(name);
    if (found == m_entries.end())
        return done(fail("secrets.unknown", "no secret is called " + name, Json{{"name", name}}));
    const auto forget = [this, name, done](const Status& status) {
        if (!status && status.error().code != "secrets.unknown")
            return done(status);
        auto entries = m_entries;
        entries.erase(name);
        if (const auto saved = save(entries); !saved)
            return done(saved);
        m_entries = std::move(entries);
        Q_EMIT changed();
        done({});
    };
    if (found->second.inKeyStore && m_keys)
        m_keys->remove(name, forget);
    else
        forget({});
}

Json SecretStore::list() const
{
    Json secrets = Json::array();
    for (const auto& [name, entry] : m_entries)
        secrets.push_back(Json{{"name", name}, {"set_at", entry.setAt},
            {"store", entry.inKeyStore ? "key_store" : "file"}, {"known", !entry.value.empty()}});
    return Json{{"file", m_file.string()}, {"secrets", std::move(secrets)}};
}

std::string SecretStore::value(const std::string& name) const
{
    const auto found = m_entries.find(name);
    return found == m_entries.end() ? std::string() : found->second.value;
}

std::map<std::string, std::string> SecretStore::values() const
{
    std::map<std::string, std::string> known;
    for (const auto& [name, entry] : m_entries)
        if (!entry.value.empty())
            known.emplace(name, entry.value);
    return known;
}

} // namespace gb
