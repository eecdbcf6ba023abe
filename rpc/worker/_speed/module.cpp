// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include "jsonwriter.h"

namespace {

// encode(value) -> bytes, or None where the value has no plain text.
PyObject* speedEncode(PyObject*, PyObject* value)
{
    try {
        gb::rpc::JsonWriter writer;
        if (writer.write(value)) {
            const std::string_view text = writer.text();
            return PyBytes_FromStringAndSize(text.data(), static_cast<Py_ssize_t>(text.size()));
        }
    } catch (...) {
        return PyErr_NoMemory(); // nothing else is thrown there
    }
    if (PyErr_Occurred())
        return nullptr;
    Py_RETURN_NONE;
}

PyMethodDef methods[] = {
    {"encode", speedEncode, METH_O, "JSON text of a value of plain types, or None."},
    {nullptr, nullptr, 0, nullptr},
};

PyModuleDef definition = {
    PyModuleDef_HEAD_INIT, "glovebox_speed", nullptr, 0, methods, nullptr, nullptr, nullptr, nullptr};

} // namespace

PyMODINIT_FUNC PyInit_glovebox_speed()
{
    return PyModuleDef_Init(&definition);
}
