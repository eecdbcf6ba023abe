// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

#include "errortext.h"

#include "text.h"

namespace gb::ui {

QString errorSentence(const Error& error)
{
    const auto& code = error.code;
    if (code == "rpc.closed" || code == "rpc.disconnected")
        return ControlsText::tr("The connection to the background service was lost. Trying again.");
    if (code == "rpc.version")
        return ControlsText::tr("The background service speaks a newer protocol than this window.");
    if (code == "cancelled")
        return ControlsText::tr("Cancelled.");
    const auto text = QString::fromStdString(error.message);
    return text.isEmpty() ? ControlsText::tr("Something failed (%1).").arg(QString::fromStdString(code))
                          : text;
}

QString errorDetails(const Error& error)
{
    auto text = QString::fromStdString(error.code);
    if (!error.message.empty())
        text += QStringLiteral(": ") + QString::fromStdString(error.message);
    if (!error.data.empty())
        text += QLatin1Char('\n')
            + QString::fromStdString(error.data.dump(2, ' ', false, Json::error_handler_t::replace));
    return text;
}

} // namespace gb::ui
