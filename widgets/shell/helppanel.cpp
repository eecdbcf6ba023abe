// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

#include "helppanel.h"

#include <QApplication>
#include <QFile>
#include <QHBoxLayout>
#include <QKeyEvent>
#include <QTextBrowser>

#include <widgets/controls/buttons.h>
#include <widgets/controls/labels.h>
#include <widgets/controls/laidout.h>
#include <widgets/controls/theme.h>

#include "text.h"

namespace gb::ui {
namespace {

constexpr int helpWidth = 380;

QString helpOf(const QString& name)
{
    QFile file(QStringLiteral(":/glovebox/help/%1.md").arg(name));
    if (!file.open(QIODevice::ReadOnly))
        return {};
    // The two lines on the licence are not for the reader.
    auto text = QString::fromUtf8(file.readAll());
    return text.mid(qMax(qsizetype(0), text.indexOf(QStringLiteral("## "))));
}

} // namespace

HelpPanel::HelpPanel(QWidget* over) : QFrame(over)
{
    setProperty("gbFrame", QStringLiteral("popup"));
    m_text = new QTextBrowser;
    m_text->setFrameShape(QFrame::NoFrame);
    m_text->setOpenLinks(false);
    m_text->document()->setIndentWidth(space::l);
    m_text->document()->setDocumentMargin(space::s);
    m_text->setAccessibleName(ShellText::tr("Help for this page"));
    auto* close = makeIconButton(QStringLiteral("close"), ShellText::tr("Close the help"));
    connect(close, &QToolButton::clicked, this, &HelpPanel::dismiss);
    auto* head = new QHBoxLayout;
    head->addWidget(makeLabel(ShellText::tr("Help"), TextRole::Heading), 1);
    head->addWidget(close);
    auto* layout = new QVBoxLayout(this);
    layout->setContentsMargins(space::l, space::m, space::m, space::m);
    layout->addLayout(head);
    layout->addWidget(m_text, 1);
    over->installEventFilter(this);
    hide();
}

void HelpPanel::open(const QString& pageId)
{
    if (!isVisible())
        m_before = QApplication::focusWidget();
    m_text->setFont(Theme::instance().font(TextSize::Body));
    m_text->setMarkdown(helpOf(pageId) + QLatin1Char('\n') + helpOf(QStringLiteral("keys")));
    layOutQuietly(m_text->document());
    place();
    show();
    raise();
    m_text->setFocus();
}

void HelpPanel::dismiss()
{
    hide();
    if (m_before)
        m_before->setFocus();
    m_before = nullptr;
}

bool HelpPanel::eventFilter(QObject* watched, QEvent* event)
{
    if (watched == parentWidget() && event->type() == QEvent::Resize && isVisible())
        place();
    return QFrame::eventFilter(watched, event);
}

void HelpPanel::keyPressEvent(QKeyEvent* event)
{
    if (event->key() == Qt::Key_Escape)
        dismiss();
    else
        QFrame::keyPressEvent(event);
}

void HelpPanel::place()
{
    const auto* over = parentWidget();
    const auto width = qMin(helpWidth, over->width() - 2 * space::xl);
    const auto top = space::xxl + space::xl;
    setGeometry(over->width() - width - space::l, top, width, over->height() - top - space::xxl - space::l);
}

} // namespace gb::ui
