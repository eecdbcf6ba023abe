// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <optional>
#include <string>
#include <vector>

#include <backend/base/json.h>

namespace gb::ui {

// What a form needs to know of one place in a JSON Schema. Schemas come from programs we do not know:
// whatever is odd becomes Any, which is edited as JSON.
struct SchemaNode
{
    enum class Kind { Text, Integer, Number, Boolean, Null, Choice, List, Object, Union, Any };

    Kind kind = Kind::Any;
    Json json = Json::object(); // resolved
    std::vector<Json> choices; // of Choice: values; of Union: schemas
};

// What references point into, and how many fields a form may still make: a schema that refers to itself many
// times would otherwise grow without end.
struct SchemaRoot
{
    Json json;
    mutable int fieldsLeft = 1000;

    operator const Json&() const { return json; } // NOLINT: stands for its text
};

// References are followed inside `root` only, at most a few in a row.
SchemaNode readSchema(const Json& schema, const Json& root);
// What a person calls it: "text", "list of number", "number or null".
std::string schemaName(const Json& schema, const Json& root, int depth = 0);
// A value to begin with: the default, the first choice, an empty one of the kind.
Json initialValue(const Json& schema, const Json& root);
bool fitsSchema(const Json& value, const Json& schema, const Json& root);

} // namespace gb::ui
