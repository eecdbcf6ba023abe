// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

#include "keyvaluelist.h"

#include <QClipboard>
#include <QGridLayout>
#include <QGuiApplication>

#include "buttons.h"
#include "frames.h"
#include "labels.h"
#include "text.h"
#include "theme.h"

namespace gb::ui {

KeyValueList::KeyValueList(QWidget* parent) : QWidget(parent)
{
    m_layout = new QGridLayout(this);
    m_layout->setContentsMargins(0, 0, 0, 0);
    m_layout->setHorizontalSpacing(space::m);
    m_layout->setVerticalSpacing(2);
    m_layout->setColumnStretch(1, 1);
}

void KeyValueList::setRows(const QList<Row>& rows)
{
    const auto same = [](const Row& a, const Row& b) { return a.key == b.key && a.value == b.value; };
    if (std::equal(rows.begin(), rows.end(), m_rows.begin(), m_rows.end(), same))
        return;
    m_rows = rows;
    clearLayout(m_layout);
    int line = 0;
    for (const auto& row : rows) {
        auto* key = makeLabel(row.key, TextRole::Secondary);
        auto* value = new ElidedLabel(row.value, row.mono ? TextRole::Mono : TextRole::Body);
        value->setElideMode(Qt::ElideMiddle);
        auto* copy = makeIconButton(QStringLiteral("copy"), ControlsText::tr("Copy %1").arg(row.key));
        connect(copy, &QToolButton::clicked, this, [this, text = row.value] {
            QGuiApplication::clipboard()->setText(text);
            Q_EMIT copied(text);
        });
        m_layout->addWidget(key, line, 0);
        m_layout->addWidget(value, line, 1);
        m_layout->addWidget(copy, line, 2);
        m_layout->setRowStretch(line++, 0);
    }
    m_layout->setRowStretch(line, 1);
}

} // namespace gb::ui
