// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <QAction>
#include <QWidget>

#include "tokens.h"

namespace gb::ui {

// One place of the window. The shell shows its title and its actions in the header, the palette and the rail;
// a page knows nothing of the shell nor of other pages, it asks by signals.
class Page : public QWidget
{
    Q_OBJECT

public:
    Page(QString id, QString title, QString iconName, QWidget* parent = nullptr)
        : QWidget(parent), m_id(std::move(id)), m_title(std::move(title)), m_iconName(std::move(iconName))
    { }

    QString id() const { return m_id; }
    QString title() const { return m_title; }
    QString iconName() const { return m_iconName; }

    // The one primary action of this page (Ctrl+Enter, the header's filled button), or none.
    virtual QAction* primaryAction() { return nullptr; }
    // It was asked for by keys while it cannot be done: leads to what is in its way.
    virtual void showObstacle() { }
    // Everything else this page can do; each appears in the command palette.
    virtual QList<QAction*> pageActions() { return {}; }
    // F5.
    virtual void refresh() { }
    // Shows something in particular, for example one call; empty: just come to front.
    virtual void showPlace(const QString& /*place*/) { }
    // The folder of the experiment this window shows; empty: none.
    virtual void setExperiment(const QString& /*folder*/) { }
    // What Ctrl+F finds in.
    virtual void find() { }
    // False while something is still on its way, so that a picture can wait for it.
    virtual bool settled() const { return true; }

Q_SIGNALS:
    void pageRequested(const QString& pageId, const QString& place);
    void experimentRequested(const QString& folder);
    void notificationRequested(gb::ui::Tone tone, const QString& title, const QString& text);

private:
    QString m_id;
    QString m_title;
    QString m_iconName;
};

} // namespace gb::ui
