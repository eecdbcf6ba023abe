// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <string>
#include <string_view>
#include <vector>

using PyObject = struct _object;

namespace gb::rpc {

// Writes a value of plain JSON types as the worker's own encoder would: every double in the shortest text
// that reads back to the same bits. What it has no plain text for (NaN, a whole number beyond 64 bits, a key
// that starts with $, any other type) ends it, and the worker takes its long way, which knows forms and
// errors.
class JsonWriter
{
public:
    // Needs the GIL, which is given up while long rows of numbers are written.
    bool write(PyObject* value);
    std::string_view text() const { return m_text; }

private:
    bool writeInside(PyObject* value, int depth);
    bool writeScalar(PyObject* value, bool& known);
    bool writeInteger(PyObject* value);
    bool writeString(PyObject* value);
    bool writeDict(PyObject* dict, int depth);
    template <typename Sequence>
    bool writeSequence(PyObject* sequence, int depth);
    template <typename Sequence>
    bool gatherDoubles(PyObject* sequence, long size);
    bool writeDoubles();
    void appendDouble(double value);
    void appendQuoted(std::string_view text);

    std::string m_text;
    std::vector<double> m_doubles;
};

} // namespace gb::rpc
