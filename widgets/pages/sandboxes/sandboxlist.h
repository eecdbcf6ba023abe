// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <QTimer>
#include <QWidget>

#include <backend/api/client.h>

class QListWidget;

namespace gb::ui {

class DraftForm;

// The column at the left: a new sandbox and those there are; below, the sections of the form.
class SandboxList final : public QWidget
{
    Q_OBJECT

public:
    SandboxList(api::Client& client, DraftForm& form, QWidget* parent = nullptr);

    void choose(const QString& sandbox); // empty: the form
    QString chosen() const;
    void showOutline(bool shown);

Q_SIGNALS:
    void sandboxChosen(const QString& sandbox);

private:
    void showSandboxes();
    void showSections();

    api::Client& m_client;
    DraftForm& m_form;
    QListWidget* m_sandboxes = nullptr;
    QWidget* m_outlineBox = nullptr;
    QWidget* m_room = nullptr;
    QListWidget* m_outline = nullptr;
    QTimer m_soon;
    QTimer m_sectionsSoon;
    QString m_wanted;
};

} // namespace gb::ui
