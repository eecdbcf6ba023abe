// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

#include <QAction>
#include <QDateTime>
#include <QTabWidget>

#include <backend/base/clock.h>
#include <widgets/controls/banner.h>
#include <widgets/controls/errortext.h>
#include <widgets/controls/labels.h>
#include <widgets/controls/logview.h>
#include <widgets/controls/numbers.h>
#include <widgets/controls/progressrow.h>
#include <widgets/controls/statepill.h>
#include <widgets/forms/argumentform.h>
#include <widgets/itemmodels/fields.h>
#include <widgets/viewers/resultview.h>

#include "callpanel.h"
#include "callrecords.h"
#include "text.h"
#include "timingbar.h"

// What came of the call that is shown, or why nothing has: while it runs, and when it has ended.
namespace gb::ui {
namespace {

constexpr int outputTabIndex = 1;
constexpr int detailsTabIndex = 2;
constexpr int previewShown = 400;

QString firstLine(const QString& text)
{
    return text.section(QLatin1Char('\n'), 0, 0).trimmed();
}

QString byWhom(const Json& call)
{
    const auto caller = objectOr(call, "caller");
    const auto name = textField(caller, "name");
    const auto kind = stringOr(caller, "kind");
    using T = InspectorText;
    if (kind == "agent")
        return T::tr("Called by the agent %1.").arg(name);
    if (kind == "script")
        return T::tr("Called by the script %1.").arg(name);
    return {};
}

} // namespace

void CallPanel::onEvent(const Json& event, const QByteArray& attachment)
{
    const auto kind = stringOr(event, "event");
    if (kind == "progress") {
        showProgress(event);
    } else if (kind == "output") {
        m_output->append(stringOr(event, "text"));
        m_tabs->setTabText(outputTabIndex, InspectorText::tr("Output ●"));
    } else if (kind == "item") {
        m_items += m_items.empty() ? "[" : ",";
        m_items.append(attachment.constData(), static_cast<std::size_t>(attachment.size()));
        if (!m_itemsSoon.isActive())
            m_itemsSoon.start();
    } else if (kind == "started") {
        m_since = wallMs();
        m_state->setState(InspectorText::tr("running"), Tone::Accent, m_since);
    }
}

void CallPanel::showProgress(const Json& progress)
{
    ProgressSpec spec;
    spec.title = QString::fromStdString(m_functionName);
    spec.message = textField(progress, "message");
    spec.state = QStringLiteral("running");
    spec.done = numberOr(progress, "done");
    spec.total = numberOr(progress, "total");
    m_progress->setProgress(spec);
    m_progress->show();
}

void CallPanel::showItems()
{
    if (m_running && !m_items.empty())
        m_result->setResult(m_items + "]");
}

void CallPanel::showNotCalled()
{
    m_state->setState(InspectorText::tr("ready"), Tone::Neutral);
    if (m_functionName.empty())
        return m_result->clear();
    m_result->setNothing({QStringLiteral("play"), InspectorText::tr("Ready to be called"),
        InspectorText::tr("Run (Ctrl+Enter) calls it with the arguments above; what it gives back appears "
                          "here.")});
}

// What an earlier call gave back must not pass for what this one does.
void CallPanel::showRunning()
{
    if (!m_running || !m_items.empty())
        return;
    const auto& items = m_client.items("calls");
    const auto by = byWhom(items.is_object() ? objectOr(items, m_call) : Json::object());
    const auto waits = InspectorText::tr("What it gives back appears here; what it prints is under Output.");
    m_result->setNothing({QStringLiteral("clock"),
        InspectorText::tr("Running since %1")
            .arg(QDateTime::fromMSecsSinceEpoch(m_since).toString(QStringLiteral("HH:mm:ss"))),
        by.isEmpty() ? waits : by + QLatin1Char('\n') + waits});
}

void CallPanel::onAnswer(const std::string& call, Result<api::Answer> answer)
{
    Q_EMIT callEnded(QString::fromStdString(call));
    if (!m_statisticsSoon.isActive())
        m_statisticsSoon.start();
    if (call != m_call)
        return;
    m_followed = false;
    endRunning();
    if (!answer)
        return showUnanswered(InspectorText::tr("The call did not go through"), answer.error());
    // A stream has no result of its own; what it handed out stays in sight.
    const bool streamed = !m_items.empty() && (answer->attachment.empty() || answer->attachment == "null");
    showRecord(answer->body, streamed ? m_items + "]" : answer->attachment);
}

void CallPanel::endRunning()
{
    setRunning(false);
    m_progress->hide();
    m_itemsSoon.stop();
    m_runningSoon.stop();
}

void CallPanel::showUnanswered(const QString& title, const Error& error)
{
    m_state->setState(InspectorText::tr("failed"), Tone::Error);
    m_banner->showError(title, error);
    m_result->setNothing({QStringLiteral("error"), title, errorSentence(error)});
}

void CallPanel::showCall(const QString& call, const FunctionList::Function* function)
{
    if (function)
        setFunction(*function);
    const auto id = call.toStdString();
    showResultTab();
    beginCall(id);
    setRunning(false);
    const auto& running = m_client.items("calls");
    m_followed = running.is_object() && running.contains(id);
    if (!m_followed)
        return readCall();
    const auto item = objectOr(running, id);
    m_name->setElidedText(textField(item, "fn"));
    m_since = timeField(item, "at");
    setDetails({});
    setRunning(true);
    showRunning();
    followCall();
}

// Somebody else's call tells only how far it is; when it has ended, its record can be read.
void CallPanel::followCall()
{
    if (!m_followed)
        return;
    const auto& running = m_client.items("calls");
    if (running.is_object() && running.contains(m_call)) {
        const auto item = objectOr(running, m_call);
        m_state->setState(textField(item, "state"), StatePill::toneOf(textField(item, "state")), m_since);
        if (const auto progress = objectOr(item, "progress"); !progress.empty())
            showProgress(progress);
        return;
    }
    m_followed = false;
    endRunning();
    readCall();
}

void CallPanel::readCall()
{
    m_loading = true;
    m_client.call(this, "calls.get", {{"call", m_call}}, [this, id = m_call](Result<api::Answer> answer) {
        m_loading = false;
        if (id != m_call)
            return;
        if (!answer)
            return showUnanswered(InspectorText::tr("The call could not be read"), answer.error());
        const auto name = stringOr(answer->body, "fn");
        m_name->setElidedText(QString::fromStdString(name));
        if (name == m_functionName)
            m_form->setArguments(namedArguments(objectOr(answer->body, "args"), m_parameters));
        showRecord(answer->body, answer->attachment);
    });
}

void CallPanel::showRecord(const Json& record, const std::string& result)
{
    const auto state = textField(record, "state");
    const auto tone = state == QLatin1String("ok") ? Tone::Success : StatePill::toneOf(state);
    m_state->setState(state, tone);
    m_timing->setTiming(objectOr(record, "ns"));
    setDetails(recordRows(record));
    if (const auto text = outputText(record); !text.empty()) {
        m_output->clear();
        m_output->append(text);
        m_tabs->setTabText(outputTabIndex, InspectorText::tr("Output ●"));
    }
    if (state != QLatin1String("ok"))
        return showError(record);
    const auto stored = record.find("result");
    if (result.empty() && boolOr(record, "result_cut"))
        return showCut(record);
    const auto shown = !result.empty() ? result : stored == record.end() ? "null" : stored->dump();
    if (shown != "null")
        return m_result->setResult(shown);
    m_result->setNothing({QStringLiteral("success"), InspectorText::tr("It returned None"),
        InspectorText::tr("The call ended well and gave nothing back.")});
}

void CallPanel::showCut(const Json& record)
{
    auto why = InspectorText::tr("It was %1; of large results only the beginning stays with a call, unless "
                                 "the call is pinned.")
                   .arg(bytesText(numberOr(record, "result_bytes")));
    if (const auto preview = textField(record, "preview"); !preview.isEmpty())
        why += QStringLiteral("\n\n") + preview.left(previewShown) + QStringLiteral("…");
    m_result->setNothing({QStringLiteral("info"), InspectorText::tr("The result was too large to keep"), why,
        m_run->isEnabled() ? InspectorText::tr("Call it again") : QString(), [this] { m_run->trigger(); }});
}

// A dozen fields are not made again with every call while nobody sees them.
void CallPanel::setDetails(QList<KeyValueList::Row> rows)
{
    m_detailRows = std::move(rows);
    m_noDetails->setVisible(m_detailRows.isEmpty());
    if (m_tabs->currentIndex() == detailsTabIndex)
        m_details->setRows(m_detailRows);
}

void CallPanel::showError(const Json& record)
{
    const auto error = objectOr(record, "error");
    const auto type = textField(error, "type");
    const auto state = stringOr(record, "state");
    const bool cancelled = state == "cancelled";
    const auto title = cancelled ? InspectorText::tr("Cancelled")
        : state == "killed"      ? InspectorText::tr("Ended by force")
        : state == "lost"        ? InspectorText::tr("Lost")
        : type.isEmpty()         ? textField(error, "kind")
                                 : type;
    // What Python said stays as it is; what we say is a sentence.
    const auto message = textField(error, "message");
    const auto said =
        type.isEmpty() && !message.isEmpty() ? errorSentence({"", message.toStdString()}) : message;
    m_banner->show(cancelled ? Tone::Warning : Tone::Error, title, said, tracebackText(error));
    m_banner->openDetails();
    if (const int line = lineInSource(error, m_client.items("interfaces"), m_interface); line > 0)
        m_banner->addAction(InspectorText::tr("Go to line %1").arg(line), [this, line] { showSource(line); });
    // What a stream handed out before it failed is worth reading.
    if (!m_items.empty())
        return m_result->setResult(m_items + "]");
    const auto why = firstLine(said);
    m_result->setNothing({cancelled ? QStringLiteral("stop") : QStringLiteral("error"),
        cancelled               ? InspectorText::tr("The call was cancelled")
            : state == "killed" ? InspectorText::tr("The call was ended by force")
            : state == "lost"   ? InspectorText::tr("Nobody knows what came of the call")
                                : InspectorText::tr("The call failed: %1").arg(title),
        why.isEmpty() ? InspectorText::tr("It gave nothing back.") : why, InspectorText::tr("Show the error"),
        [this, record] {
            showError(record);
            m_banner->focusDetails();
        }});
}

} // namespace gb::ui
