// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

#include "tensorfield.h"

#include <QStringList>

#include <widgets/controls/numbers.h>
#include <widgets/itemmodels/fields.h>

#include "jsonslice.h"
#include "text.h"

namespace gb::ui {
namespace {

constexpr int handleDepth = 3;
constexpr std::size_t handleMembers = 64; // looked at in each object or list
constexpr std::size_t handlesMost = 100;
constexpr std::size_t handleText = 4096;

struct HandleSearch
{
    std::string_view json;
    QString kind;
    std::vector<HandleField> found;

    void look(const JsonSlice& at, const QString& path, int depth)
    {
        const auto type = jsonKind(json, at);
        if ((type != JsonKind::Object && type != JsonKind::Array) || found.size() >= handlesMost)
            return;
        if (const auto gb = jsonMember(json, at, "$gb")) {
            if (jsonString(json, *gb) == kind)
                take(at, path);
            return;
        }
        if (depth == 0)
            return;
        int number = 0;
        for (const auto& child : jsonChildren(json, at, handleMembers)) {
            look(child,
                path
                    + (type == JsonKind::Array ? QStringLiteral("[%1]").arg(number)
                                               : QLatin1Char('.') + jsonKey(json, child)),
                depth - 1);
            ++number;
        }
    }
    void take(const JsonSlice& at, const QString& path)
    {
        const auto text = jsonBytes(json, at);
        const auto object = text.size() <= handleText ? parseJson(text) : Result<Json>(fail("large", ""));
        if (!object || !object->is_object() || stringOr(*object, "handle").empty())
            return;
        HandleField field{path, textField(*object, "handle"), textField(*object, "dtype"), {},
            objectOr(*object, "stats"), numberOr(*object, "bytes")};
        const auto shape = object->find("shape");
        if (shape != object->end() && shape->is_array())
            for (const auto& side : *shape)
                field.shape.push_back(side.is_number_integer() ? side.get<std::int64_t>() : 0);
        found.push_back(std::move(field));
    }
};

} // namespace

std::vector<HandleField> findHandles(std::string_view json, std::string_view kind)
{
    HandleSearch search{json, QString::fromUtf8(kind.data(), static_cast<qsizetype>(kind.size())), {}};
    search.look(wholeJson(json), QStringLiteral("$"), handleDepth);
    return std::move(search.found);
}

QString shapeText(const std::vector<std::int64_t>& shape)
{
    QStringList sides;
    for (const auto side : shape)
        sides += countText(side);
    return sides.isEmpty() ? ViewersText::tr("one number") : sides.join(QStringLiteral(" × "));
}

QString tensorStatistics(const HandleField& tensor, const Json& stats)
{
    auto text =
        QStringLiteral("%1 · %2 · %3").arg(tensor.dtype, shapeText(tensor.shape), bytesText(tensor.bytes));
    if (!stats.is_object() || stats.empty())
        return text;
    const auto number = [&stats](const char* key) { return QString::number(numberOr(stats, key), 'g', 5); };
    text += ViewersText::tr(" · min %1 · max %2 · mean %3 · std %4")
                .arg(number("min"), number("max"), number("mean"), number("std"));
    const auto odd = integerOr(stats, "nan") + integerOr(stats, "inf");
    if (odd > 0)
        text += ViewersText::tr(" · %1 not finite").arg(countText(odd));
    return text;
}

} // namespace gb::ui
