// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <QFrame>

#include <backend/api/examplestart.h>

class QPushButton;

namespace gb::ui {

class Banner;
class ProgressRow;

// An example and the one click that makes an experiment of it, starts its sandbox and serves it there. What
// goes on and what went wrong stands in the card.
class ExampleCard final : public QFrame
{
    Q_OBJECT

public:
    ExampleCard(api::Client& client, QString name, Json about, QWidget* parent = nullptr);

    void start();
    bool isBusy() const;
    // What went wrong, and the ways out. A page may give it a place with more room.
    Banner* banner() const { return m_banner; }
    // To be copied into a terminal, whatever the folder is called.
    static QString serveCommand(const QString& folder);

Q_SIGNALS:
    // There is an experiment now, whatever comes of the rest.
    void made(const QString& folder);
    // Its functions can be called; `place` is the first one to try.
    void served(const QString& place);
    void pageRequested(const QString& page, const QString& place);

private:
    QWidget* createFoot();
    void showStep(const Json& step);
    void end();
    void showFailure(const Error& error);
    void serveWithoutSandbox();
    void choosePython();
    void chooseModel();
    void setBusy(bool busy);
    QString firstFunction(const std::string& interface) const;

    api::Client& m_client;
    QString m_name;
    Json m_about;
    QString m_interpreter; // chosen after the first one did not do
    Json m_model; // {name, path}; null: from the cache
    QString m_folder;
    api::ExampleStart* m_example = nullptr;
    QPushButton* m_start = nullptr;
    ProgressRow* m_progress = nullptr;
    Banner* m_banner = nullptr;
};

} // namespace gb::ui
