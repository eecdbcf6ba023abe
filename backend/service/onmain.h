// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <functional>

#include <QObject>

#include <backend/store/store.h>

namespace gb::service {

// The store answers on its own thread; this brings the answer to the thread of `guard`, which must live as
// long as the store does: what may go earlier checks a QPointer of its own in the handler.
template <typename T>
Store::Done<T> onMain(QObject* guard, std::function<void(Result<T>)> handler)
{
    return [guard, handler = std::move(handler)](Result<T> result) {
        QMetaObject::invokeMethod(
            guard, [handler, result = std::move(result)] { handler(result); }, Qt::QueuedConnection);
    };
}

// For writes whose failure nobody waits for: it goes to the log.
Store::Done<void> logged(std::string what);

} // namespace gb::service
