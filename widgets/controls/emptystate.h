// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <functional>

#include <QWidget>

class QLabel;
class QPushButton;
class QVBoxLayout;

namespace gb::ui {

// Says in one sentence why there is nothing here, and offers the one thing to do about it.
class EmptyState final : public QWidget
{
    Q_OBJECT

public:
    explicit EmptyState(
        const QString& iconName, const QString& title, const QString& sentence, QWidget* parent = nullptr);
    void setTexts(const QString& title, const QString& sentence);
    void setIcon(const QString& iconName);
    // None with an empty text. Where the page has its primary action elsewhere, this is not a second one.
    void setAction(const QString& text, std::function<void()> act, bool primary = true);
    // A line in the fixed font that can be selected: the command that does the same.
    void setCommand(const QString& command);

protected:
    void resizeEvent(QResizeEvent* event) override;

private:
    void paintIcon();

    QString m_iconName;
    QLabel* m_icon = nullptr;
    QLabel* m_title = nullptr;
    QLabel* m_sentence = nullptr;
    QLabel* m_command = nullptr;
    QPushButton* m_button = nullptr;
    QVBoxLayout* m_column = nullptr;
};

} // namespace gb::ui
