// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <QFrame>
#include <QList>
#include <QTimer>

#include <backend/api/client.h>

class QLabel;

namespace gb::ui {

class FittingRows;

// The newest calls, whoever made them; each leads to where it can be looked at and sent again. Until there is
// one it says how to come to it.
class CallsCard final : public QFrame
{
    Q_OBJECT

public:
    explicit CallsCard(api::Client& client, QWidget* parent = nullptr);
    void refresh() { m_soon.start(); }
    void showTimes(); // how long ago it was by now

Q_SIGNALS:
    void chosen(const QString& call); // empty: all of them
    void copied(const QString& command);

private:
    void ask();
    void showCalls(const Json& calls);
    QWidget* createEmpty();
    QWidget* row(const Json& call);

    api::Client& m_client;
    QWidget* m_empty = nullptr;
    QWidget* m_full = nullptr;
    FittingRows* m_rows = nullptr;
    QList<QPair<QLabel*, std::int64_t>> m_times;
    QTimer m_soon;
    std::string m_shown;
};

} // namespace gb::ui
