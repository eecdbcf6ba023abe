// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <QWidget>

class QLabel;
class QProgressBar;
class QToolButton;

namespace gb::ui {

class ElidedLabel;

// What a long thing looks like anywhere: name, bar, done of total, rate, remaining, cancel.
struct ProgressSpec
{
    QString title = {};
    QString message = {};
    QString state = {}; // of the API: queued, running, done, failed, cancelled
    QString unit = {}; // "bytes" or a word
    double done = 0;
    double total = 0; // 0: unknown, the bar moves without an end
    double rate = 0;
    double remainingSeconds = -1;
    bool cancellable = false;
};

class ProgressRow final : public QWidget
{
    Q_OBJECT

public:
    explicit ProgressRow(QWidget* parent = nullptr);
    void setProgress(const ProgressSpec& spec);
    // "62 % · 210 MB/s · 0:41"
    static QString figures(const ProgressSpec& spec);

Q_SIGNALS:
    void cancelRequested();

private:
    ElidedLabel* m_title = nullptr;
    ElidedLabel* m_message = nullptr;
    QLabel* m_figures = nullptr;
    QProgressBar* m_bar = nullptr;
    QToolButton* m_cancel = nullptr;
};

} // namespace gb::ui
