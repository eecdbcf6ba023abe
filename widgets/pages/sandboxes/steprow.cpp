// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

#include "steprow.h"

#include <QGridLayout>
#include <QHash>
#include <QLabel>
#include <QProgressBar>

#include <widgets/controls/icons.h>
#include <widgets/controls/labels.h>
#include <widgets/controls/numbers.h>
#include <widgets/controls/progressrow.h>
#include <widgets/controls/theme.h>
#include <widgets/itemmodels/fields.h>

#include "text.h"

namespace gb::ui {
namespace {

constexpr int stepIcon = 16;
constexpr double secondNs = 1e9;
constexpr int barSteps = 1000; // bytes do not fit in the int of a progress bar

QString partStateText(const QString& state)
{
    static const QHash<QString, QString> words = {
        {QStringLiteral("queued"), SandboxText::tr("waits for other downloads")},
        {QStringLiteral("resolving"), SandboxText::tr("asks the hub")},
        {QStringLiteral("downloading"), SandboxText::tr("downloading")},
        {QStringLiteral("verifying"), SandboxText::tr("comparing with the hub's hashes")},
        {QStringLiteral("stalled"), SandboxText::tr("nothing comes at the moment")},
        {QStringLiteral("paused"), SandboxText::tr("paused on the Models page")}};
    return words.value(state);
}

QStringList plannedFigures(const Json& step)
{
    const auto reused = boolOr(step, "reused");
    const auto bytes = numberOr(step, "bytes");
    QStringList figures;
    if (reused)
        figures += SandboxText::tr("already there");
    else if (!textField(step, "page").isEmpty())
        figures += SandboxText::tr("needs access");
    else if (stringOr(step, "kind") == "model")
        figures +=
            bytes > 0 ? SandboxText::tr("to download") : SandboxText::tr("to download, size not known");
    if (bytes > 0)
        figures += bytesText(bytes);
    if (const auto seconds = numberOr(step, "seconds"); seconds > 0 && !reused)
        figures +=
            SandboxText::tr("%1 last time").arg(durationText(static_cast<std::int64_t>(seconds * secondNs)));
    return figures;
}

} // namespace

StepRow::StepRow(const Json& step, QWidget* parent) : QWidget(parent), m_reused(boolOr(step, "reused"))
{
    m_icon = new QLabel;
    m_icon->setFixedWidth(stepIcon);
    m_title = new ElidedLabel(textField(step, "title"));
    m_figures = makeLabel({}, TextRole::Caption);
    m_message = new ElidedLabel({}, TextRole::Caption);
    m_message->hide();
    m_bar = new QProgressBar;
    m_bar->setTextVisible(false);
    m_bar->setRange(0, 0);
    m_bar->hide();
    m_figures->setText(plannedFigures(step).join(QStringLiteral(" · ")));
    auto* layout = new QGridLayout(this);
    layout->setContentsMargins(0, space::xs, 0, space::xs);
    layout->setHorizontalSpacing(space::s);
    layout->setVerticalSpacing(2);
    layout->addWidget(m_icon, 0, 0, Qt::AlignTop);
    layout->addWidget(m_title, 0, 1);
    layout->addWidget(m_figures, 0, 2);
    layout->addWidget(m_bar, 1, 1, 1, 2);
    layout->addWidget(m_message, 2, 1, 1, 2);
    layout->setColumnStretch(1, 1);
    connect(&Theme::instance(), &Theme::changed, this, &StepRow::showIcon);
    showIcon();
}

QString StepRow::title() const
{
    return m_title->fullText();
}

void StepRow::setState(State state, const QString& message)
{
    m_message->setElidedText(message);
    m_message->setVisible(!message.isEmpty());
    if (state == m_state)
        return;
    m_state = state;
    // A bar without an end moves by itself, which is for those who did not ask for less motion.
    m_bar->setRange(0, 0);
    m_bar->setVisible(state == State::Running && !Theme::instance().look().reducedMotion);
    showIcon();
}

void StepRow::setPart(const Json& part)
{
    const auto done = numberOr(part, "done");
    const auto total = numberOr(part, "total");
    QStringList texts{partStateText(textField(part, "state"))};
    if (total > 0) {
        m_bar->setRange(0, barSteps);
        m_bar->setValue(qRound(barSteps * qBound(0.0, done / total, 1.0)));
        m_bar->setVisible(true);
        texts += SandboxText::tr("%1 of %2").arg(bytesText(done), bytesText(total));
        ProgressSpec rate;
        rate.unit = QStringLiteral("bytes");
        rate.rate = numberOr(part, "rate");
        rate.remainingSeconds = numberOr(part, "remaining_s", -1);
        texts += ProgressRow::figures(rate);
    }
    texts.removeAll(QString());
    m_message->setElidedText(texts.join(QStringLiteral(" · ")));
    m_message->setVisible(!texts.isEmpty());
}

void StepRow::showIcon()
{
    const auto& t = tokens();
    QString name = QStringLiteral("clock");
    QColor color = t.secondary;
    QString word = SandboxText::tr("planned");
    switch (m_state) {
    case State::Planned:
        if (m_reused) {
            name = QStringLiteral("check");
            color = t.success;
        }
        break;
    case State::Running:
        name = QStringLiteral("play");
        color = t.accent;
        word = SandboxText::tr("under way");
        break;
    case State::Done:
        name = QStringLiteral("success");
        color = t.success;
        word = SandboxText::tr("done");
        break;
    case State::Failed:
        name = QStringLiteral("error");
        color = t.error;
        word = SandboxText::tr("failed");
        break;
    case State::Cancelled:
        name = QStringLiteral("stop");
        color = t.warning;
        word = SandboxText::tr("cancelled");
        break;
    case State::Skipped:
        name = QStringLiteral("minus");
        color = t.disabled;
        word = SandboxText::tr("not reached");
        break;
    }
    m_icon->setPixmap(iconPixmap(name, stepIcon, color, devicePixelRatioF()));
    m_icon->setToolTip(word);
    setAccessibleName(m_title->fullText() + QStringLiteral(": ") + word);
}

} // namespace gb::ui
