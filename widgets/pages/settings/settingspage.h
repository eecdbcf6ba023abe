// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <memory>

#include <backend/api/client.h>
#include <widgets/controls/page.h>

class QBoxLayout;
class QVBoxLayout;

namespace gb::ui {

class Banner;
class FilterField;
class KeyValueList;
class SecretsCard;
class MachineFindings;
struct Look;
enum class Scheme;

// Appearance (the window's own), then everything the daemon's settings say, by section. Every change holds at
// once and every row can go back to its default.
class SettingsPage final : public Page
{
    Q_OBJECT

public:
    SettingsPage(api::Client& client, std::shared_ptr<MachineFindings> findings, QWidget* parent = nullptr);

    QList<QAction*> pageActions() override;
    void refresh() override;
    void find() override;
    bool settled() const override;

protected:
    void resizeEvent(QResizeEvent* event) override;

private:
    void createAppearance(QVBoxLayout* layout);
    void createAbout(QVBoxLayout* layout);
    void addChoice(QVBoxLayout* layout, const QString& title, const QString& help, const QStringList& names,
        int current, std::function<void(Look&, int)> set);
    void showSettings(const Json& settings);
    void createSecrets(QVBoxLayout* layout);
    void addLanguage(QVBoxLayout* layout);
    void createFound(QVBoxLayout* layout);
    void showFound();
    void showDaemon();
    void change(const std::string& key, const Json& value);
    void storeScheme(Scheme scheme);
    void applyFilter(const QString& filter);

    api::Client& m_client;
    std::shared_ptr<MachineFindings> m_findings;
    Banner* m_banner = nullptr;
    FilterField* m_filter = nullptr;
    QBoxLayout* m_columns = nullptr;
    QVBoxLayout* m_sections = nullptr;
    KeyValueList* m_daemon = nullptr;
    KeyValueList* m_found = nullptr;
    SecretsCard* m_secrets = nullptr;
    QList<QAction*> m_actions;
    QList<QPair<QString, QWidget*>> m_filtered; // words of a row, the row
    bool m_settled = false;
};

} // namespace gb::ui
