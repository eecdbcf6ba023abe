// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <functional>
#include <memory>
#include <string>

#include <backend/base/result.h>

namespace gb {

// Where a desktop keeps passwords. Answers come later, on the thread that asked; they may take as long as a
// person needs to unlock it.
class KeyStore
{
public:
    virtual ~KeyStore() = default;

    // "secrets.denied" when the person said no, "secrets.no_key_store" when there is none that works.
    virtual void write(
        const std::string& name, const std::string& value, std::function<void(Status)> done) = 0;
    // "secrets.unknown" when it has none of that name.
    virtual void read(const std::string& name, std::function<void(Result<std::string>)> done) = 0;
    virtual void remove(const std::string& name, std::function<void(Status)> done) = 0;
};

// That of the desktop session (Secret Service, KWallet). `scope` keeps data folders apart.
std::unique_ptr<KeyStore> desktopKeyStore(std::string scope);

} // namespace gb
