// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <map>

#include <QObject>

#include <backend/base/files.h>
#include <backend/base/json.h>

#include "keystore.h"

namespace gb {

// Tokens and keys by name, as programs know them from their environment (HF_TOKEN, …). Each lies in the
// desktop's key store, or, where none works, in a 0600 file; which of the two is said of each. Values leave
// this class only towards the service, never towards a client.
class SecretStore : public QObject
{
    Q_OBJECT

public:
    using Done = std::function<void(Status)>;

    // The file holds names, and values where there is no key store. One that cannot be read or that others
    // may read is an error.
    static Result<std::unique_ptr<SecretStore>> open(fs::path file, std::unique_ptr<KeyStore> keys);

    // For what is set from now on; true at first.
    void useKeyStore(bool use) { m_useKeys = use; }
    void set(const std::string& name, std::string value, Done done);
    void clear(const std::string& name, Done done);
    // {file, secrets: [{name, set_at, store: "key_store"|"file", known}]}; `known`: its value could be read.
    Json list() const;

    // Empty: not set, or the key store did not give it (yet).
    std::string value(const std::string& name) const;
    std::map<std::string, std::string> values() const;

Q_SIGNALS:
    void changed(); // a value came, changed or went

private:
    struct Entry
    {
        std::int64_t setAt = 0;
        bool inKeyStore = false;
        std::string value; // empty: still in the key store
    };

    SecretStore(fs::path file, std::unique_ptr<KeyStore> keys);
    Status load();
    Status save(const std::map<std::string, Entry>& entries) const;
    Status put(const std::string& name, std::string value, bool inKeyStore);
    void readKeyStore();

    fs::path m_file;
    std::unique_ptr<KeyStore> m_keys; // null: the file only
    bool m_useKeys = true;
    std::map<std::string, Entry> m_entries;
};

} // namespace gb
