// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

#include "callrecords.h"

#include <QCoreApplication>

#include <widgets/controls/numbers.h>
#include <widgets/itemmodels/fields.h>

namespace gb::ui {
namespace {

struct RecordText
{
    Q_DECLARE_TR_FUNCTIONS(gb_inspector)
};

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

QList<KeyValueList::Row> recordRows(const Json& record)
{
    using T = RecordText;
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

} // namespace gb::ui
