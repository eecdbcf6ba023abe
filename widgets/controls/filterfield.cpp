// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

#include "filterfield.h"

#include <QAction>
#include <QKeyEvent>
#include <QMenu>
#include <QTimer>

#include "icons.h"
#include "text.h"

namespace gb::ui {

FilterField::FilterField(const QString& placeholder, QWidget* parent) : QLineEdit(parent)
{
    setPlaceholderText(placeholder);
    setAccessibleName(placeholder);
    addAction(icon(QStringLiteral("search")), QLineEdit::LeadingPosition);
    setClearButtonEnabled(true);
    m_delay = new QTimer(this);
    m_delay->setSingleShot(true);
    m_delay->setInterval(120);
    connect(this, &QLineEdit::textChanged, m_delay, qOverload<>(&QTimer::start));
    connect(m_delay, &QTimer::timeout, this, [this] { Q_EMIT filterChanged(text()); });
}

void FilterField::setSyntaxHelp(const QList<QPair<QString, QString>>& help)
{
    delete m_help;
    m_help = addAction(icon(QStringLiteral("help")), QLineEdit::TrailingPosition);
    m_help->setToolTip(ControlsText::tr("What can be written here"));
    connect(m_help, &QAction::triggered, this, [this, help] {
        QMenu menu(this);
        for (const auto& [example, meaning] : help)
            menu.addAction(example + QStringLiteral("   ") + meaning, this, [this, insert = example] {
                setText(text().isEmpty() ? insert : text() + QLatin1Char(' ') + insert);
                setFocus();
            });
        menu.exec(mapToGlobal(rect().bottomLeft()));
    });
}

void FilterField::setDelay(int milliseconds)
{
    m_delay->setInterval(milliseconds);
}

void FilterField::keyPressEvent(QKeyEvent* event)
{
    if (event->key() == Qt::Key_Escape && !text().isEmpty()) {
        clear();
        return;
    }
    QLineEdit::keyPressEvent(event);
}

} // namespace gb::ui
