// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <QFrame>

#include <backend/api/client.h>

class QLineEdit;
class QVBoxLayout;

namespace gb::ui {

// Tokens and keys: which are set, where each lies, a field to set one. What is typed goes to the service and
// never comes back.
class SecretsCard final : public QFrame
{
    Q_OBJECT

public:
    explicit SecretsCard(api::Client& client, QWidget* parent = nullptr);

    void refresh();

Q_SIGNALS:
    void refused(const QString& what, const gb::Error& error);
    void shown(); // the rows are other ones now

private:
    void show(const Json& listing);
    void addRow(const QString& name, const Json* secret, const QString& file);
    QWidget* createAdder();
    void set(const QString& name, QLineEdit* field);
    void clear(const QString& name);

    api::Client& m_client;
    QVBoxLayout* m_rows = nullptr;
    QLineEdit* m_newName = nullptr;
    QStringList m_added; // named by the person, not set yet
};

} // namespace gb::ui
