// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

#include "settingspage.h"

#include <map>
#include <set>

#include <QCheckBox>
#include <QComboBox>
#include <QLocale>
#include <QRegularExpression>
#include <QScrollArea>
#include <QVBoxLayout>

#include <widgets/controls/banner.h>
#include <widgets/controls/filterfield.h>
#include <widgets/controls/frames.h>
#include <widgets/controls/keyvaluelist.h>
#include <widgets/controls/labels.h>
#include <widgets/controls/lookstore.h>
#include <widgets/controls/numbers.h>
#include <widgets/controls/pagebar.h>
#include <widgets/controls/theme.h>
#include <widgets/itemmodels/fields.h>
#include <widgets/itemmodels/machinefindings.h>

#include "secretscard.h"
#include "settingrow.h"
#include "text.h"

namespace gb::ui {
namespace {

constexpr int settingsTwoColumns = 1120; // pixels of the page from which there are two
constexpr int settingsColumnWidth = 760;

void changeLook(const std::function<void(Look&)>& change)
{
    auto look = Theme::instance().look();
    change(look);
    rememberLook(look);
    Theme::instance().apply(look);
}

// Whether the provider of sandboxes on this machine has what it needs.
QString localProvider(const Json& checks)
{
    static const std::set<std::string> needed = {"user_namespaces", "overlay", "bubblewrap", "image_builder"};
    for (const auto& check : checks)
        if (needed.contains(stringOr(check, "id")) && stringOr(check, "state") == "failed")
            return SettingsText::tr("cannot be started: %1").arg(textField(check, "meaning"));
    return SettingsText::tr("can be started");
}

// "3.11.2 (/usr/bin/python3), 3.12.1 (…)", the key store and agent programs, as the doctor says it.
QList<KeyValueList::Row> foundRows(const Json& checks)
{
    QList<KeyValueList::Row> rows = {{SettingsText::tr("Local sandboxes"), localProvider(checks)}};
    for (const auto& check : checks) {
        const auto id = stringOr(check, "id");
        const auto detail = textField(check, "detail");
        if (id == "keyring" || id == "agents")
            rows.append({textField(check, "title"), detail.isEmpty() ? textField(check, "meaning") : detail});
        if (id != "pythons")
            continue;
        static const QRegularExpression python(QStringLiteral("([0-9.]+) \\(([^)]+)\\)"));
        auto matches = python.globalMatch(detail);
        if (!matches.hasNext())
            rows.append({textField(check, "title"), textField(check, "meaning")});
        while (matches.hasNext()) {
            const auto match = matches.next();
            rows.append({SettingsText::tr("Python %1").arg(match.captured(1)), match.captured(2), true});
        }
    }
    return rows;
}

} // namespace

SettingsPage::SettingsPage(api::Client& client, std::shared_ptr<MachineFindings> findings, QWidget* parent)
    : Page(QStringLiteral("settings"), SettingsText::tr("Settings"), QStringLiteral("settings"), parent),
      m_client(client), m_findings(std::move(findings))
{
    auto* bar = new PageBar(SettingsText::tr("Settings"));
    m_filter = new FilterField(SettingsText::tr("Filter settings"));
    bar->addWidget(m_filter, 1);
    m_banner = new Banner;
    auto* first = new QVBoxLayout;
    first->setSpacing(space::s);
    createAppearance(first);
    createSecrets(first);
    createFound(first);
    createAbout(first);
    first->addStretch(1);
    auto* second = new QVBoxLayout;
    second->setSpacing(space::s);
    m_sections = new QVBoxLayout;
    m_sections->setSpacing(space::s);
    second->addLayout(m_sections);
    second->addStretch(1);
    m_columns = new QBoxLayout(QBoxLayout::TopToBottom);
    m_columns->setSpacing(space::xl);
    m_columns->addLayout(first, 1);
    m_columns->addLayout(second, 1);

    auto* column = new QWidget;
    auto* inside = new QVBoxLayout(column);
    inside->setContentsMargins(space::xl, space::l, space::xl, space::xl);
    inside->setSpacing(space::s);
    inside->addWidget(bar);
    inside->addWidget(m_banner);
    inside->addLayout(m_columns);
    inside->addStretch(1);
    auto* content = new QWidget;
    auto* centre = new QHBoxLayout(content);
    centre->setContentsMargins(0, 0, 0, 0);
    centre->addWidget(column, 1);
    centre->addStretch();
    auto* layout = new QVBoxLayout(this);
    layout->setContentsMargins(0, 0, 0, 0);
    layout->addWidget(makeScroll(content));

    connect(m_filter, &FilterField::filterChanged, this, &SettingsPage::applyFilter);
    connect(&m_client, &api::Client::connected, this, &SettingsPage::refresh);
    if (m_client.state() == api::Client::State::Connected)
        refresh();
}

void SettingsPage::resizeEvent(QResizeEvent* event)
{
    Page::resizeEvent(event);
    const bool two = width() >= settingsTwoColumns;
    m_columns->setDirection(two ? QBoxLayout::LeftToRight : QBoxLayout::TopToBottom);
    m_columns->parentWidget()->setMaximumWidth(two ? 2 * settingsColumnWidth : settingsColumnWidth);
}

QList<QAction*> SettingsPage::pageActions()
{
    if (!m_actions.isEmpty())
        return m_actions;
    const QList<QPair<QString, Scheme>> schemes = {{SettingsText::tr("Light theme"), Scheme::Light},
        {SettingsText::tr("Dark theme"), Scheme::Dark},
        {SettingsText::tr("Theme of the system"), Scheme::System}};
    for (const auto& [text, scheme] : schemes) {
        auto* action = new QAction(text, this);
        connect(action, &QAction::triggered, this, [this, scheme = scheme] {
            changeLook([scheme](Look& look) { look.scheme = scheme; });
            storeScheme(scheme);
        });
        m_actions += action;
    }
    return m_actions;
}

void SettingsPage::createAppearance(QVBoxLayout* layout)
{
    const auto look = Theme::instance().look();
    layout->addSpacing(space::s);
    layout->addWidget(makeLabel(SettingsText::tr("Appearance"), TextRole::Heading));
    auto* card = makeFrame(FrameKind::Card);
    auto* rows = new QVBoxLayout(card);
    rows->setContentsMargins(space::l, space::xs, space::l, space::xs);
    rows->setSpacing(0);
    addChoice(rows, SettingsText::tr("Theme"), SettingsText::tr("System follows the desktop."),
        {SettingsText::tr("System"), SettingsText::tr("Light"), SettingsText::tr("Dark")},
        static_cast<int>(look.scheme), [this](Look& l, int i) {
            l.scheme = static_cast<Scheme>(i);
            storeScheme(l.scheme);
        });
    addChoice(rows, SettingsText::tr("Accent colour"),
        SettingsText::tr("Of the primary action, the selection and the focus."),
        {SettingsText::tr("Teal"), SettingsText::tr("Blue"), SettingsText::tr("Violet")},
        static_cast<int>(look.accent), [](Look& l, int i) { l.accent = static_cast<Accent>(i); });
    static constexpr int percents[] = {90, 100, 110, 125, 150};
    QStringList sizes;
    int current = 1;
    for (const auto percent : percents) {
        if (percent == look.fontPercent)
            current = static_cast<int>(sizes.size());
        sizes += SettingsText::tr("%1 %").arg(percent);
    }
    addChoice(rows, SettingsText::tr("Font size"), {}, sizes, current,
        [](Look& l, int i) { l.fontPercent = percents[i]; });
    addChoice(rows, SettingsText::tr("Density"), SettingsText::tr("Dense tables show more rows."),
        {SettingsText::tr("Comfortable"), SettingsText::tr("Dense")}, static_cast<int>(look.density),
        [](Look& l, int i) { l.density = static_cast<Density>(i); });
    auto* still = new SettingRow(SettingsText::tr("Reduced motion"), SettingsText::tr("No fades."));
    auto* box = new QCheckBox;
    box->setChecked(look.reducedMotion);
    connect(
        box, &QCheckBox::clicked, this, [](bool on) { changeLook([on](Look& l) { l.reducedMotion = on; }); });
    still->setField(box);
    rows->addWidget(still);
    rows->addWidget(makeLine());
    addLanguage(rows);
    m_filtered.append({SettingsText::tr("Reduced motion"), still});
    layout->addWidget(card);
}

void SettingsPage::addLanguage(QVBoxLayout* layout)
{
    auto* row = new SettingRow(
        SettingsText::tr("Language"), SettingsText::tr("Holds when the window is opened next."));
    auto* combo = new QComboBox;
    combo->setObjectName(QStringLiteral("language"));
    combo->addItem(SettingsText::tr("As the system says"), QString());
    for (const auto& name : translatedLanguages()) {
        auto own = QLocale(name).nativeLanguageName();
        own.replace(0, 1, own.left(1).toUpper());
        combo->addItem(own, name);
    }
    combo->setCurrentIndex(qMax(0, combo->findData(rememberedLanguage())));
    connect(
        combo, &QComboBox::activated, this, [combo] { rememberLanguage(combo->currentData().toString()); });
    row->setField(combo);
    layout->addWidget(row);
    m_filtered.append({SettingsText::tr("Language"), row});
}

void SettingsPage::createSecrets(QVBoxLayout* layout)
{
    layout->addSpacing(space::l);
    layout->addWidget(makeLabel(SettingsText::tr("Tokens and keys"), TextRole::Heading));
    m_secrets = new SecretsCard(m_client);
    connect(m_secrets, &SecretsCard::refused, this,
        [this](const QString& what, const Error& error) { m_banner->showError(what, error); });
    layout->addWidget(m_secrets);
    m_filtered.append({SettingsText::tr("Tokens and keys secrets"), m_secrets});
}

void SettingsPage::addChoice(QVBoxLayout* layout, const QString& title, const QString& help,
    const QStringList& names, int current, std::function<void(Look&, int)> set)
{
    auto* row = new SettingRow(title, help);
    auto* combo = new QComboBox;
    combo->addItems(names);
    combo->setCurrentIndex(current);
    connect(combo, &QComboBox::activated, this,
        [set = std::move(set)](int index) { changeLook([&](Look& look) { set(look, index); }); });
    row->setField(combo);
    layout->addWidget(row);
    layout->addWidget(makeLine());
    m_filtered.append({title + QLatin1Char(' ') + help, row});
}

void SettingsPage::createAbout(QVBoxLayout* layout)
{
    layout->addSpacing(space::l);
    layout->addWidget(makeLabel(SettingsText::tr("Background service"), TextRole::Heading));
    auto* card = makeFrame(FrameKind::Card);
    auto* inside = new QVBoxLayout(card);
    inside->setContentsMargins(space::l, space::m, space::l, space::m);
    m_daemon = new KeyValueList;
    inside->addWidget(m_daemon);
    layout->addWidget(card);
    showDaemon();
}

void SettingsPage::createFound(QVBoxLayout* layout)
{
    layout->addSpacing(space::l);
    layout->addWidget(makeLabel(SettingsText::tr("Found on this machine"), TextRole::Heading));
    auto* card = makeFrame(FrameKind::Card);
    auto* inside = new QVBoxLayout(card);
    inside->setContentsMargins(space::l, space::m, space::l, space::m);
    m_found = new KeyValueList;
    m_found->setRows({{SettingsText::tr("Pythons"), SettingsText::tr("looking…")}});
    inside->addWidget(m_found);
    layout->addWidget(card);
    connect(m_findings.get(), &MachineFindings::changed, this, &SettingsPage::showFound);
    showFound();
}

bool SettingsPage::settled() const
{
    return m_settled && m_findings->settled();
}

void SettingsPage::showFound()
{
    if (m_findings->checks().is_array())
        m_found->setRows(foundRows(m_findings->checks()));
}

void SettingsPage::showDaemon()
{
    const auto& info = m_client.daemonInfo();
    if (!info.is_object() || m_client.state() != api::Client::State::Connected) {
        m_daemon->setRows({{SettingsText::tr("State"), SettingsText::tr("not connected")}});
        return;
    }
    m_daemon->setRows({{SettingsText::tr("Version"), textField(info, "version")},
        {SettingsText::tr("Process"), QString::number(integerOr(info, "pid")), true},
        {SettingsText::tr("Data folder"), textField(info, "data_folder"), true},
        {SettingsText::tr("Started"), exactTimeText(timeField(info, "started_at"))}});
}

void SettingsPage::refresh()
{
    showDaemon();
    m_findings->look();
    m_secrets->refresh();
    m_client.call(this, "settings.list", Json::object(), [this](Result<api::Answer> answer) {
        m_settled = true;
        if (!answer) {
            m_banner->showError(SettingsText::tr("The settings did not come"), answer.error());
            m_banner->addAction(SettingsText::tr("Try again"), [this] { refresh(); });
            return;
        }
        m_banner->dismiss();
        const auto found = answer->body.find("settings");
        if (found != answer->body.end() && found->is_array())
            showSettings(*found);
    });
}

void SettingsPage::showSettings(const Json& settings)
{
    m_filtered.removeIf([](const auto& entry) { return entry.second->property("gbFromDaemon").toBool(); });
    clearLayout(m_sections);
    const std::map<std::string, QString> titles = {{"daemon", SettingsText::tr("Service")},
        {"retention", SettingsText::tr("Retention")}, {"hub", SettingsText::tr("Model hub")},
        {"models", SettingsText::tr("Models")}, {"sandbox", SettingsText::tr("Sandboxes")},
        {"agents", SettingsText::tr("Agents")}, {"secrets", SettingsText::tr("Key store")}};
    std::string section;
    QVBoxLayout* rows = nullptr;
    for (const auto& setting : settings) {
        const auto key = stringOr(setting, "key");
        const auto first = key.substr(0, key.find('.'));
        // The window's own look stands in Appearance.
        if (first == "window" || key.empty())
            continue;
        if (first != section) {
            section = first;
            const auto title = titles.find(first);
            m_sections->addSpacing(m_sections->count() == 0 ? space::s : space::l);
            m_sections->addWidget(makeLabel(
                title == titles.end() ? QString::fromStdString(first) : title->second, TextRole::Heading));
            auto* card = makeFrame(FrameKind::Card);
            rows = new QVBoxLayout(card);
            rows->setContentsMargins(space::l, space::xs, space::l, space::xs);
            rows->setSpacing(0);
            m_sections->addWidget(card);
        } else {
            rows->addWidget(makeLine());
        }
        auto* row = SettingRow::fromSetting(setting);
        row->setProperty("gbFromDaemon", true);
        connect(row, &SettingRow::changed, this, [this, key](const Json& value) { change(key, value); });
        rows->addWidget(row);
        m_filtered.append(
            {QString::fromStdString(key) + QLatin1Char(' ') + textField(setting, "description"), row});
    }
    applyFilter(m_filter->text());
}

void SettingsPage::change(const std::string& key, const Json& value)
{
    m_client.call(this, "settings.set", {{"key", key}, {"value", value}}, [this](Result<api::Answer> answer) {
        if (!answer)
            m_banner->showError(SettingsText::tr("This was not changed"), answer.error());
        else
            refresh();
    });
}

void SettingsPage::storeScheme(Scheme scheme)
{
    change("window.theme", scheme == Scheme::Dark ? "dark" : scheme == Scheme::Light ? "light" : "system");
}

void SettingsPage::find()
{
    m_filter->setFocus();
    m_filter->selectAll();
}

void SettingsPage::applyFilter(const QString& filter)
{
    for (const auto& [words, row] : m_filtered)
        row->setVisible(words.contains(filter, Qt::CaseInsensitive));
}

} // namespace gb::ui
