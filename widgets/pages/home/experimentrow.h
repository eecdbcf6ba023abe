// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <QAbstractButton>

#include <backend/base/json.h>

namespace gb::ui {

// One experiment as a button: name, folder, what of it is alive, what came of its last run.
class ExperimentRow final : public QAbstractButton
{
    Q_OBJECT

public:
    explicit ExperimentRow(const Json& experiment, QWidget* parent = nullptr);
    QSize sizeHint() const override;
    // From the topics "sandboxes" and "runs".
    void showLive(const Json& sandboxes, const Json& runs);
    QString state() const { return m_state; }
    QString lastResult() const { return m_last; }

Q_SIGNALS:
    void chosen(const QString& folder);

protected:
    void paintEvent(QPaintEvent* event) override;

private:
    void describe();

    QString m_id;
    QString m_name;
    QString m_folder;
    std::int64_t m_openedAt = 0;
    QString m_state; // of its sandbox; empty: nothing of it is alive
    QString m_last; // 12 calls · 1 error
    std::int64_t m_lastAt = 0;
};

} // namespace gb::ui
