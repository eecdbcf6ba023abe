// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

#include "settingspage.h"

#include <map>

#include <QCheckBox>
#include <QComboBox>
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

#include "settingrow.h"

namespace gb::ui {
namespace {

constexpr int settingsColumnWidth = 760;

void changeLook(const std::function<void(Look&)>& change)
{
    auto look = Theme::instance().look();
    change(look);
    rememberLook(look);
    Theme::instance().apply(look);
}

} // namespace

SettingsPage::SettingsPage(api::Client& client, QWidget* parent)
    : Page(QStringLiteral("settings"), tr("Settings"), QStringLiteral("settings"), parent), m_client(client)
{
    auto* column = new QWidget;
    column->setMaximumWidth(settingsColumnWidth);
    auto* inside = new QVBoxLayout(column);
    inside->setContentsMargins(space::xl, space::l, space::xl, space::xl);
    inside->setSpacing(space::s);
    auto* bar = new PageBar(tr("Settings"));
    m_filter = new FilterField(tr("Filter settings"));
    bar->addWidget(m_filter, 1);
    inside->addWidget(bar);
    m_banner = new Banner(column);
    inside->addWidget(m_banner);
    createAppearance(inside);
    m_sections = new QVBoxLayout;
    m_sections->setSpacing(space::s);
    inside->addLayout(m_sections);
    createAbout(inside);
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

QList<QAction*> SettingsPage::pageActions()
{
    if (!m_actions.isEmpty())
        return m_actions;
    const QList<QPair<QString, Scheme>> schemes = {{tr("Light theme"), Scheme::Light},
        {tr("Dark theme"), Scheme::Dark}, {tr("Theme of the system"), Scheme::System}};
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
    layout->addWidget(makeLabel(tr("Appearance"), TextRole::Heading));
    auto* card = makeFrame(FrameKind::Card);
    auto* rows = new QVBoxLayout(card);
    rows->setContentsMargins(space::l, space::xs, space::l, space::xs);
    rows->setSpacing(0);
    addChoice(rows, tr("Theme"), tr("System follows the desktop."), {tr("System"), tr("Light"), tr("Dark")},
        static_cast<int>(look.scheme), [this](Look& l, int i) {
            l.scheme = static_cast<Scheme>(i);
            storeScheme(l.scheme);
        });
    addChoice(rows, tr("Accent colour"), tr("Of the primary action, the selection and the focus."),
        {tr("Teal"), tr("Blue"), tr("Violet")}, static_cast<int>(look.accent),
        [](Look& l, int i) { l.accent = static_cast<Accent>(i); });
    static constexpr int percents[] = {90, 100, 110, 125, 150};
    QStringList sizes;
    int current = 1;
    for (const auto percent : percents) {
        if (percent == look.fontPercent)
            current = static_cast<int>(sizes.size());
        sizes += tr("%1 %").arg(percent);
    }
    addChoice(rows, tr("Font size"), {}, sizes, current, [](Look& l, int i) { l.fontPercent = percents[i]; });
    addChoice(rows, tr("Density"), tr("Dense tables show more rows."), {tr("Comfortable"), tr("Dense")},
        static_cast<int>(look.density), [](Look& l, int i) { l.density = static_cast<Density>(i); });
    auto* still = new SettingRow(tr("Reduced motion"), tr("No fades."));
    auto* box = new QCheckBox;
    box->setChecked(look.reducedMotion);
    connect(
        box, &QCheckBox::clicked, this, [](bool on) { changeLook([on](Look& l) { l.reducedMotion = on; }); });
    still->setField(box);
    rows->addWidget(still);
    m_filtered.append({tr("Reduced motion"), still});
    layout->addWidget(card);
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
    layout->addWidget(makeLabel(tr("Background service"), TextRole::Heading));
    auto* card = makeFrame(FrameKind::Card);
    auto* inside = new QVBoxLayout(card);
    inside->setContentsMargins(space::l, space::m, space::l, space::m);
    m_daemon = new KeyValueList;
    inside->addWidget(m_daemon);
    layout->addWidget(card);
    showDaemon();
}

void SettingsPage::showDaemon()
{
    const auto& info = m_client.daemonInfo();
    if (!info.is_object() || m_client.state() != api::Client::State::Connected) {
        m_daemon->setRows({{tr("State"), tr("not connected")}});
        return;
    }
    m_daemon->setRows({{tr("Version"), textField(info, "version")},
        {tr("Process"), QString::number(integerOr(info, "pid")), true},
        {tr("Data folder"), textField(info, "data_folder"), true},
        {tr("Started"), exactTimeText(timeField(info, "started_at"))}});
}

void SettingsPage::refresh()
{
    showDaemon();
    m_client.call(this, "settings.list", Json::object(), [this](Result<api::Answer> answer) {
        m_settled = true;
        if (!answer) {
            m_banner->showError(tr("The settings did not come"), answer.error());
            m_banner->addAction(tr("Try again"), [this] { refresh(); });
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
    const std::map<std::string, QString> titles = {{"daemon", tr("Service")}, {"retention", tr("Retention")},
        {"hub", tr("Model hub")}, {"models", tr("Models")}, {"sandbox", tr("Sandboxes")},
        {"agents", tr("Agents")}};
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
            m_sections->addSpacing(space::l);
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
            m_banner->showError(tr("This was not changed"), answer.error());
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
