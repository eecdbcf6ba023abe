// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

#include <QObject>

#include <qt6keychain/keychain.h>

#include "keystore.h"

namespace gb {
namespace {

Status statusOf(const QKeychain::Job& job)
{
    switch (job.error()) {
    case QKeychain::NoError:
        return {};
    case QKeychain::EntryNotFound:
        return fail("secrets.unknown", "the key store has no such entry");
    case QKeychain::AccessDenied:
    case QKeychain::AccessDeniedByUser:
        return fail("secrets.denied", "the key store was not opened");
    default:
        return fail("secrets.no_key_store", job.errorString().toStdString());
    }
}

class DesktopKeyStore final : public KeyStore
{
public:
    explicit DesktopKeyStore(std::string scope) : m_service(QString::fromStdString(scope)) { }

    void write(const std::string& name, const std::string& value, std::function<void(Status)> done) override
    {
        auto* job = new QKeychain::WritePasswordJob(m_service);
        job->setBinaryData(QByteArray::fromStdString(value));
        start(job, name, [done = std::move(done)](const QKeychain::Job& ended) { done(statusOf(ended)); });
    }

    void read(const std::string& name, std::function<void(Result<std::string>)> done) override
    {
        auto* job = new QKeychain::ReadPasswordJob(m_service);
        start(job, name, [job, done = std::move(done)](const QKeychain::Job& ended) {
            if (const auto status = statusOf(ended); !status)
                done(fail(status.error()));
            else
                done(job->binaryData().toStdString());
        });
    }

    void remove(const std::string& name, std::function<void(Status)> done) override
    {
        auto* job = new QKeychain::DeletePasswordJob(m_service);
        start(job, name, [done = std::move(done)](const QKeychain::Job& ended) { done(statusOf(ended)); });
    }

private:
    void start(QKeychain::Job* job, const std::string& name, std::function<void(const QKeychain::Job&)> ended)
    {
        job->setKey(QString::fromStdString(name));
        // Without a key store we write our own 0600 file, not the library's.
        job->setInsecureFallback(false);
        QObject::connect(job, &QKeychain::Job::finished, &m_guard,
            [ended = std::move(ended)](QKeychain::Job* finished) { ended(*finished); });
        job->start();
    }

    QString m_service;
    QObject m_guard; // no answer outlives the store
};

} // namespace

std::unique_ptr<KeyStore> desktopKeyStore(std::string scope)
{
    return std::make_unique<DesktopKeyStore>(std::move(scope));
}

} // namespace gb
