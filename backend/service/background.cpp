// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

#include "background.h"

#include <memory>

#include <QThreadPool>

namespace gb::service {

void answerFromPool(QObject* guard, Reply reply, std::function<Result<api::Answer>()> work)
{
    // The reply must end its life on the daemon's thread, so it never rides along to the pool by value.
    auto held = std::make_shared<std::unique_ptr<Reply>>(std::make_unique<Reply>(std::move(reply)));
    QThreadPool::globalInstance()->start([guard, held, work = std::move(work)] {
        auto outcome = std::make_shared<Result<api::Answer>>(work());
        QMetaObject::invokeMethod(
            guard,
            [held, outcome] {
                const auto own = std::move(*held);
                if (*outcome)
                    own->finish(std::move(**outcome));
                else
                    own->refuse(std::move(*outcome).error());
            },
            Qt::QueuedConnection);
    });
}

} // namespace gb::service
