// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

#include "language.h"

#include <QCoreApplication>
#include <QLibraryInfo>
#include <QLocale>
#include <QTranslator>

namespace gb::ui {
namespace {

bool installFrom(const QLocale& locale, const QString& stem, const QString& folder)
{
    auto* translator = new QTranslator(QCoreApplication::instance());
    if (translator->load(locale, stem, QStringLiteral("_"), folder))
        return QCoreApplication::installTranslator(translator);
    delete translator;
    return false;
}

} // namespace

bool installLanguage(const QString& name)
{
    const auto folder = QStringLiteral(":/glovebox/translations");
    const QLocale locale = name.isEmpty() ? QLocale() : QLocale(name);
    QLocale::setDefault(locale);
    // English has a file as well: it says how one thing and two things are written.
    installFrom(QLocale(QLocale::English), QStringLiteral("glovebox"), folder);
    installFrom(locale, QStringLiteral("qtbase"), QLibraryInfo::path(QLibraryInfo::TranslationsPath));
    if (locale.language() == QLocale::English)
        return true;
    if (locale.language() == QLocale::C)
        return name.isEmpty() || name == QLatin1String("C");
    return installFrom(locale, QStringLiteral("glovebox"), folder);
}

} // namespace gb::ui
