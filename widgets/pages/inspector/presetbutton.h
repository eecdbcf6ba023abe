// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <functional>

#include <QPushButton>

#include <backend/api/client.h>

class QAction;
class QMenu;

namespace gb::ui {

// The arguments a person keeps for the shown function: loaded, saved, renamed and deleted from one menu. They
// are files of the experiment, so others may have changed them; the list is asked when the menu opens.
class PresetButton final : public QPushButton
{
    Q_OBJECT

public:
    using Arguments = std::function<Result<Json>()>;

    // `arguments` gives what is typed at this moment.
    PresetButton(api::Client& client, Arguments arguments, QWidget* parent = nullptr);

    void setFunction(const std::string& interface, const std::string& function);
    QAction* openAction() const { return m_open; }
    QAction* saveAction() const { return m_save; }
    // Brings a deleted one back.
    void restore(const QString& name, const Json& arguments);

Q_SIGNALS:
    void chosen(const QString& name, const gb::Json& arguments);
    void refused(const QString& what, const gb::Error& error);
    void deleted(const QString& name, const gb::Json& arguments); // as it was

private:
    void ask();
    void askName();
    void save(const QString& name, bool replace);
    void fillMenu();
    void change(
        const std::string& method, Json params, const QString& failure, std::function<void()> done = {});
    void rename(const QString& name);

    api::Client& m_client;
    Arguments m_arguments;
    std::string m_interface;
    std::string m_function;
    Json m_presets = Json::array();
    QString m_current; // loaded or saved last
    QMenu* m_menu = nullptr;
    QAction* m_open = nullptr;
    QAction* m_save = nullptr;
};

} // namespace gb::ui
