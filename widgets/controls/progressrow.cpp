// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

#include "progressrow.h"

#include <QGridLayout>
#include <QProgressBar>

#include "buttons.h"
#include "labels.h"
#include "numbers.h"
#include "text.h"
#include "theme.h"

namespace gb::ui {

ProgressRow::ProgressRow(QWidget* parent) : QWidget(parent)
{
    m_title = new ElidedLabel;
    m_message = new ElidedLabel({}, TextRole::Caption);
    m_figures = makeLabel({}, TextRole::Caption);
    m_bar = new QProgressBar;
    m_bar->setTextVisible(false);
    m_cancel = makeIconButton(QStringLiteral("close"), ControlsText::tr("Cancel"));
    connect(m_cancel, &QToolButton::clicked, this, &ProgressRow::cancelRequested);
    setFocusProxy(m_cancel);
    auto* layout = new QGridLayout(this);
    layout->setContentsMargins(0, space::xs, 0, space::xs);
    layout->setHorizontalSpacing(space::s);
    layout->setVerticalSpacing(space::xs);
    layout->addWidget(m_title, 0, 0);
    layout->addWidget(m_figures, 0, 1, Qt::AlignRight);
    layout->addWidget(m_cancel, 0, 2, 2, 1, Qt::AlignVCenter);
    layout->addWidget(m_bar, 1, 0, 1, 2);
    layout->addWidget(m_message, 2, 0, 1, 3);
    layout->setColumnStretch(0, 1);
}

void ProgressRow::setProgress(const ProgressSpec& spec)
{
    m_title->setElidedText(spec.title);
    m_message->setElidedText(spec.message);
    m_message->setVisible(!spec.message.isEmpty());
    m_figures->setText(figures(spec));
    const bool running = spec.state == QLatin1String("running") || spec.state == QLatin1String("queued");
    const bool endless = running && spec.total <= 0;
    // A thousand steps: bytes do not fit in the int of a progress bar.
    m_bar->setRange(0, endless ? 0 : 1000);
    if (!endless)
        m_bar->setValue(spec.total > 0 ? qRound(1000 * qBound(0.0, spec.done / spec.total, 1.0)) : 1000);
    m_bar->setVisible(running);
    m_cancel->setVisible(spec.cancellable && running);
    m_cancel->setAccessibleName(ControlsText::tr("Cancel %1").arg(spec.title));
    m_bar->setAccessibleName(spec.title);
}

QString ProgressRow::figures(const ProgressSpec& spec)
{
    if (spec.state == QLatin1String("done"))
        return ControlsText::tr("done");
    if (spec.state == QLatin1String("failed"))
        return ControlsText::tr("failed");
    if (spec.state == QLatin1String("cancelled"))
        return ControlsText::tr("cancelled");
    if (spec.state == QLatin1String("queued"))
        return ControlsText::tr("waiting");
    QStringList parts;
    const bool bytes = spec.unit == QLatin1String("bytes");
    if (spec.total > 0)
        parts += ControlsText::tr("%1 %").arg(qRound(100 * spec.done / spec.total));
    else if (spec.done > 0)
        parts += bytes ? bytesText(spec.done) : countText(static_cast<std::int64_t>(spec.done));
    if (spec.rate > 0)
        parts += bytes ? rateText(spec.rate)
                       : ControlsText::tr("%1 %2/s").arg(spec.rate, 0, 'g', 3).arg(spec.unit);
    if (spec.remainingSeconds >= 0)
        parts += clockText(spec.remainingSeconds);
    return parts.join(QStringLiteral(" · "));
}

} // namespace gb::ui
