// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

#include "errortext.h"

#include <algorithm>

#include <QDir>
#include <QFile>
#include <QRegularExpression>

#include <backend/base/errorhelp.h>

#include "text.h"

namespace gb::ui {

namespace {

// The help pages have a row for each code; a program without them says nothing.
QString errorAdvice(const std::string& code)
{
    const QDir pages(QStringLiteral(":/glovebox/help"));
    for (const auto& name : pages.entryList(QDir::Files)) {
        QFile page(pages.filePath(name));
        if (!page.open(QIODevice::ReadOnly))
            continue;
        for (const auto& row : errorHelpIn(page.readAll().toStdString()))
            if (std::ranges::find(row.codes, code) != row.codes.end())
                return QString::fromStdString(row.text).remove(QLatin1Char('`'));
    }
    return {};
}

} // namespace

QString beginSentence(QString text)
{
    static const QRegularExpression word(QStringLiteral("^[a-z]+(?=[ ,])"));
    static const QRegularExpression name(
        QStringLiteral("^(?!(?:access|it|nobody|nothing|one|something|that|there|this|what) )"
                       "[a-z]+ (?:is|was|has|does|did|could|cannot|failed) "));
    if (word.match(text).hasMatch() && !name.match(text).hasMatch())
        text[0] = text[0].toUpper();
    return text;
}

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
    if (text.isEmpty())
        return ControlsText::tr("Something failed (%1).").arg(QString::fromStdString(code));
    return beginSentence(text);
}

QString errorDetails(const Error& error)
{
    auto text = QString::fromStdString(error.code);
    if (!error.message.empty())
        text += QStringLiteral(": ") + QString::fromStdString(error.message);
    if (!error.data.empty())
        text += QLatin1Char('\n')
            + QString::fromStdString(error.data.dump(2, ' ', false, Json::error_handler_t::replace));
    if (const auto advice = errorAdvice(error.code); !advice.isEmpty())
        text += QLatin1Char('\n') + ControlsText::tr("What to do: %1").arg(advice);
    return text;
}

} // namespace gb::ui
