// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <QFrame>
#include <QHash>

#include <backend/api/client.h>
#include <widgets/controls/tokens.h>

class QVBoxLayout;

namespace gb::ui {

class DesktopNotice;
class Toast;

// What happened, newest first, behind the bell; each also passes as a toast. When the window is not in front,
// the end of long work also goes to the desktop.
class Notifications final : public QFrame
{
    Q_OBJECT

public:
    Notifications(api::Client& client, QWidget* over);

    void add(Tone tone, const QString& title, const QString& text, bool desktop = false);
    void openBelow(QWidget* anchor);
    int unread() const { return m_unread; }

Q_SIGNALS:
    void unreadChanged(int count);

private:
    struct Entry
    {
        Tone tone;
        QString title;
        QString text;
        std::int64_t at;
    };

    void lookForEndedJobs();
    void showEntries();
    void keyPressEvent(QKeyEvent* event) override;
    void focusOutEvent(QFocusEvent* event) override;

    api::Client& m_client;
    QList<Entry> m_entries;
    QVBoxLayout* m_rows = nullptr;
    Toast* m_toast = nullptr;
    DesktopNotice* m_desktop = nullptr;
    QHash<QString, QString> m_jobStates;
    int m_unread = 0;
};

} // namespace gb::ui
