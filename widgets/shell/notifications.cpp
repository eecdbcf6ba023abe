// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

#include "notifications.h"

#include <QApplication>
#include <QKeyEvent>
#include <QLabel>
#include <QVBoxLayout>

#include <backend/base/clock.h>
#include <widgets/controls/errortext.h>
#include <widgets/controls/frames.h>
#include <widgets/controls/icons.h>
#include <widgets/controls/labels.h>
#include <widgets/controls/numbers.h>
#include <widgets/controls/theme.h>
#include <widgets/controls/toast.h>
#include <widgets/itemmodels/fields.h>

#include "desktopnotice.h"
#include "text.h"

namespace gb::ui {
namespace {

constexpr int notificationsKept = 50;
constexpr int notificationsWidth = 380;
constexpr std::int64_t longWorkMs = 10'000;

} // namespace

Notifications::Notifications(api::Client& client, QWidget* over) : QFrame(over), m_client(client)
{
    setProperty("gbFrame", QStringLiteral("popup"));
    setFocusPolicy(Qt::StrongFocus);
    setAccessibleName(ShellText::tr("Notifications"));
    m_rows = new QVBoxLayout(this);
    m_rows->setContentsMargins(space::l, space::m, space::l, space::m);
    m_rows->setSpacing(space::m);
    m_toast = new Toast(over);
    m_desktop = new DesktopNotice(this);
    connect(m_desktop, &DesktopNotice::activated, this, [this] {
        window()->showNormal();
        window()->raise();
        window()->activateWindow();
    });
    hide();
    connect(&m_client, &api::Client::stateChanged, this, [this](const QString& topic) {
        if (topic == QLatin1String("jobs"))
            lookForEndedJobs();
    });
}

void Notifications::add(Tone tone, const QString& title, const QString& text, bool desktop)
{
    m_entries.prepend({tone, title, text, wallMs()});
    if (m_entries.size() > notificationsKept)
        m_entries.removeLast();
    m_toast->show(tone, text.isEmpty() ? title : title + QStringLiteral(" — ") + text);
    if (isVisible())
        showEntries();
    else
        Q_EMIT unreadChanged(++m_unread);
    if (desktop && !QApplication::activeWindow()) {
        QApplication::alert(window());
        m_desktop->tell(title, text);
    }
}

void Notifications::lookForEndedJobs()
{
    const auto& jobs = m_client.items("jobs");
    if (!jobs.is_object())
        return;
    for (const auto& job : jobs) {
        const auto id = textField(job, "id");
        const auto state = textField(job, "state");
        const auto before = m_jobStates.value(id);
        m_jobStates.insert(id, state);
        if (before.isEmpty() || before == state)
            continue;
        const auto title = textField(job, "title");
        if (state == QLatin1String("failed"))
            add(Tone::Error, ShellText::tr("%1 failed").arg(title),
                errorSentence(Error::fromJson(objectOr(job, "error"))), true);
        const auto tookMs = timeField(job, "ended_at") - timeField(job, "started_at");
        if (state == QLatin1String("done") && tookMs > longWorkMs)
            add(Tone::Success, ShellText::tr("%1 is done").arg(title),
                ShellText::tr("It took %1.").arg(durationText(tookMs * 1'000'000)), true);
    }
}

void Notifications::openBelow(QWidget* anchor)
{
    if (isVisible()) {
        hide();
        return;
    }
    showEntries();
    m_unread = 0;
    Q_EMIT unreadChanged(0);
    const auto corner = anchor->mapTo(parentWidget(), QPoint(anchor->width(), anchor->height() + space::xs));
    setFixedWidth(notificationsWidth);
    adjustSize();
    move(qMax(space::s, corner.x() - width()), corner.y());
    show();
    raise();
    setFocus();
}

void Notifications::showEntries()
{
    clearLayout(m_rows);
    m_rows->addWidget(makeLabel(ShellText::tr("Notifications"), TextRole::Strong));
    if (m_entries.isEmpty())
        m_rows->addWidget(makeLabel(ShellText::tr("Nothing has happened yet."), TextRole::Secondary));
    for (const auto& entry : m_entries.mid(0, 8)) {
        auto* line = new QHBoxLayout;
        line->setSpacing(space::s);
        auto* dot = new QLabel;
        dot->setPixmap(iconPixmap(entry.tone == Tone::Error ? QStringLiteral("error")
                : entry.tone == Tone::Success               ? QStringLiteral("success")
                : entry.tone == Tone::Warning               ? QStringLiteral("warning")
                                                            : QStringLiteral("info"),
            16, toneColor(tokens(), entry.tone), devicePixelRatioF()));
        auto* words = new QVBoxLayout;
        words->setSpacing(2);
        words->addWidget(new ElidedLabel(entry.title));
        if (!entry.text.isEmpty()) {
            auto* text = makeLabel(entry.text, TextRole::Caption);
            text->setWordWrap(true);
            words->addWidget(text);
        }
        auto* when = makeLabel(agoText(entry.at, wallMs()), TextRole::Caption);
        when->setToolTip(exactTimeText(entry.at));
        line->addWidget(dot, 0, Qt::AlignTop);
        line->addLayout(words, 1);
        line->addWidget(when, 0, Qt::AlignTop);
        m_rows->addLayout(line);
    }
}

void Notifications::keyPressEvent(QKeyEvent* event)
{
    if (event->key() == Qt::Key_Escape)
        hide();
    else
        QFrame::keyPressEvent(event);
}

void Notifications::focusOutEvent(QFocusEvent* event)
{
    QFrame::focusOutEvent(event);
    hide();
}

} // namespace gb::ui
