// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include "jsonwriter.h"

#include <array>
#include <charconv>
#include <cmath>

namespace gb::rpc {
namespace {

constexpr int maxDepth = 56; // as in serialise.py
constexpr std::size_t maxText = std::size_t{1} << 30U; // an attachment of the worker link
constexpr long longRow = 1024;

struct ListAccess
{
    static Py_ssize_t size(PyObject* list) { return PyList_Size(list); }
    static PyObject* item(PyObject* list, Py_ssize_t at) { return PyList_GetItem(list, at); }
};

struct TupleAccess
{
    static Py_ssize_t size(PyObject* tuple) { return PyTuple_Size(tuple); }
    static PyObject* item(PyObject* tuple, Py_ssize_t at) { return PyTuple_GetItem(tuple, at); }
};

// Other threads run while the GIL is given up, and may drop what a container lent us.
class Held
{
public:
    explicit Held(PyObject* object) : m_object(object) { Py_INCREF(object); }
    ~Held() { Py_DECREF(m_object); }
    Held(const Held&) = delete;
    Held& operator=(const Held&) = delete;

private:
    PyObject* m_object;
};

} // namespace

bool JsonWriter::write(PyObject* value)
{
    m_text.clear();
    return writeInside(value, 0);
}

bool JsonWriter::writeInside(PyObject* value, int depth)
{
    bool known = true;
    const bool written = writeScalar(value, known);
    if (known)
        return written;
    if (depth > maxDepth || m_text.size() > maxText)
        return false;
    const Held held(value);
    if (PyList_CheckExact(value))
        return writeSequence<ListAccess>(value, depth + 1);
    if (PyTuple_CheckExact(value))
        return writeSequence<TupleAccess>(value, depth + 1);
    return PyDict_CheckExact(value) && writeDict(value, depth + 1);
}

bool JsonWriter::writeScalar(PyObject* value, bool& known)
{
    if (PyFloat_CheckExact(value)) {
        const double number = PyFloat_AsDouble(value);
        if (!std::isfinite(number))
            return false;
        appendDouble(number);
    } else if (PyLong_CheckExact(value)) {
        return writeInteger(value);
    } else if (PyUnicode_CheckExact(value)) {
        return writeString(value);
    } else if (value == Py_None) {
        m_text += "null";
    } else if (value == Py_True || value == Py_False) {
        m_text += value == Py_True ? "true" : "false";
    } else {
        known = false;
    }
    return true;
}

bool JsonWriter::writeInteger(PyObject* value)
{
    std::array<char, 24> text;
    int overflow = 0;
    const long long number = PyLong_AsLongLongAndOverflow(value, &overflow);
    std::to_chars_result written{};
    if (overflow == 0) {
        written = std::to_chars(text.data(), text.data() + text.size(), number);
    } else if (overflow > 0) {
        const unsigned long long large = PyLong_AsUnsignedLongLong(value);
        if (PyErr_Occurred()) {
            PyErr_Clear();
            return false;
        }
        written = std::to_chars(text.data(), text.data() + text.size(), large);
    } else {
        return false;
    }
    m_text.append(text.data(), written.ptr);
    return true;
}

bool JsonWriter::writeString(PyObject* value)
{
    PyObject* bytes = PyUnicode_AsUTF8String(value);
    if (!bytes) { // half of a surrogate pair
        PyErr_Clear();
        return false;
    }
    appendQuoted({PyBytes_AsString(bytes), static_cast<std::size_t>(PyBytes_Size(bytes))});
    Py_DECREF(bytes);
    return true;
}

bool JsonWriter::writeDict(PyObject* dict, int depth)
{
    PyObject* key = nullptr;
    PyObject* value = nullptr;
    Py_ssize_t at = 0;
    bool first = true;
    m_text += '{';
    while (PyDict_Next(dict, &at, &key, &value)) {
        if (!PyUnicode_CheckExact(key))
            return false;
        if (!first)
            m_text += ',';
        first = false;
        const std::size_t start = m_text.size();
        const Held held(value);
        if (!writeString(key) || m_text[start + 1] == '$')
            return false;
        m_text += ':';
        if (!writeInside(value, depth))
            return false;
    }
    m_text += '}';
    return true;
}

template <typename Sequence>
bool JsonWriter::writeSequence(PyObject* sequence, int depth)
{
    const Py_ssize_t size = Sequence::size(sequence);
    if (size >= longRow && gatherDoubles<Sequence>(sequence, size))
        return writeDoubles();
    m_text += '[';
    for (Py_ssize_t i = 0; i < Sequence::size(sequence); ++i) {
        if (i > 0)
            m_text += ',';
        PyObject* item = Sequence::item(sequence, i);
        bool known = true;
        if (!(writeScalar(item, known) && (known || writeInside(item, depth))))
            return false;
    }
    m_text += ']';
    return true;
}

template <typename Sequence>
bool JsonWriter::gatherDoubles(PyObject* sequence, long size)
{
    m_doubles.resize(static_cast<std::size_t>(size));
    for (long i = 0; i < size; ++i) {
        PyObject* item = Sequence::item(sequence, i);
        if (!PyFloat_CheckExact(item))
            return false;
        m_doubles[static_cast<std::size_t>(i)] = PyFloat_AsDouble(item);
    }
    return true;
}

bool JsonWriter::writeDoubles()
{
    PyThreadState* state = PyEval_SaveThread();
    bool finite = true;
    try {
        constexpr std::size_t roughly = 20;
        m_text.reserve(m_text.size() + m_doubles.size() * roughly);
        m_text += '[';
        for (const double number : m_doubles) {
            finite = finite && std::isfinite(number);
            if (!finite)
                break;
            appendDouble(number);
            m_text += ',';
        }
        m_text.back() = ']';
    } catch (...) {
        PyEval_RestoreThread(state);
        throw;
    }
    PyEval_RestoreThread(state);
    return finite;
}

void JsonWriter::appendDouble(double value)
{
    // Python's own choice between 0.0001 and 1e-05, so that a text does not tell who wrote it.
    constexpr double smallest = 1e-4;
    constexpr double largest = 1e16;
    const double size = std::fabs(value);
    const bool fixed = size == 0 || (size >= smallest && size < largest);
    std::array<char, 40> text;
    auto [end, error] = std::to_chars(text.data(), text.data() + text.size() - 2, value,
        fixed ? std::chars_format::fixed : std::chars_format::scientific);
    if (fixed && value == std::trunc(value)) {
        *end++ = '.';
        *end++ = '0';
    }
    m_text.append(text.data(), end);
}

void JsonWriter::appendQuoted(std::string_view text)
{
    constexpr std::string_view names = "btn\1fr"; // of 8 to 13; 11 has none
    constexpr std::string_view digits = "0123456789abcdef";
    m_text += '"';
    std::size_t done = 0;
    for (std::size_t i = 0; i < text.size(); ++i) {
        const auto byte = static_cast<unsigned char>(text[i]);
        if (byte >= 0x20 && byte != '"' && byte != '\\')
            continue;
        m_text.append(text, done, i - done);
        done = i + 1;
        m_text += '\\';
        if (byte >= 0x20) {
            m_text += text[i];
        } else if (byte == '\b' || byte == '\t' || byte == '\n' || byte == '\f' || byte == '\r') {
            m_text += names[byte - 8U];
        } else {
            m_text += "u00";
            m_text += digits[byte >> 4U];
            m_text += digits[byte & 15U];
        }
    }
    m_text.append(text, done);
    m_text += '"';
}

} // namespace gb::rpc
