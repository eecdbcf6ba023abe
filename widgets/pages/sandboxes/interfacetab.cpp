// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

#include "interfacetab.h"

#include <QApplication>
#include <QCheckBox>
#include <QFileDialog>
#include <QHBoxLayout>
#include <QLineEdit>
#include <QPushButton>

#include <widgets/controls/banner.h>
#include <widgets/controls/buttons.h>
#include <widgets/controls/errortext.h>
#include <widgets/controls/frames.h>
#include <widgets/controls/labels.h>
#include <widgets/controls/statepill.h>
#include <widgets/itemmodels/fields.h>

#include "text.h"

namespace gb::ui {

InterfaceTab::InterfaceTab(api::Client& client, QWidget* parent) : SandboxTab(client, parent)
{
    m_banner = new Banner;
    m_path = new QLineEdit;
    m_path->setPlaceholderText(SandboxText::tr("the path of interface.py on this machine"));
    m_path->setAccessibleName(SandboxText::tr("Interface file"));
    auto* browse = makeButton(SandboxText::tr("Browse…"), ButtonKind::Normal, QStringLiteral("file"));
    m_watch = new QCheckBox(SandboxText::tr("Reload when it is saved"));
    m_watch->setChecked(true);
    m_serve = makeButton(SandboxText::tr("Serve"), ButtonKind::Primary, QStringLiteral("play"));
    auto* line = new QHBoxLayout;
    line->setSpacing(space::s);
    line->addWidget(m_path, 1);
    line->addWidget(browse);
    line->addWidget(m_watch);
    line->addWidget(m_serve);
    m_rows = new QVBoxLayout;
    m_rows->setSpacing(space::s);
    auto* layout = new QVBoxLayout(this);
    layout->setContentsMargins(space::l, space::l, space::l, space::l);
    layout->setSpacing(space::m);
    layout->addWidget(
        makeLabel(SandboxText::tr("Serve an interface file in this sandbox"), TextRole::Strong));
    layout->addLayout(line);
    layout->addWidget(m_banner);
    layout->addLayout(m_rows);
    layout->addStretch(1);
    setFocusProxy(m_path);
    m_soon.setSingleShot(true);
    m_soon.setInterval(0);
    connect(&m_soon, &QTimer::timeout, this, &InterfaceTab::showInterfaces);
    connect(browse, &QPushButton::clicked, this, [this] {
        const auto file = QFileDialog::getOpenFileName(
            this, SandboxText::tr("An interface file"), m_folder, SandboxText::tr("Python files (*.py)"));
        if (!file.isEmpty())
            m_path->setText(file);
    });
    connect(m_serve, &QPushButton::clicked, this, &InterfaceTab::serve);
    connect(m_path, &QLineEdit::returnPressed, this, &InterfaceTab::serve);
    connect(&m_client, &api::Client::stateChanged, this, [this](const QString& topic) {
        if (topic == QLatin1String("interfaces"))
            m_soon.start();
    });
}

void InterfaceTab::setFolder(const QString& folder)
{
    m_folder = folder;
    if (!folder.isEmpty())
        m_path->setText(folder + QStringLiteral("/interface.py"));
}

void InterfaceTab::changed(bool other)
{
    if (other)
        m_banner->dismiss();
    m_serve->setEnabled(m_ready);
    m_path->setEnabled(m_ready);
    showInterfaces();
}

void InterfaceTab::serve()
{
    const auto path = m_path->text().trimmed();
    if (path.isEmpty() || !m_ready || m_serving)
        return;
    m_serving = true; // a button that is disabled would give the focus away
    m_banner->dismiss();
    const Json params{{"sandbox", m_sandbox}, {"interface", path.toStdString()},
        {"watch", m_watch->isChecked()}, {"wait", false}};
    m_client.call(this, "sandboxes.serve", params, [this, asked = m_sandbox](Result<api::Answer> answer) {
        m_serving = false;
        if (!answer && asked == m_sandbox)
            m_banner->showError(SandboxText::tr("It is not served"), answer.error());
    });
}

void InterfaceTab::act(const std::string& method, const std::string& interface, const QString& what)
{
    m_client.call(this, method, {{"interface", interface}}, [this, what](Result<api::Answer> answer) {
        if (!answer)
            m_banner->showError(what, answer.error());
    });
}

QWidget* InterfaceTab::makeRow(const Json& item)
{
    const auto id = stringOr(item, "id");
    auto* card = makeFrame(FrameKind::Card);
    auto* layout = new QHBoxLayout(card);
    layout->setContentsMargins(space::l, space::s, space::l, space::s);
    auto* names = new QVBoxLayout;
    names->setSpacing(0);
    names->addWidget(new ElidedLabel(textField(item, "name"), TextRole::Strong));
    const auto error = objectOr(item, "error");
    QStringList below;
    if (!error.empty())
        below += SandboxText::tr("not loaded");
    else if (stringOr(item, "state") != "loading") // which the pill says
        below += SandboxText::tr("%n function(s)", nullptr, static_cast<int>(integerOr(item, "functions")));
    below += textField(item, "source");
    names->addWidget(new ElidedLabel(below.join(QStringLiteral(" · ")), TextRole::Caption));
    if (!error.empty()) {
        auto* why = makeLabel(errorSentence(Error::fromJson(error)), TextRole::Error);
        why->setWordWrap(true);
        why->setTextInteractionFlags(Qt::TextSelectableByMouse);
        names->addWidget(why);
    }
    layout->addLayout(names, 1);
    auto* pill = new StatePill;
    const auto state = textField(item, "state");
    pill->setState(state, StatePill::toneOf(state), timeField(item, "started_at"));
    layout->addWidget(pill);
    auto* look = makeButton(SandboxText::tr("Open in the inspector"));
    connect(look, &QPushButton::clicked, this,
        [this] { Q_EMIT placeRequested(QStringLiteral("inspector"), {}); });
    layout->addWidget(look);
    auto* reload = makeButton(SandboxText::tr("Reload"), ButtonKind::Normal, QStringLiteral("refresh"));
    reload->setObjectName(QStringLiteral("reload-") + QString::fromStdString(id));
    connect(reload, &QPushButton::clicked, this,
        [this, id] { act("interfaces.reload", id, SandboxText::tr("It was not reloaded")); });
    layout->addWidget(reload);
    auto* stop = makeIconButton(QStringLiteral("stop"), SandboxText::tr("Stop serving"));
    connect(stop, &QToolButton::clicked, this,
        [this, id] { act("interfaces.stop", id, SandboxText::tr("It was not stopped")); });
    layout->addWidget(stop);
    return card;
}

void InterfaceTab::showInterfaces()
{
    // Who works with the keyboard stays on the button while what it did is shown.
    const auto* focus = QApplication::focusWidget();
    const auto focused = focus && isAncestorOf(focus) ? focus->objectName() : QString();
    clearLayout(m_rows);
    const auto& items = m_client.items("interfaces");
    if (m_sandbox.empty() || !items.is_object())
        return;
    for (const auto& item : items)
        if (stringOr(item, "sandbox") == m_sandbox && stringOr(item, "state") != "gone")
            m_rows->addWidget(makeRow(item));
    if (m_rows->count() == 0)
        m_rows->addWidget(
            makeLabel(SandboxText::tr("Nothing is served in this sandbox."), TextRole::Secondary));
    for (int i = 0; i < m_rows->count() && !focused.isEmpty(); ++i)
        if (auto* button = m_rows->itemAt(i)->widget()->findChild<QPushButton*>(focused)) {
            button->show();
            button->setFocus();
        }
}

} // namespace gb::ui
