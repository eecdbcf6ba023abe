// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

#include "resultexport.h"

#include <algorithm>
#include <bit>
#include <cstring>

#include <QBuffer>
#include <QPainter>
#include <QPixmap>
#include <QSvgGenerator>

#include <backend/base/json.h>

namespace gb::ui {
namespace {

static_assert(std::endian::native == std::endian::little, "both formats are written as the memory is");

struct DtypeWords
{
    const char* ours;
    const char* numpy; // none: it has no such type
    const char* safetensors;
};

constexpr DtypeWords dtypes[] = {{"f64", "<f8", "F64"}, {"f32", "<f4", "F32"}, {"f16", "<f2", "F16"},
    {"bf16", nullptr, "BF16"}, {"i64", "<i8", "I64"}, {"i32", "<i4", "I32"}, {"i16", "<i2", "I16"},
    {"i8", "|i1", "I8"}, {"u64", "<u8", "U64"}, {"u32", "<u4", "U32"}, {"u16", "<u2", "U16"},
    {"u8", "|u1", "U8"}, {"bool", "|b1", "BOOL"}, {"c64", "<c8", "C64"}, {"c128", "<c16", "C128"},
    {"f8_e4m3", nullptr, "F8_E4M3"}, {"f8_e5m2", nullptr, "F8_E5M2"}};

const char* wordFor(const std::string& dtype, const char* DtypeWords::*format)
{
    const auto* found =
        std::ranges::find_if(dtypes, [&](const DtypeWords& one) { return dtype == one.ours; });
    return found == std::end(dtypes) ? nullptr : found->*format;
}

tl::unexpected<Error> noSuchType(const std::string& dtype, const char* format)
{
    return fail("export.dtype", std::string(format) + " has no type " + dtype, Json{{"dtype", dtype}});
}

template <typename Number>
QByteArray bytesOf(const std::vector<Number>& values)
{
    return {
        reinterpret_cast<const char*>(values.data()), static_cast<qsizetype>(values.size() * sizeof(Number))};
}

} // namespace

QByteArray csvOf(const std::vector<double>& vector)
{
    QByteArray csv("index,value\n");
    for (std::size_t i = 0; i < vector.size(); ++i)
        csv += QByteArray::number(static_cast<qulonglong>(i)) + ',' + QByteArray::number(vector[i], 'g', 17)
            + '\n';
    return csv;
}

QByteArray csvOf(const Matrix& matrix)
{
    QByteArray csv;
    for (int row = 0; row < matrix.rows; ++row) {
        for (int column = 0; column < matrix.columns; ++column)
            csv += (column > 0 ? "," : "")
                + QByteArray::number(static_cast<double>(matrix.at(row, column)), 'g', 9);
        csv += '\n';
    }
    return csv;
}

Result<QByteArray> npyFile(
    const std::string& dtype, const std::vector<std::int64_t>& shape, const QByteArray& bytes)
{
    const char* word = wordFor(dtype, &DtypeWords::numpy);
    if (!word)
        return noSuchType(dtype, "numpy");
    QByteArray header = QByteArray("{'descr': '") + word + "', 'fortran_order': False, 'shape': (";
    for (const auto size : shape)
        header += QByteArray::number(static_cast<qlonglong>(size)) + ',';
    header += "), }";
    // The array starts at a multiple of 64; magic, version and length take ten bytes.
    header += QByteArray((64 - (10 + header.size() + 1) % 64) % 64, ' ') + '\n';
    QByteArray file("\x93NUMPY\x01\x00", 8);
    file += static_cast<char>(header.size() & 0xff);
    file += static_cast<char>(header.size() >> 8);
    return file + header + bytes;
}

Result<QByteArray> safetensorsFile(
    const std::string& dtype, const std::vector<std::int64_t>& shape, const QByteArray& bytes)
{
    const char* word = wordFor(dtype, &DtypeWords::safetensors);
    if (!word)
        return noSuchType(dtype, "safetensors");
    std::string header =
        Json{{"tensor",
                 Json{{"dtype", word}, {"shape", shape}, {"data_offsets", Json::array({0, bytes.size()})}}}}
            .dump();
    header.resize((header.size() + 7) / 8 * 8, ' ');
    const auto length = static_cast<std::uint64_t>(header.size());
    QByteArray file(sizeof length, '\0');
    std::memcpy(file.data(), &length, sizeof length);
    return file + QByteArray::fromStdString(header) + bytes;
}

QByteArray npyOf(const std::vector<double>& vector)
{
    return *npyFile("f64", {static_cast<std::int64_t>(vector.size())}, bytesOf(vector));
}

QByteArray npyOf(const Matrix& matrix)
{
    return *npyFile("f32", {matrix.rows, matrix.columns}, bytesOf(matrix.values));
}

QByteArray svgOf(QWidget& widget)
{
    QBuffer buffer;
    buffer.open(QIODevice::WriteOnly);
    QSvgGenerator generator;
    generator.setOutputDevice(&buffer);
    generator.setSize(widget.size());
    generator.setViewBox(widget.rect());
    QPainter painter(&generator);
    widget.render(&painter);
    painter.end();
    return buffer.data();
}

QByteArray pngOf(QWidget& widget)
{
    QBuffer buffer;
    buffer.open(QIODevice::WriteOnly);
    widget.grab().save(&buffer, "PNG");
    return buffer.data();
}

} // namespace gb::ui
