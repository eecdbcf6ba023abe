// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

#include "sourcepanel.h"

#include <QAction>
#include <QLabel>
#include <QTextDocument>
#include <QVBoxLayout>

#include <widgets/controls/banner.h>
#include <widgets/controls/buttons.h>
#include <widgets/controls/codeeditor.h>
#include <widgets/controls/labels.h>
#include <widgets/controls/page.h>
#include <widgets/controls/theme.h>
#include <widgets/itemmodels/fields.h>

#include "text.h"

namespace gb::ui {
namespace {

constexpr int checkSoonMs = 400;

// What the host puts into an interface file's globals.
const QStringList& injectedNames()
{
    static const QStringList names{QStringLiteral("expose"), QStringLiteral("get_model_path"),
        QStringLiteral("list_configured_models"), QStringLiteral("progress"), QStringLiteral("log"),
        QStringLiteral("cancelled"), QStringLiteral("concurrency"), QStringLiteral("read_only"),
        QStringLiteral("timeout"), QStringLiteral("tensors")};
    return names;
}

} // namespace

SourcePanel::SourcePanel(api::Client& client, QWidget* parent) : QWidget(parent), m_client(client)
{
    m_save = makeAction(
        this, InspectorText::tr("Save and reload"), QStringLiteral("check"), QStringLiteral("Ctrl+S"));
    m_save->setShortcutContext(Qt::WidgetWithChildrenShortcut);
    m_revert = makeAction(this, InspectorText::tr("Back to the file"), QStringLiteral("refresh"));
    connect(m_save, &QAction::triggered, this, &SourcePanel::save);
    connect(m_revert, &QAction::triggered, this, [this] {
        m_line = m_editor->currentLine();
        load();
    });
    m_file = new ElidedLabel({}, TextRole::Mono);
    m_state = makeLabel({}, TextRole::Caption);
    m_banner = new Banner;
    m_editor = new CodeEditor;
    m_editor->setNames(injectedNames());
    auto* bar = new QHBoxLayout;
    bar->setSpacing(space::s);
    bar->addWidget(m_file, 1);
    bar->addWidget(m_state);
    bar->addWidget(makeActionButton(m_revert));
    bar->addWidget(makeActionButton(m_save));
    auto* layout = new QVBoxLayout(this);
    layout->setContentsMargins(0, space::s, 0, 0);
    layout->setSpacing(space::s);
    layout->addLayout(bar);
    layout->addWidget(m_banner);
    layout->addWidget(m_editor, 1);
    m_soon.setSingleShot(true);
    m_soon.setInterval(checkSoonMs);
    connect(&m_soon, &QTimer::timeout, this, &SourcePanel::check);
    connect(m_editor, &QPlainTextEdit::textChanged, &m_soon, qOverload<>(&QTimer::start));
    connect(m_editor->document(), &QTextDocument::modificationChanged, this, &SourcePanel::updateState);
    setFocusProxy(m_editor);
    updateState();
}

bool SourcePanel::isChanged() const
{
    return m_editor->document()->isModified();
}

void SourcePanel::showSource(const std::string& interface, int line)
{
    m_line = line;
    if (interface == m_interface && !m_etag.empty())
        return m_editor->goToLine(line);
    m_interface = interface;
    m_etag.clear();
    m_editor->document()->setModified(false);
    load();
}

void SourcePanel::refresh()
{
    if (m_interface.empty() || isChanged() || m_loading)
        return;
    m_line = m_editor->currentLine();
    load();
}

void SourcePanel::load()
{
    m_loading = true;
    m_client.call(this, "interfaces.source", {{"interface", m_interface}},
        [this, interface = m_interface](const Result<api::Answer>& answer) {
            if (interface != m_interface)
                return;
            m_loading = false;
            m_etag = answer ? stringOr(answer->body, "etag") : std::string();
            m_editor->setReadOnly(!answer);
            if (!answer) {
                m_editor->clear();
                m_banner->showError(
                    InspectorText::tr("The interface file could not be read"), answer.error());
                return updateState();
            }
            m_banner->dismiss();
            m_path = textField(answer->body, "path");
            const auto text = textField(answer->body, "text");
            if (text != m_editor->toPlainText())
                m_editor->setPlainText(text);
            m_editor->document()->setModified(false);
            m_editor->goToLine(m_line);
            updateState();
        });
}

void SourcePanel::updateState()
{
    m_file->setElidedText(m_path);
    m_state->setText(isChanged() ? InspectorText::tr("changed") : QString());
    m_save->setEnabled(isChanged() && !m_etag.empty());
    m_revert->setEnabled(isChanged());
}

void SourcePanel::check()
{
    const auto request = ++m_checked;
    m_client.call(this, "interfaces.check", {{"text", m_editor->toPlainText().toStdString()}},
        [this, request](const Result<api::Answer>& answer) {
            if (request == m_checked && answer)
                showFindings(answer->body.value("findings", Json::array()));
        });
}

void SourcePanel::showFindings(const Json& findings)
{
    QList<CodeEditor::Finding> shown;
    for (const auto& finding : findings) {
        const auto fix = textField(finding, "fix");
        shown += {static_cast<int>(integerOr(finding, "line", 1)),
            stringOr(finding, "severity") == "error" ? Tone::Error : Tone::Warning,
            fix.isEmpty() ? textField(finding, "message")
                          : InspectorText::tr("%1 — %2").arg(textField(finding, "message"), fix)};
    }
    m_editor->setFindings(std::move(shown));
}

void SourcePanel::save()
{
    if (m_etag.empty() || !isChanged())
        return;
    m_save->setEnabled(false);
    const Json params = {
        {"interface", m_interface}, {"text", m_editor->toPlainText().toStdString()}, {"etag", m_etag}};
    m_client.call(
        this, "interfaces.save", params, [this, interface = m_interface](const Result<api::Answer>& answer) {
            if (interface == m_interface)
                onSaved(answer);
        });
}

void SourcePanel::onSaved(const Result<api::Answer>& answer)
{
    if (!answer) {
        m_banner->showError(InspectorText::tr("The file was not saved"), answer.error());
        return updateState();
    }
    m_etag = stringOr(answer->body, "etag");
    m_editor->document()->setModified(false);
    updateState();
    if (const auto error = objectOr(answer->body, "error"); !error.empty())
        return showLoadError(error);
    m_banner->dismiss();
    m_state->setText(InspectorText::tr("loaded"));
}

// The host's frames say where: the last one in this file is the line to mend.
void SourcePanel::showLoadError(const Json& error)
{
    m_banner->show(
        Tone::Error, InspectorText::tr("Saved, but the file does not load"), textField(error, "message"));
    const auto data = objectOr(error, "data");
    const auto frames = data.value("frames", Json::array());
    int line = 0;
    for (const auto& frame : frames)
        if (textField(frame, "file") == m_path)
            line = static_cast<int>(integerOr(frame, "line"));
    if (line <= 0)
        return;
    auto findings = m_editor->findings();
    findings += {line, Tone::Error, textField(error, "message")};
    m_editor->setFindings(std::move(findings));
    m_editor->goToLine(line);
}

} // namespace gb::ui
