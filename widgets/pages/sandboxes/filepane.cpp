// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

#include "filepane.h"

#include <QLabel>
#include <QPlainTextEdit>
#include <QVBoxLayout>

#include <widgets/controls/banner.h>
#include <widgets/controls/labels.h>
#include <widgets/controls/theme.h>
#include <widgets/forms/draft.h>

#include "experimentfile.h"
#include "text.h"

namespace gb::ui {
namespace {

constexpr int typingPauseMs = 250;

} // namespace

FilePane::FilePane(ExperimentFile& file, Draft& draft, QWidget* parent)
    : QWidget(parent), m_file(file), m_draft(draft)
{
    setProperty("gbSide", true);
    setAttribute(Qt::WA_StyledBackground);
    m_title = makeLabel({}, TextRole::Strong);
    m_banner = new Banner;
    m_editor = new QPlainTextEdit;
    m_editor->setFont(Theme::instance().monospace());
    m_editor->setAccessibleName(SandboxText::tr("The experiment's file"));
    m_editor->setTabChangesFocus(true);
    m_editor->setLineWrapMode(QPlainTextEdit::NoWrap);
    auto* layout = new QVBoxLayout(this);
    layout->setContentsMargins(space::m, space::m, space::m, space::m);
    layout->setSpacing(space::s);
    layout->addWidget(m_title);
    layout->addWidget(m_banner);
    layout->addWidget(m_editor, 1);
    m_typed.setSingleShot(true);
    m_typed.setInterval(typingPauseMs);
    connect(m_editor, &QPlainTextEdit::textChanged, &m_typed, qOverload<>(&QTimer::start));
    connect(&m_typed, &QTimer::timeout, this, &FilePane::takeTyped);
    connect(&m_file, &ExperimentFile::textChanged, this, &FilePane::showText);
    connect(&m_file, &ExperimentFile::opened, this, &FilePane::showText);
    connect(&Theme::instance(), &Theme::changed, this,
        [this] { m_editor->setFont(Theme::instance().monospace()); });
    showText();
}

void FilePane::showText()
{
    m_title->setText(m_file.hasFolder() ? QStringLiteral("experiment.toml")
                                        : SandboxText::tr("As a file (no experiment is open)"));
    // What is being typed here is not taken away.
    if (m_typed.isActive() || m_wrong || m_editor->toPlainText() == m_file.text())
        return;
    const QSignalBlocker quiet(m_editor);
    const auto cursor = m_editor->textCursor().position();
    m_editor->setPlainText(m_file.text());
    auto back = m_editor->textCursor();
    back.setPosition(qMin<int>(cursor, static_cast<int>(m_file.text().size())));
    m_editor->setTextCursor(back);
}

void FilePane::takeTyped()
{
    const auto status = m_file.setText(m_editor->toPlainText());
    m_wrong = !status;
    if (status)
        return m_banner->dismiss();
    m_banner->show(Tone::Error, SandboxText::tr("The form waits until this can be read"),
        QString::fromStdString(status.error().message));
    m_banner->addAction(SandboxText::tr("Back to what the form says"), [this] {
        m_wrong = false;
        m_banner->dismiss();
        showText();
    });
}

} // namespace gb::ui
