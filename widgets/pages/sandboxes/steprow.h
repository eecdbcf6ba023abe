// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <QWidget>

#include <backend/base/json.h>

class QLabel;
class QProgressBar;

namespace gb::ui {

class ElidedLabel;

// One thing that Start does: first as a plan, then as it happens.
class StepRow final : public QWidget
{
    Q_OBJECT

public:
    enum class State { Planned, Running, Done, Failed, Cancelled, Skipped };

    explicit StepRow(const Json& step, QWidget* parent = nullptr);
    void setState(State state, const QString& message = {});
    // What the step under way moves: its state, done, total, rate and remaining time.
    void setPart(const Json& part);
    State state() const { return m_state; }
    QString title() const;

private:
    void showIcon();

    State m_state = State::Planned;
    bool m_reused = false;
    QLabel* m_icon = nullptr;
    ElidedLabel* m_title = nullptr;
    QLabel* m_figures = nullptr;
    ElidedLabel* m_message = nullptr;
    QProgressBar* m_bar = nullptr;
};

} // namespace gb::ui
