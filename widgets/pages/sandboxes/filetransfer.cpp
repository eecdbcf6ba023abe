// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

#include "filetransfer.h"

#include <QCoreApplication>
#include <QFile>
#include <QFileInfo>
#include <QPointer>
#include <QThreadPool>

#include <backend/base/ids.h>

#include "text.h"

namespace gb::ui {
namespace {

constexpr qint64 filePiece = 512 * 1024;
constexpr unsigned executableMode = 0755;

struct LocalPiece
{
    QByteArray bytes;
    qint64 size = 0;
    bool executable = false;
    QString trouble;
};

LocalPiece readLocal(const QString& path, qint64 offset)
{
    QFile file(path);
    if (!file.open(QIODevice::ReadOnly) || !file.seek(offset))
        return {{}, 0, false, file.errorString()};
    LocalPiece piece{file.read(filePiece), file.size(), QFileInfo(path).isExecutable(), {}};
    if (file.error() != QFileDevice::NoError)
        piece.trouble = file.errorString();
    return piece;
}

// Pieces are gathered beside the target, which is replaced only by a whole file.
QString writeLocal(const QString& path, qint64 offset, const std::string& bytes, bool last)
{
    const auto part = path + QStringLiteral(".part");
    QFile file(part);
    const auto how = offset == 0 ? QIODevice::WriteOnly | QIODevice::Truncate : QIODevice::ReadWrite;
    const auto size = static_cast<qint64>(bytes.size());
    if (!file.open(how) || !file.seek(offset) || file.write(bytes.data(), size) != size || !file.flush())
        return file.errorString();
    file.close();
    if (!last)
        return {};
    QFile::remove(path);
    return file.rename(path) ? QString() : file.errorString();
}

// Runs `work` on another thread and `then` with its answer back on this one, unless `guard` is gone by then.
template <typename Work, typename Then>
void elsewhere(QObject* guard, Work work, Then then)
{
    QThreadPool::globalInstance()->start(
        [self = QPointer(guard), work = std::move(work), then = std::move(then)]() mutable {
            auto result = work();
            QMetaObject::invokeMethod(
                QCoreApplication::instance(),
                [self, result = std::move(result), then = std::move(then)]() mutable {
                    if (self)
                        then(std::move(result));
                },
                Qt::QueuedConnection);
        });
}

} // namespace

FileTransfer::FileTransfer(api::Client& client, std::string sandbox, QObject* parent)
    : QObject(parent), m_client(client), m_sandbox(std::move(sandbox))
{ }

void FileTransfer::upload(const QString& local, const std::string& inside, Done done)
{
    m_local = local;
    m_inside = inside;
    m_done = std::move(done);
    m_transfer = newId();
    sendPiece();
}

void FileTransfer::sendPiece()
{
    elsewhere(
        this, [path = m_local, offset = m_offset] { return readLocal(path, offset); },
        [this](const LocalPiece& piece) {
            if (!piece.trouble.isEmpty())
                return finish(fail("io.read", piece.trouble.toStdString()));
            const auto next = m_offset + piece.bytes.size();
            const bool last = next >= piece.size || piece.bytes.isEmpty();
            const Json params{{"sandbox", m_sandbox}, {"path", m_inside},
                {"mode", piece.executable ? executableMode : m_mode}, {"transfer", m_transfer},
                {"offset", m_offset}, {"final", last}};
            m_client.call(
                this, "sandboxes.put", params,
                [this, next, last, size = piece.size](Result<api::Answer> answer) {
                    if (!answer)
                        return finish(fail(answer.error()));
                    m_offset = next;
                    Q_EMIT progressed(next, size);
                    last ? finish({}) : sendPiece();
                },
                piece.bytes.toStdString());
        });
}

void FileTransfer::download(const std::string& inside, const QString& local, Done done)
{
    m_local = local;
    m_inside = inside;
    m_done = std::move(done);
    readPiece();
}

void FileTransfer::readPiece()
{
    const Json params{{"sandbox", m_sandbox}, {"path", m_inside}, {"offset", m_offset}, {"limit", filePiece}};
    m_client.call(this, "sandboxes.read", params, [this](Result<api::Answer> answer) {
        if (!answer)
            return finish(fail(answer.error()));
        const auto size = integerOr(answer->body, "size");
        const auto next = m_offset + static_cast<std::int64_t>(answer->attachment.size());
        const bool last = next >= size || answer->attachment.empty();
        elsewhere(
            this,
            [path = m_local, offset = m_offset, bytes = std::move(answer->attachment), last] {
                return writeLocal(path, offset, bytes, last);
            },
            [this, next, last, size](const QString& trouble) {
                if (!trouble.isEmpty())
                    return finish(fail("io.write", trouble.toStdString()));
                m_offset = next;
                Q_EMIT progressed(next, size);
                last ? finish({}) : readPiece();
            });
    });
}

void FileTransfer::finish(Status status)
{
    deleteLater();
    if (const auto done = std::exchange(m_done, {}))
        done(std::move(status));
}

} // namespace gb::ui
