// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <QWidget>

#include <backend/domain/resultdiff.h>

class QLabel;
class QPlainTextEdit;
class QStackedWidget;
class QTableWidget;

namespace gb::ui {

// Two results beside each other: what differs where, how far their numbers are apart, texts by words.
class CompareView final : public QWidget
{
    Q_OBJECT

public:
    explicit CompareView(QWidget* parent = nullptr);
    void setDiff(const ResultDiff& diff, const QString& leftName, const QString& rightName);
    void setProblem(const QString& sentence);
    QString summary() const;

private:
    void showWords(const ResultDiff& diff);
    void showLines(const ResultDiff& diff);

    QLabel* m_summary = nullptr;
    QStackedWidget* m_stack = nullptr;
    QTableWidget* m_table = nullptr;
    QPlainTextEdit* m_words = nullptr;
};

} // namespace gb::ui
