// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

#include "commandline.h"

#include <QCommandLineParser>

#include "pagetable.h"

namespace gb::ui {

void addWindowOptions(QCommandLineParser& parser)
{
    parser.setApplicationDescription(QStringLiteral("The window of Glovebox"));
    parser.addHelpOption();
    parser.addVersionOption();
    parser.addOptions({{QStringLiteral("experiment"), QStringLiteral("Open this folder."),
                           QStringLiteral("DIR")},
        {QStringLiteral("page"), QStringLiteral("Show this page first."), QStringLiteral("PAGE")},
        {QStringLiteral("shot"), QStringLiteral("Draw this page into --out and leave."),
            QStringLiteral("PAGE")},
        {QStringLiteral("out"), QStringLiteral("The picture's file."), QStringLiteral("FILE.png")},
        {QStringLiteral("size"), QStringLiteral("Of the window."), QStringLiteral("WxH")},
        {QStringLiteral("theme"), QStringLiteral("dark or light."), QStringLiteral("THEME")},
        {QStringLiteral("lang"), QStringLiteral("de, zh_CN, …; else what LANG says."),
            QStringLiteral("LANG")},
        {QStringLiteral("wait"), QStringLiteral("Milliseconds before the picture."), QStringLiteral("MS")}});
}

QString refusedOption(const QCommandLineParser& parser, const QString& page, api::Client& client)
{
    QStringList pages;
    for (const auto& entry : pageTable(client))
        pages += entry.id;
    if (!page.isEmpty() && !pages.contains(page))
        return QStringLiteral("there is no page %1; the pages are %2")
            .arg(page, pages.join(QLatin1String(", ")));
    const auto theme = parser.value(QStringLiteral("theme"));
    if (!theme.isEmpty() && theme != QLatin1String("dark") && theme != QLatin1String("light"))
        return QStringLiteral("there is no theme %1; the themes are dark, light").arg(theme);
    return {};
}

} // namespace gb::ui
