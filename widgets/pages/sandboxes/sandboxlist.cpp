// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

#include "sandboxlist.h"

#include <QListWidget>
#include <QVBoxLayout>

#include <widgets/controls/icons.h>
#include <widgets/controls/labels.h>
#include <widgets/controls/numbers.h>
#include <widgets/controls/statepill.h>
#include <widgets/controls/theme.h>
#include <widgets/forms/draftform.h>
#include <widgets/itemmodels/fields.h>

#include "text.h"

namespace gb::ui {
namespace {

constexpr int sideIcon = 16;

QListWidget* makeSideList(const QString& name)
{
    auto* list = new QListWidget;
    list->setAccessibleName(name);
    list->setFrameShape(QFrame::NoFrame);
    list->setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
    list->setTextElideMode(Qt::ElideRight);
    list->setUniformItemSizes(true);
    list->setIconSize({sideIcon, sideIcon});
    return list;
}

} // namespace

SandboxList::SandboxList(api::Client& client, DraftForm& form, QWidget* parent)
    : QWidget(parent), m_client(client), m_form(form)
{
    setProperty("gbSide", true);
    setAttribute(Qt::WA_StyledBackground);
    m_sandboxes = makeSideList(SandboxText::tr("Sandboxes"));
    m_sandboxes->setMinimumHeight(1); // a list by itself is never less than four lines tall
    m_outline = makeSideList(SandboxText::tr("Sections of the form"));
    m_outlineBox = new QWidget;
    auto* below = new QVBoxLayout(m_outlineBox);
    below->setContentsMargins(0, 0, 0, 0);
    below->setSpacing(space::xs);
    below->addWidget(makeLabel(SandboxText::tr("SECTIONS"), TextRole::Section));
    below->addWidget(m_outline, 1);
    auto* layout = new QVBoxLayout(this);
    layout->setContentsMargins(space::m, space::l, space::s, space::m);
    layout->setSpacing(space::xs);
    layout->addWidget(makeLabel(SandboxText::tr("SANDBOXES"), TextRole::Section));
    layout->addWidget(m_sandboxes, 1);
    layout->addSpacing(space::l);
    layout->addWidget(m_outlineBox, 2);
    m_room = new QWidget;
    layout->addWidget(m_room, 2);
    m_soon.setSingleShot(true);
    m_soon.setInterval(0);
    m_sectionsSoon.setSingleShot(true);
    m_sectionsSoon.setInterval(0);
    connect(&m_soon, &QTimer::timeout, this, &SandboxList::showSandboxes);
    connect(&m_sectionsSoon, &QTimer::timeout, this, &SandboxList::showSections);
    connect(&m_client, &api::Client::stateChanged, this, [this](const QString& topic) {
        if (topic == QLatin1String("sandboxes"))
            m_soon.start();
    });
    connect(&m_form, &DraftForm::sectionsChanged, &m_sectionsSoon, qOverload<>(&QTimer::start));
    connect(&m_form, &DraftForm::sectionReached, this, [this](int index) {
        const QSignalBlocker quiet(m_outline);
        m_outline->setCurrentRow(index);
    });
    connect(m_outline, &QListWidget::currentRowChanged, &m_form, &DraftForm::showSection);
    connect(m_outline, &QListWidget::itemClicked, this,
        [this](QListWidgetItem* item) { m_form.showSection(m_outline->row(item)); });
    connect(m_outline, &QListWidget::itemActivated, this,
        [this](QListWidgetItem* item) { m_form.enterSection(m_outline->row(item)); });
    connect(m_sandboxes, &QListWidget::currentItemChanged, this, [this](const QListWidgetItem* item) {
        if (!item)
            return;
        m_wanted = item->data(Qt::UserRole).toString();
        Q_EMIT sandboxChosen(m_wanted);
    });
    // The icons have the colours of the theme.
    connect(&Theme::instance(), &Theme::changed, &m_soon, qOverload<>(&QTimer::start));
    connect(&Theme::instance(), &Theme::changed, &m_sectionsSoon, qOverload<>(&QTimer::start));
    showOutline(true);
    showSandboxes();
    showSections();
}

void SandboxList::showOutline(bool shown)
{
    m_outlineBox->setVisible(shown);
    m_room->setVisible(!shown);
}

QString SandboxList::chosen() const
{
    return m_wanted;
}

void SandboxList::choose(const QString& sandbox)
{
    m_wanted = sandbox;
    showSandboxes();
    if (m_wanted == sandbox)
        Q_EMIT sandboxChosen(sandbox);
}

void SandboxList::showSandboxes()
{
    std::vector<Json> items;
    const auto& topic = m_client.items("sandboxes");
    if (topic.is_object())
        for (const auto& item : topic)
            items.push_back(item);
    std::ranges::stable_sort(items,
        [](const Json& a, const Json& b) { return timeField(a, "created_at") > timeField(b, "created_at"); });
    const QSignalBlocker quiet(m_sandboxes);
    m_sandboxes->clear();
    auto* fresh =
        new QListWidgetItem(icon(QStringLiteral("plus")), SandboxText::tr("New sandbox"), m_sandboxes);
    fresh->setData(Qt::UserRole, QString());
    m_sandboxes->setCurrentItem(fresh);
    bool found = m_wanted.isEmpty();
    for (const auto& item : items) {
        const auto state = textField(item, "state");
        auto name = textField(item, "name");
        if (name.isEmpty())
            name = textField(item, "id").left(8);
        auto* row = new QListWidgetItem(
            icon(QStringLiteral("sandbox"), toneColor(tokens(), StatePill::toneOf(state))),
            SandboxText::tr("%1 · %2").arg(name, state), m_sandboxes);
        row->setData(Qt::UserRole, textField(item, "id"));
        const auto cost = numberOr(objectOr(item, "cost"), "total");
        row->setToolTip(
            (cost > 0 ? SandboxText::tr("%1 · %2, %3").arg(name, state, moneyText(cost)) : row->text())
                .toHtmlEscaped());
        if (textField(item, "id") == m_wanted) {
            m_sandboxes->setCurrentItem(row);
            found = true;
        }
    }
    // As tall as there are sandboxes, while there is room.
    m_sandboxes->ensurePolished();
    m_sandboxes->setMaximumHeight(
        m_sandboxes->count() * m_sandboxes->sizeHintForRow(0) + 2 * m_sandboxes->frameWidth());
    if (!found) {
        m_wanted.clear();
        Q_EMIT sandboxChosen({});
    }
}

void SandboxList::showSections()
{
    const auto sections = m_form.sections();
    const QSignalBlocker quiet(m_outline);
    QPixmap empty(sideIcon, sideIcon);
    empty.fill(Qt::transparent);
    while (m_outline->count() < sections.size())
        new QListWidgetItem(m_outline);
    for (int i = 0; i < sections.size(); ++i) {
        auto* item = m_outline->item(i);
        const auto& section = sections[i];
        item->setText(section.title + (section.changed > 0 ? QStringLiteral("  •") : QString()));
        // An empty icon keeps the names in line.
        item->setIcon(section.errors > 0 ? icon(QStringLiteral("error"), tokens().error) : QIcon(empty));
        item->setHidden(!section.shown);
        if (m_outline->currentRow() < 0)
            m_outline->setCurrentRow(0);
        item->setToolTip(
            section.errors > 0 ? SandboxText::tr("%n error(s)", nullptr, section.errors) : QString());
    }
}

} // namespace gb::ui
