// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <QFrame>
#include <QList>

class QAction;
class QButtonGroup;
class QVBoxLayout;

namespace gb::ui {

// The pages as a column of icons with words.
class Rail final : public QFrame
{
    Q_OBJECT

public:
    explicit Rail(QWidget* parent = nullptr);

    // The last one stands at the bottom.
    void addPage(const QString& title, const QString& iconName, const QString& shortcut, bool atBottom);
    void setCurrent(int index);

Q_SIGNALS:
    void chosen(int index);

private:
    QButtonGroup* m_group = nullptr;
    QVBoxLayout* m_layout = nullptr;
};

} // namespace gb::ui
