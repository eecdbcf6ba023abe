// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

#include "redact.h"

#include <cctype>
#include <cstdlib>
#include <pwd.h>
#include <unistd.h>

#include <QRegularExpression>

namespace gb::service {
namespace {

void replaceAll(std::string& text, const std::string& what, const std::string& with)
{
    for (auto at = text.find(what); at != std::string::npos; at = text.find(what, at + with.size()))
        text.replace(at, what.size(), with);
}

bool isWordByte(char c)
{
    return std::isalnum(static_cast<unsigned char>(c)) || c == '_' || c == '-';
}

// Only as a word of its own: a person called "run" must not take every "running" apart.
void replaceWord(std::string& text, const std::string& word, const std::string& with)
{
    for (auto at = text.find(word); at != std::string::npos; at = text.find(word, at + 1)) {
        const bool startsWord = at == 0 || !isWordByte(text[at - 1]);
        const bool endsWord = at + word.size() == text.size() || !isWordByte(text[at + word.size()]);
        if (startsWord && endsWord)
            text.replace(at, word.size(), with);
    }
}

// Tokens of services by their beginnings, and whatever is as long and as random as ours.
void hideSecrets(std::string& text)
{
    static const QRegularExpression known(
        QStringLiteral("(hf_|sk-|ghp_|gho_|github_pat_|ak-|as-|AIza|xox[a-z]-)[A-Za-z0-9_\\-]{8,}"));
    static const QRegularExpression bearer(
        QStringLiteral("((Authorization:?\\s*)?(Bearer|Basic)\\s+|Authorization:?\\s*|token=|key=|password=)["
                       "^\\s\"',]{6,}"),
        QRegularExpression::CaseInsensitiveOption);
    static const QRegularExpression url(QStringLiteral("(://)[^/\\s:@]+:[^/\\s@]+@"));
    QString all = QString::fromStdString(text);
    all.replace(known, QStringLiteral("«secret»"));
    all.replace(bearer, QStringLiteral("\\1«secret»"));
    all.replace(url, QStringLiteral("\\1«secret»@"));
    text = all.toStdString();
    std::string hidden;
    for (std::size_t at = 0; at < text.size();) {
        std::size_t end = at;
        while (end < text.size() && isWordByte(text[end]))
            ++end;
        if (end - at >= 40)
            hidden += "«long word»";
        else
            hidden.append(text, at, end - at);
        if (end < text.size())
            hidden += text[end++];
        at = end;
    }
    text = std::move(hidden);
}

} // namespace

std::string redacted(std::string text, const fs::path& dataFolder)
{
    replaceAll(text, dataFolder.string(), "«data folder»");
    hideSecrets(text);
    const passwd* entry = ::getpwuid(::geteuid());
    for (const char* home : {std::getenv("HOME"), entry ? entry->pw_dir : nullptr}) {
        if (home && std::string_view(home).size() > 1)
            replaceAll(text, home, "~");
    }
    if (entry && entry->pw_name)
        replaceWord(text, entry->pw_name, "«user»");
    char host[256] = {};
    if (::gethostname(host, sizeof host - 1) == 0 && host[0] != '\0')
        replaceWord(text, host, "«host»");
    return text;
}

} // namespace gb::service
