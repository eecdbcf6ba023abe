// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

#include "exporter.h"

#include <widgets/controls/errortext.h>
#include <widgets/itemmodels/fields.h>

namespace gb::ui {
namespace {

constexpr int exportPage = 200;

} // namespace

CallExporter::CallExporter(api::Client& client, QString filter, const QString& path, QObject* parent)
    : QObject(parent), m_client(client), m_filter(filter.toStdString()), m_file(path)
{ }

void CallExporter::start()
{
    if (m_file.open(QIODevice::WriteOnly))
        askPage();
    else
        end(m_file.errorString());
}

void CallExporter::askPage()
{
    Json params = {{"filter", m_filter}, {"limit", exportPage}};
    if (!m_next.empty())
        params["before"] = m_next;
    m_client.call(this, "calls.list", params, [this](Result<api::Answer> answer) {
        if (!answer)
            return end(errorSentence(answer.error()));
        for (const auto& call : answer->body.value("calls", Json::array()))
            m_waiting.push_back(stringOr(call, "id"));
        m_next = stringOr(answer->body, "next");
        m_last = m_next.empty();
        askRecord();
    });
}

void CallExporter::askRecord()
{
    if (m_waiting.empty())
        return m_last ? end({}) : askPage();
    const Json params = {{"call", m_waiting.front()}};
    m_waiting.pop_front();
    m_client.call(this, "calls.get", params, [this](Result<api::Answer> answer) {
        if (!answer)
            return end(errorSentence(answer.error()));
        write(*answer);
        askRecord();
    });
}

void CallExporter::write(const api::Answer& answer)
{
    auto record = answer.body;
    record.erase("result");
    auto line = record.dump(-1, ' ', false, Json::error_handler_t::replace);
    // The result is text already and stays as it came.
    const auto result =
        answer.attachment.empty() ? answer.body.value("result", Json()).dump() : answer.attachment;
    line.pop_back();
    line += ",\"result\":" + result + "}\n";
    m_file.write(line.data(), static_cast<qint64>(line.size()));
    ++m_calls;
}

void CallExporter::end(const QString& problem)
{
    const auto failed = problem.isEmpty() && !m_file.commit() ? m_file.errorString() : problem;
    Q_EMIT finished(m_calls, failed);
}

} // namespace gb::ui
