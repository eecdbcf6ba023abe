// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <QWidget>

#include <backend/domain/resultdiff.h>

#include "tensorfield.h"

class QLabel;
class QPlainTextEdit;
class QStackedWidget;
class QTableWidget;
class QVBoxLayout;

namespace gb::ui {

// Two results beside each other: what differs where, how far their numbers are apart, texts by words.
class CompareView final : public QWidget
{
    Q_OBJECT

public:
    explicit CompareView(QWidget* parent = nullptr);
    struct Side
    {
        QString name;
        std::string result;
        TensorFetch fetch; // from the host that made it
    };
    // Structure and texts at once; what handles stand for as it comes from the hosts.
    void setResults(const Side& left, const Side& right);
    void setDiff(const ResultDiff& diff, const QString& leftName, const QString& rightName);
    void setProblem(const QString& sentence);
    QString summary() const;

private:
    void showParts();
    void showWords(const ResultDiff& diff);
    void showLines(const ResultDiff& diff);
    void compareTensors(const Side& left, const Side& right);
    void compareImages(const Side& left, const Side& right);

    ResultDiff m_diff;
    QLabel* m_summary = nullptr;
    QVBoxLayout* m_tensors = nullptr;
    QVBoxLayout* m_images = nullptr;
    QStackedWidget* m_stack = nullptr;
    QTableWidget* m_table = nullptr;
    QPlainTextEdit* m_words = nullptr;
};

} // namespace gb::ui
