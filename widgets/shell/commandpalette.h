// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <functional>
#include <vector>

#include <QFrame>
#include <QPointer>
#include <QString>

class QLabel;
class QListWidget;

namespace gb::ui {

class FilterField;

struct Command
{
    QString title;
    QString about; // page, folder …
    QString iconName;
    QString shortcut;
    std::function<void()> run;
};

// How well the letters of `typed` fit: larger is better, -1 not at all. Starts of words count most.
int matchScore(const QString& typed, const QString& title);

// Everything that can be done, found by a few letters. Lies over the top of its parent.
class CommandPalette final : public QFrame
{
    Q_OBJECT

public:
    explicit CommandPalette(QWidget* over);
    void open(std::vector<Command> commands);

protected:
    bool eventFilter(QObject* watched, QEvent* event) override;

private:
    void showMatches(const QString& typed);
    void runCurrent();
    void place();
    void dismiss();

    std::vector<Command> m_commands;
    FilterField* m_field = nullptr;
    QListWidget* m_list = nullptr;
    QLabel* m_none = nullptr;
    QPointer<QWidget> m_before; // had the focus
};

} // namespace gb::ui
