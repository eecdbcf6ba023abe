// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <string>
#include <vector>

#include <backend/base/json.h>

namespace gb::rpc {

// One parameter of an exposed function as its schema tells it.
struct Parameter
{
    enum class Kind { PositionalOnly, PositionalOrKeyword, VarPositional, KeywordOnly, VarKeyword };

    std::string name;
    Kind kind = Kind::PositionalOrKeyword;
    std::string annotation;
    std::string description;
    bool hasDefault = false;
    bool defaultIsJson = false;
    Json defaultValue;
    std::string defaultText; // repr() on the host
};

// One exposed function. Parameters stand in an order Python accepts, whatever order they came in.
struct Function
{
    std::string name;
    std::string doc;
    std::string summary;
    std::string signature;
    std::string returns; // annotation, from the signature
    bool generator = false;
    bool readOnly = false;
    std::vector<Parameter> parameters;
    Json inputSchema;
    Json outputSchema;

    bool takes(Parameter::Kind kind) const;
};

// The functions of a schema; only those named when any are. An unknown name is an error.
Result<std::vector<Function>> functionsOf(const Json& schema, const std::vector<std::string>& only = {});

} // namespace gb::rpc
