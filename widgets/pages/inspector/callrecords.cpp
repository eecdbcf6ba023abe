// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

#include "callrecords.h"

#include <algorithm>
#include <vector>

#include <backend/base/shellword.h>
#include <widgets/controls/numbers.h>
#include <widgets/itemmodels/fields.h>

#include "text.h"

namespace gb::ui {
namespace {

// JSON's strings and numbers are Python's too; its words and the names of its values are not.
std::string pythonLiteral(const Json& value)
{
    if (value.is_null())
        return "None";
    if (value.is_boolean())
        return value.get<bool>() ? "True" : "False";
    if (!value.is_structured())
        return value.dump(-1, ' ', false, Json::error_handler_t::replace);
    std::string text;
    for (const auto& [key, child] : value.items()) {
        text += text.empty() ? "" : ", ";
        if (value.is_object())
            text += Json(key).dump(-1, ' ', false, Json::error_handler_t::replace) + ": ";
        text += pythonLiteral(child);
    }
    return value.is_object() ? "{" + text + "}" : "[" + text + "]";
}

} // namespace

Json namedArguments(const Json& args, const Json& parameters)
{
    Json named = Json::object();
    const auto positional = args.find("args");
    if (positional != args.end() && positional->is_array())
        for (std::size_t i = 0; i < positional->size() && i < parameters.size(); ++i)
            named[stringOr(parameters[i], "name")] = (*positional)[i];
    named.update(objectOr(args, "kwargs"));
    return named;
}

std::string outputText(const Json& record)
{
    std::string text;
    const auto output = record.find("output");
    if (output != record.end() && output->is_array())
        for (const auto& piece : *output)
            text += stringOr(piece, "text");
    if (boolOr(record, "output_cut"))
        text += "\n…\n";
    return text;
}

QString tracebackText(const Json& error)
{
    const auto traceback = textField(error, "traceback");
    if (!traceback.isEmpty())
        return traceback;
    QStringList lines;
    const auto frames = error.find("frames");
    if (frames != error.end() && frames->is_array())
        for (const auto& frame : *frames)
            lines += QStringLiteral("%1:%2 %3\n    %4")
                         .arg(textField(frame, "file"))
                         .arg(integerOr(frame, "line"))
                         .arg(textField(frame, "function"), textField(frame, "source"));
    return lines.join(QLatin1Char('\n'));
}

int lineInSource(const Json& error, const Json& interfaces, const std::string& interface)
{
    // In a sandbox the file stands elsewhere under the same name.
    const auto nameOf = [](const QString& path) { return path.section(QLatin1Char('/'), -1); };
    const auto name = nameOf(textField(objectOr(interfaces, interface), "source"));
    int line = 0;
    const auto frames = error.find("frames");
    if (frames == error.end() || !frames->is_array() || name.isEmpty())
        return 0;
    for (const auto& frame : *frames)
        if (boolOr(frame, "user") && nameOf(textField(frame, "file")) == name)
            line = static_cast<int>(integerOr(frame, "line"));
    return line;
}

QList<KeyValueList::Row> recordRows(const Json& record)
{
    using T = InspectorText;
    const auto caller = objectOr(record, "caller");
    const auto ns = objectOr(record, "ns");
    QList<KeyValueList::Row> rows = {{T::tr("Call"), textField(record, "id"), true},
        {T::tr("Interface"), textField(objectOr(record, "interface"), "name")},
        {T::tr("By"), textField(caller, "kind") + QLatin1Char(' ') + textField(caller, "name")},
        {T::tr("At"), exactTimeText(timeField(record, "at"))},
        {T::tr("Waited"), durationText(integerOr(ns, "queue"))},
        {T::tr("Computed"), durationText(integerOr(ns, "compute"))},
        {T::tr("Serialised"), durationText(integerOr(ns, "serialise"))},
        {T::tr("Result"), bytesText(numberOr(record, "result_bytes"))},
        {T::tr("Worker generation"), QString::number(integerOr(record, "generation"))},
        {T::tr("Run"), textField(record, "run"), true}};
    return rows;
}

Result<std::string> outcomeText(const Result<api::Answer>& answer)
{
    if (!answer)
        return fail(answer.error());
    if (stringOr(answer->body, "state") != "ok")
        return objectOr(answer->body, "error").dump();
    if (!answer->attachment.empty())
        return answer->attachment;
    if (boolOr(answer->body, "result_cut"))
        return fail("diff.cut", "the result was too large to keep; pin calls to keep theirs");
    return answer->body.value("result", Json()).dump();
}

QString shellQuoted(const QString& text)
{
    return QString::fromStdString(shellWord(text.toStdString()));
}

QString curlCommand(const Json& interface, const std::string& function, const Json& kwargs)
{
    // printf is part of the shell, so the token is in nobody's list of processes.
    const Json body = {{"fn", function}, {"kwargs", kwargs}};
    return QStringLiteral("printf 'Authorization: Bearer %s\\n' \"$(cat %1)\" |\n"
                          "  curl -sS -H @- -H 'Content-Type: application/json' %2 --data-binary %3\n")
        .arg(shellQuoted(textField(interface, "token_file")),
            shellQuoted(textField(interface, "url") + QStringLiteral("/v1/calls")),
            shellQuoted(compactJson(body)));
}

QString pythonCall(const std::string& interface, const std::string& function, const Json& kwargs)
{
    return QStringLiteral("import glovebox\n\nclient = glovebox.connect()\n"
                          "answer = client.calls.run(%1, %2, kwargs=%3)\nprint(answer.value())\n")
        .arg(QString::fromStdString(pythonLiteral(interface)),
            QString::fromStdString(pythonLiteral(function)), QString::fromStdString(pythonLiteral(kwargs)));
}

QString mcpCall(const std::string& function, const Json& kwargs)
{
    const Json message = {{"jsonrpc", "2.0"}, {"id", 1}, {"method", "tools/call"},
        {"params", {{"name", function}, {"arguments", kwargs}}}};
    return QString::fromStdString(message.dump(2, ' ', false, Json::error_handler_t::replace));
}

QString callStatistics(const Json& calls, const std::string& function)
{
    std::vector<std::int64_t> took;
    int failed = 0;
    int cancelled = 0;
    if (calls.is_array())
        for (const auto& call : calls)
            if (stringOr(call, "fn") == function) {
                const auto state = stringOr(call, "state");
                took.push_back(integerOr(call, "duration_ns"));
                cancelled += state == "cancelled" ? 1 : 0;
                failed += state == "ok" || state == "cancelled" ? 0 : 1;
            }
    if (took.empty())
        return {};
    std::ranges::sort(took);
    const auto at = [&took](std::size_t percent) { return took[(took.size() - 1) * percent / 100]; };
    using T = InspectorText;
    const auto count = static_cast<int>(took.size());
    QStringList parts{count < statisticsOver ? T::tr("%n call(s)", nullptr, count)
                                             : T::tr("the newest %1 calls").arg(countText(count))};
    if (failed > 0)
        parts += T::tr("%1 failed").arg(countText(failed));
    if (cancelled > 0)
        parts += T::tr("%1 cancelled").arg(countText(cancelled));
    parts += count == 1 ? T::tr("took %1").arg(durationText(took.front()))
                        : T::tr("median %1 · p95 %2").arg(durationText(at(50)), durationText(at(95)));
    return parts.join(QStringLiteral(" · "));
}

} // namespace gb::ui
