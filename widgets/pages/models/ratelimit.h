// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <QWidget>

#include <backend/api/client.h>

class QComboBox;

namespace gb::ui {

// How fast models may come, all of them together. What is chosen holds at once, also for what is on its way.
class RateLimit final : public QWidget
{
    Q_OBJECT

public:
    explicit RateLimit(api::Client& client, QWidget* parent = nullptr);

Q_SIGNALS:
    void refused(const gb::Error& error);

private:
    void ask();
    void set(std::int64_t bytesPerSecond);
    void show(std::int64_t bytesPerSecond);

    api::Client& m_client;
    QComboBox* m_choice = nullptr;
};

} // namespace gb::ui
