// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

#include "packages.h"

#include <QProcess>
#include <QRegularExpression>

#include <widgets/itemmodels/fields.h>

namespace gb::ui {
namespace {

constexpr qsizetype longestPaste = 200'000;

void takeRequirement(const QString& text, PastedPackages& out)
{
    if (text.isEmpty())
        return;
    auto& list = text.startsWith(QLatin1Char('-')) ? out.leftOut : out.packages;
    if (!list.contains(text))
        list += text;
}

void takeCommand(const QString& arguments, PastedPackages& out)
{
    static const QStringList withValue{QStringLiteral("-r"), QStringLiteral("--requirement"),
        QStringLiteral("-c"), QStringLiteral("--constraint"), QStringLiteral("-e"),
        QStringLiteral("--editable"), QStringLiteral("-i"), QStringLiteral("--index-url"),
        QStringLiteral("--extra-index-url"), QStringLiteral("-f"), QStringLiteral("--find-links"),
        QStringLiteral("-t"), QStringLiteral("--target"), QStringLiteral("--python")};
    auto words = arguments;
    words.replace(QLatin1Char('\''), QLatin1Char('"'));
    const auto parts = QProcess::splitCommand(words);
    for (qsizetype i = 0; i < parts.size(); ++i) {
        if (withValue.contains(parts[i]) && i + 1 < parts.size()) {
            out.leftOut += parts[i] + QLatin1Char(' ') + parts[i + 1];
            ++i;
        } else {
            takeRequirement(parts[i], out);
        }
    }
}

void takeLine(const QString& given, PastedPackages& out)
{
    static const QRegularExpression comment(QStringLiteral(R"((^|\s)#.*$)"));
    static const QRegularExpression command(QStringLiteral(
        R"(^\s*[!%$]?\s*(?:[\w./-]*python[\d.]*\s+-m\s+)?(?:uv\s+)?pip[\d.]*\s+install\s+(.*)$)"));
    static const QRegularExpression add(QStringLiteral(R"(^\s*(?:uv|poetry)\s+add\s+(.*)$)"));
    // " --hash=…" and " ; marker" belong to a requirement; the hashes are of one platform and are dropped.
    static const QRegularExpression hashes(QStringLiteral(R"(\s+--hash=\S+)"));
    auto line = given;
    line.remove(comment);
    for (const auto* pattern : {&command, &add})
        if (const auto found = pattern->match(line); found.hasMatch())
            return takeCommand(found.captured(1), out);
    line.remove(hashes);
    // Names one after the other, without any version, are a list.
    static const QRegularExpression names(QStringLiteral(R"(^[\w.\[\]-]+(\s+[\w.\[\]-]+)+$)"));
    static const QRegularExpression pinned(QStringLiteral(R"(^(\S*[=<>~!]=?\S+\s+)+\S*[=<>~!]=?\S+$)"));
    const auto trimmed = line.trimmed();
    if (!trimmed.startsWith(QLatin1Char('-'))
        && (names.match(trimmed).hasMatch() || pinned.match(trimmed).hasMatch()))
        for (const auto& name : trimmed.split(QLatin1Char(' '), Qt::SkipEmptyParts))
            takeRequirement(name, out);
    else
        takeRequirement(trimmed, out);
}

// A list of plain names may have commas between them; after a version or in extras a comma belongs to it.
QStringList cutAtCommas(const QString& line)
{
    static const QRegularExpression belongs(QStringLiteral(R"([=<>~!\[@;"'])"));
    return belongs.match(line).hasMatch() ? QStringList{line} : line.split(QLatin1Char(','));
}

} // namespace

PastedPackages readPackages(const QString& text)
{
    PastedPackages out;
    auto whole = text.left(longestPaste);
    whole.replace(QStringLiteral("\\\n"), QStringLiteral(" "));
    static const QRegularExpression ends(QStringLiteral("[\\r\\n]+"));
    for (const auto& line : whole.split(ends, Qt::SkipEmptyParts))
        for (const auto& part : cutAtCommas(line))
            takeLine(part, out);
    return out;
}

} // namespace gb::ui
