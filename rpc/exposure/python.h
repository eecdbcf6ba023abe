// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <optional>
#include <set>
#include <string>
#include <string_view>

#include <backend/base/json.h>

namespace gb::rpc {

// Data as Python literals. Whatever the text is, the output is one literal of plain characters: controls,
// bidirectional marks and everything invisible are escaped.
std::string pythonString(std::string_view text);
// The same in triple quotes, lines indented, for a docstring.
std::string pythonDocstring(std::string_view text, std::string_view indent);
// None, True, numbers, strings, lists and dicts; nothing when the value nests too deeply or is too long to
// read.
std::optional<std::string> pythonLiteral(const Json& value);
// Annotations made of built-in types and typing's (`Optional[List[float]]`) as they are; any other text as a
// string.
std::string pythonAnnotation(std::string_view annotation);

// Whether the text is an identifier that Python reads back unchanged, and no keyword.
bool isPythonName(std::string_view text);
// A name like the wanted one that is a valid identifier and not in `taken`; it is added there.
std::string freePythonName(std::string_view wanted, std::set<std::string>& taken);

} // namespace gb::rpc
