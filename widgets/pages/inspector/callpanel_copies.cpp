// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

#include <QAction>
#include <QClipboard>
#include <QComboBox>
#include <QGuiApplication>
#include <QLabel>
#include <QPlainTextEdit>
#include <QTabWidget>
#include <QVBoxLayout>

#include <widgets/controls/errortext.h>
#include <widgets/controls/labels.h>
#include <widgets/controls/numbers.h>
#include <widgets/controls/theme.h>
#include <widgets/forms/argumentform.h>
#include <widgets/itemmodels/fields.h>

#include "callpanel.h"
#include "callrecords.h"
#include "text.h"

// The shown function seen from elsewhere: as a call of other programs, as an agent gets it, as numbers.
namespace gb::ui {
namespace {

Json itemOf(const api::Client& client, const std::string& interface)
{
    const auto& items = client.items("interfaces");
    return items.is_object() ? objectOr(items, interface) : Json::object();
}

} // namespace

void CallPanel::copyAs(CopyForm form)
{
    const auto arguments = m_form->arguments();
    if (!arguments)
        return;
    const auto interface = itemOf(m_client, m_interface);
    QString text;
    switch (form) {
    case CopyForm::Command:
        text = QStringLiteral("glovebox calls run %1 --kwargs %2")
                   .arg(QString::fromStdString(m_functionName), shellQuoted(compactJson(*arguments)));
        break;
    case CopyForm::Curl:
        text = curlCommand(interface, m_functionName, *arguments);
        break;
    case CopyForm::Python:
        text = pythonCall(stringOr(interface, "name"), m_functionName, *arguments);
        break;
    case CopyForm::Mcp:
        text = mcpCall(m_functionName, *arguments);
        break;
    }
    QGuiApplication::clipboard()->setText(text);
}

void CallPanel::askStatistics()
{
    const auto function = m_functionName;
    const Json params = {{"filter", "fn:" + function}, {"interface", m_interface}, {"limit", statisticsOver}};
    m_client.call(this, "calls.list", params, [this, function](Result<api::Answer> answer) {
        if (function != m_functionName)
            return;
        const auto text =
            answer ? callStatistics(answer->body.value("calls", Json::array()), function) : QString();
        // Its place is kept, or the first call would push the form down.
        m_statistics->setText(text.isEmpty() ? QStringLiteral(" ") : text);
        m_statistics->show();
    });
}

QWidget* CallPanel::createSeen()
{
    m_seenForm = new QComboBox;
    m_seenForm->setAccessibleName(InspectorText::tr("Form"));
    m_seenForm->addItem(InspectorText::tr("Library"), QStringLiteral("library"));
    m_seenForm->addItem(InspectorText::tr("MCP"), QStringLiteral("mcp"));
    m_seenForm->addItem(InspectorText::tr("Prompt"), QStringLiteral("prompt"));
    m_seenForm->addItem(InspectorText::tr("Skill"), QStringLiteral("skill"));
    m_seenTokens = makeLabel({}, TextRole::Caption);
    m_seen = new QPlainTextEdit;
    m_seen->setReadOnly(true);
    m_seen->setFont(Theme::instance().monospace());
    m_seen->setAccessibleName(InspectorText::tr("What the agent sees"));
    auto* line = new QHBoxLayout;
    line->setSpacing(space::m);
    line->addWidget(m_seenForm);
    line->addWidget(m_seenTokens);
    line->addStretch(1);
    auto* widget = new QWidget;
    auto* layout = new QVBoxLayout(widget);
    layout->setContentsMargins(0, space::s, 0, 0);
    layout->setSpacing(space::s);
    layout->addLayout(line);
    layout->addWidget(m_seen, 1);
    const auto show = [this, widget] {
        if (m_tabs->currentWidget() == widget)
            showSeen(m_seenForm->currentData().toString());
    };
    connect(m_seenForm, &QComboBox::currentIndexChanged, this, show);
    connect(m_tabs, &QTabWidget::currentChanged, this, show);
    return widget;
}

void CallPanel::showSeen(const QString& form)
{
    if (m_interface.empty())
        return;
    // A preview makes no token: looking is not giving access.
    const Json params = {{"interface", m_interface}, {"form", form.toStdString()}, {"preview", true}};
    m_client.call(this, "interfaces.expose", params, [this, form](Result<api::Answer> answer) {
        if (form != m_seenForm->currentData().toString())
            return;
        if (!answer) {
            m_seenTokens->clear();
            m_seen->setPlainText(errorSentence(answer.error()));
            return;
        }
        auto text = textField(answer->body, "text");
        for (const auto& file : answer->body.value("files", Json::array())) {
            if (!text.isEmpty())
                text += QStringLiteral("\n\n");
            text += QStringLiteral("──── %1\n%2").arg(textField(file, "path"), textField(file, "text"));
        }
        m_seenTokens->setText(
            InspectorText::tr("about %1 tokens of the agent's context, all functions of the interface")
                .arg(countText(integerOr(answer->body, "tokens"))));
        m_seen->setPlainText(text);
    });
}

} // namespace gb::ui
