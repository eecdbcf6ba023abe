// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

#include "problemtext.h"

#include <utility>

#include <QLabel>
#include <QRegularExpression>

#include <widgets/controls/errortext.h>
#include <widgets/controls/labels.h>

#include "text.h"

namespace gb::ui {
namespace {

QString inQuotes(const QString& text)
{
    return FormsText::tr("“%1”").arg(text);
}

// Keys stand in backticks, values in straight quotes.
QString inTheFormsWords(const QString& text, const FieldTitles& titles)
{
    static const QRegularExpression quoted(QStringLiteral("`([^`]+)`|\"([^\"]*)\""));
    QString out;
    qsizetype end = 0;
    for (auto at = quoted.globalMatch(text); at.hasNext();) {
        const auto found = at.next();
        out += text.mid(end, found.capturedStart() - end);
        end = found.capturedEnd();
        if (found.capturedLength(1) == 0) {
            out += inQuotes(found.captured(2));
            continue;
        }
        const auto title = titles(found.captured(1));
        out += inQuotes(title.isEmpty() ? found.captured(1) : title);
    }
    return out + text.mid(end);
}

// Says something of a field that it does not name: "is missing".
bool isPredicate(const QString& message)
{
    static const QRegularExpression verb(QStringLiteral("^(is|must|needs|cannot|wraps|exists) "));
    return verb.match(message).hasMatch();
}

} // namespace

QString asSentence(QString clause)
{
    if (clause.isEmpty())
        return clause;
    clause = beginSentence(std::move(clause));
    return QStringLiteral(".?!…").contains(clause.back()) ? clause : clause + QLatin1Char('.');
}

FieldPath fieldPath(const std::string& path)
{
    static const QRegularExpression form(QStringLiteral(R"(^([a-z_]+)(?:\[(\d+)\])?\.?(.*)$)"));
    const auto found = form.match(QString::fromStdString(path));
    if (!found.hasMatch())
        return {path, -1, {}};
    return {found.captured(1).toStdString(), found.captured(2).isEmpty() ? -1 : found.captured(2).toInt(),
        found.captured(3)};
}

QString problemSentences(const SpecProblem& problem, const QString& subject, const FieldTitles& titles)
{
    auto message = QString::fromStdString(problem.message);
    const auto field = QString::fromStdString(problem.field);
    const auto fix = QString::fromStdString(problem.fix);
    // An error's message is whole in itself: it begins with the field and ends with the fix.
    if (!field.isEmpty() && message.startsWith(field + QLatin1String(": ")))
        message.remove(0, field.size() + 2);
    if (!fix.isEmpty() && message.endsWith(QLatin1String("; ") + fix))
        message.chop(fix.size() + 2);
    if (isPredicate(message) && !subject.isEmpty())
        message = inQuotes(subject) + QLatin1Char(' ') + inTheFormsWords(message, titles);
    else
        message = inTheFormsWords(message, titles);
    const auto first = asSentence(message);
    return fix.isEmpty() ? first : first + QLatin1Char(' ') + asSentence(inTheFormsWords(fix, titles));
}

QLabel* makeComplaint()
{
    auto* complaint = makeLabel({}, TextRole::Error);
    complaint->setWordWrap(true);
    QSizePolicy policy(QSizePolicy::Ignored, QSizePolicy::Preferred);
    policy.setHeightForWidth(true);
    complaint->setSizePolicy(policy);
    complaint->hide();
    return complaint;
}

void showComplaint(QLabel* complaint, const QString& text)
{
    static const QRegularExpression longWord(QStringLiteral("(\\S{24})(?=\\S)"));
    auto shown = text;
    shown.replace(longWord, QStringLiteral("\\1") + QChar(0x200B));
    if (shown != complaint->text())
        complaint->setText(shown);
    complaint->setVisible(!text.isEmpty());
}

} // namespace gb::ui
