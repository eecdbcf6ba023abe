// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

#include "lookstore.h"

#include <QDir>
#include <QSettings>

#include "splitter.h"

namespace gb::ui {
namespace {

template <typename Enum>
Enum stored(const char* key, Enum last)
{
    const auto value = remembered().value(QLatin1String(key)).toInt();
    return value >= 0 && value <= static_cast<int>(last) ? static_cast<Enum>(value) : Enum();
}

} // namespace

Look rememberedLook()
{
    Look look;
    look.scheme = stored("look/scheme", Scheme::Dark);
    look.accent = stored("look/accent", Accent::Violet);
    look.density = stored("look/density", Density::Dense);
    look.fontPercent = qBound(80, remembered().value(QStringLiteral("look/font_percent"), 100).toInt(), 160);
    look.reducedMotion = remembered().value(QStringLiteral("look/reduced_motion")).toBool();
    return look;
}

void rememberLook(const Look& look)
{
    auto& store = remembered();
    store.setValue(QStringLiteral("look/scheme"), static_cast<int>(look.scheme));
    store.setValue(QStringLiteral("look/accent"), static_cast<int>(look.accent));
    store.setValue(QStringLiteral("look/density"), static_cast<int>(look.density));
    store.setValue(QStringLiteral("look/font_percent"), look.fontPercent);
    store.setValue(QStringLiteral("look/reduced_motion"), look.reducedMotion);
}

QString rememberedLanguage()
{
    return remembered().value(QStringLiteral("look/language")).toString();
}

void rememberLanguage(const QString& name)
{
    remembered().setValue(QStringLiteral("look/language"), name);
}

QStringList translatedLanguages()
{
    static const auto stem = QStringLiteral("glovebox_");
    QStringList names;
    for (const auto& file :
        QDir(QStringLiteral(":/glovebox/translations")).entryList(QDir::Files, QDir::Name))
        if (file.startsWith(stem) && file.endsWith(QStringLiteral(".qm")))
            names += file.mid(stem.size()).chopped(3);
    return names;
}

} // namespace gb::ui
