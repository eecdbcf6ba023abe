// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <QLineEdit>

class QTimer;

namespace gb::ui {

// A line with a magnifier, a clear button, a short delay while typing, and help for its syntax.
class FilterField final : public QLineEdit
{
    Q_OBJECT

public:
    explicit FilterField(const QString& placeholder, QWidget* parent = nullptr);
    // Example → meaning, shown in a menu; choosing one inserts it.
    void setSyntaxHelp(const QList<QPair<QString, QString>>& help);
    void setDelay(int milliseconds);

Q_SIGNALS:
    void filterChanged(const QString& filter);

protected:
    void keyPressEvent(QKeyEvent* event) override;

private:
    QTimer* m_delay = nullptr;
    QAction* m_help = nullptr;
};

} // namespace gb::ui
