// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

#include "modelrow.h"

#include <algorithm>

#include <QHash>

#include <widgets/itemmodels/fields.h>

#include "text.h"

namespace gb::ui {
namespace {

template <typename Visit>
void visitArray(const Json& object, const char* key, Visit visit)
{
    const auto found = object.find(key);
    if (found != object.end() && found->is_array())
        for (const auto& entry : *found)
            if (entry.is_object())
                visit(entry);
}

} // namespace

ModelRow ModelRow::fromDownload(const Json& item)
{
    ModelRow row;
    row.download = row.key = textField(item, "id");
    row.repo = textField(item, "repo");
    row.revision = textField(item, "revision");
    row.state = textField(item, "state");
    row.since = timeField(item, "since");
    row.addedAt = timeField(item, "added_at");
    row.size = integerOr(item, "total", -1);
    row.done = integerOr(item, "done");
    row.rate = numberOr(item, "rate", -1);
    row.remainingSeconds = numberOr(item, "remaining_s", -1);
    if (item.contains("reason"))
        row.reason = item.at("reason");
    else if (item.contains("trouble"))
        row.reason = item.at("trouble");
    const auto parts = item.find("parts");
    const bool several = parts != item.end() && parts->is_array() && parts->size() > 1;
    visitArray(item, "parts", [&](const Json& part) {
        // An adapter and its base are one row with two parts.
        const auto prefix = several ? textField(part, "repo") + QStringLiteral(": ") : QString();
        visitArray(part, "files", [&](const Json& file) {
            row.files.push_back({prefix + textField(file, "path"), textField(file, "state"),
                integerOr(file, "size"), integerOr(file, "done")});
        });
    });
    return row;
}

ModelRow ModelRow::fromCache(const Json& model)
{
    ModelRow row;
    row.repo = textField(model, "repo");
    row.key = QStringLiteral("cache:") + row.repo;
    row.onDisk = integerOr(model, "bytes");
    row.lastUsed = timeField(model, "last_used");
    row.size = row.onDisk;
    row.state = QStringLiteral("incomplete");
    const Json* shown = nullptr;
    visitArray(model, "revisions", [&](const Json& revision) {
        const bool complete = boolOr(revision, "complete");
        if (complete)
            row.state = QStringLiteral("cached");
        if (!shown || (complete && !boolOr(*shown, "complete")))
            shown = &revision;
    });
    if (!shown)
        return row;
    visitArray(*shown, "files", [&](const Json& file) {
        const auto size = integerOr(file, "size");
        row.files.push_back({textField(file, "path"), QStringLiteral("cached"), size, size});
    });
    const auto missing = shown->find("missing");
    if (missing != shown->end() && missing->is_array())
        for (const auto& path : *missing)
            if (path.is_string())
                row.files.push_back(
                    {QString::fromStdString(path.get<std::string>()), QStringLiteral("missing"), 0, 0});
    return row;
}

QString ModelRow::name() const
{
    const bool usual = revision.isEmpty() || revision == QLatin1String("main");
    return usual ? repo : repo + QLatin1Char('@') + revision;
}

QString ModelRow::spoken() const
{
    return name();
}

QString ModelRow::stateText() const
{
    static const QHash<QString, QString> words = {{QStringLiteral("queued"), ModelsText::tr("queued")},
        {QStringLiteral("resolving"), ModelsText::tr("looking it up")},
        {QStringLiteral("downloading"), ModelsText::tr("downloading")},
        {QStringLiteral("verifying"), ModelsText::tr("verifying")},
        {QStringLiteral("ready"), ModelsText::tr("ready")},
        {QStringLiteral("waiting_access"), ModelsText::tr("needs access")},
        {QStringLiteral("stalled"), ModelsText::tr("stalled")},
        {QStringLiteral("paused"), ModelsText::tr("paused")},
        {QStringLiteral("failed"), ModelsText::tr("failed")},
        {QStringLiteral("cached"), ModelsText::tr("cached")},
        {QStringLiteral("incomplete"), ModelsText::tr("incomplete")}};
    return words.value(state, state);
}

Tone ModelRow::tone() const
{
    static const QHash<QString, Tone> tones = {{QStringLiteral("queued"), Tone::Info},
        {QStringLiteral("resolving"), Tone::Info}, {QStringLiteral("downloading"), Tone::Accent},
        {QStringLiteral("verifying"), Tone::Accent}, {QStringLiteral("ready"), Tone::Success},
        {QStringLiteral("cached"), Tone::Success}, {QStringLiteral("waiting_access"), Tone::Warning},
        {QStringLiteral("stalled"), Tone::Warning}, {QStringLiteral("incomplete"), Tone::Warning},
        {QStringLiteral("failed"), Tone::Error}};
    return tones.value(state, Tone::Neutral);
}

bool ModelRow::isUnderWay() const
{
    static const QStringList states = {QStringLiteral("queued"), QStringLiteral("resolving"),
        QStringLiteral("downloading"), QStringLiteral("verifying"), QStringLiteral("stalled")};
    return states.contains(state);
}

bool ModelRow::canResume() const
{
    return state == QLatin1String("paused") || state == QLatin1String("failed")
        || state == QLatin1String("waiting_access");
}

QString fileStateText(const QString& state)
{
    static const QHash<QString, QString> words = {{QStringLiteral("waiting"), ModelsText::tr("waiting")},
        {QStringLiteral("downloading"), ModelsText::tr("downloading")},
        {QStringLiteral("verifying"), ModelsText::tr("verifying")},
        {QStringLiteral("locked"), ModelsText::tr("somebody else fetches it")},
        {QStringLiteral("ready"), ModelsText::tr("ready")},
        {QStringLiteral("cached"), ModelsText::tr("cached")},
        {QStringLiteral("missing"), ModelsText::tr("missing")},
        {QStringLiteral("failed"), ModelsText::tr("failed")}};
    return words.value(state, state);
}

std::int64_t looseBytes(const Json& model)
{
    std::int64_t bytes = 0;
    for (const char* kind : {"orphans", "partials"})
        visitArray(model, kind, [&](const Json& blob) { bytes += integerOr(blob, "allocated"); });
    return bytes;
}

} // namespace gb::ui
