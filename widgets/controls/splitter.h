// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <QSplitter>

class QSettings;

namespace gb::ui {

// What the window remembers about itself (geometry, splitters, look). One file, read before the first window
// and written by Qt when the event loop is idle; the path is set once by the program, tests set their own.
void setRememberedFile(const QString& path);
QSettings& remembered();

// Remembers its sizes under its name; a double click on a handle restores the ones it began with.
class Splitter final : public QSplitter
{
    Q_OBJECT

public:
    Splitter(const QString& name, Qt::Orientation orientation, QWidget* parent = nullptr);

    // Shares of the width (or height), in order; call it after the widgets are in.
    void setDefaults(const QList<int>& shares);
    void restoreDefaults();

protected:
    QSplitterHandle* createHandle() override;
    void showEvent(QShowEvent* event) override;

private:
    QString m_name;
    QList<int> m_defaults;
    bool m_restored = false;
};

} // namespace gb::ui
