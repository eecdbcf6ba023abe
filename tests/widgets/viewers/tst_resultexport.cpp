// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

#include <cstring>

#include <QFile>
#include <QTemporaryDir>
#include <QTest>

#include <backend/base/json.h>
#include <widgets/viewers/resultexport.h>
#include <widgets/viewers/resultview.h>

using namespace gb;
using namespace gb::ui;
using Form = ResultView::Form;

class ResultExportTest : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void numpyFiles();
    void safetensorsFiles();
    void typesAFormatLacks();
    void everyFormCanBeSaved_data();
    void everyFormCanBeSaved();
    void tensorsComeWhole();
    void whatCannotBeWrittenIsSaid();
};

namespace {

QByteArray saved(ResultView& view, const QString& path)
{
    QString problem = QStringLiteral("nothing was said");
    view.saveAs(path, [&problem](const QString& said) { problem = said; });
    if (!QTest::qWaitFor([&] { return problem != QLatin1String("nothing was said"); }, 10'000)
        || !problem.isEmpty())
        return problem.toUtf8();
    QFile file(path);
    return file.open(QIODevice::ReadOnly) ? file.readAll() : QByteArray();
}

} // namespace

void ResultExportTest::numpyFiles()
{
    const auto file = npyOf(std::vector<double>{1.5, -2, 1e300});
    QVERIFY(file.startsWith(QByteArray("\x93NUMPY\x01\x00", 8)));
    const int header = static_cast<unsigned char>(file[8]) + 256 * static_cast<unsigned char>(file[9]);
    QCOMPARE((10 + header) % 64, 0);
    QVERIFY(file.mid(10, header).startsWith("{'descr': '<f8', 'fortran_order': False, 'shape': (3,), }"));
    QCOMPARE(file[10 + header - 1], '\n');
    double last = 0;
    std::memcpy(&last, file.constData() + file.size() - sizeof last, sizeof last);
    QCOMPARE(last, 1e300);
    // A scalar has an empty shape.
    QVERIFY(npyFile("i8", {}, QByteArray(1, '\x07'))->contains("'shape': (), }"));
}

void ResultExportTest::safetensorsFiles()
{
    const auto file = *safetensorsFile("bf16", {2, 3}, QByteArray(12, 'x'));
    std::uint64_t length = 0;
    std::memcpy(&length, file.constData(), sizeof length);
    QCOMPARE(length % 8, 0U);
    const auto header = parseJson(file.mid(8, static_cast<int>(length)).toStdString());
    QVERIFY(header.has_value());
    QVERIFY((*header)["tensor"] == Json({{"dtype", "BF16"}, {"shape", {2, 3}}, {"data_offsets", {0, 12}}}));
    QCOMPARE(file.size(), 8 + static_cast<qsizetype>(length) + 12);
}

void ResultExportTest::typesAFormatLacks()
{
    QVERIFY(!npyFile("bf16", {1}, QByteArray(2, 'x')));
    QVERIFY(!safetensorsFile("object", {1}, QByteArray(8, 'x')));
}

void ResultExportTest::everyFormCanBeSaved_data()
{
    QTest::addColumn<QString>("text");
    QTest::addColumn<int>("form");
    QTest::addColumn<QString>("ending");
    QTest::addColumn<QByteArray>("start");
    const auto row = [](const char* name, const char* text, Form form, const char* ending,
                         const QByteArray& start) {
        QTest::newRow(name) << QString::fromUtf8(text) << int(form) << QString::fromUtf8(ending) << start;
    };
    const char* vector = "[1.5, -2, 3, 4, 5, 6, 7, 8, 9]";
    const char* matrix = R"({"kind":"matrix","data":[[1,2],[3,4.5]]})";
    row("vector csv", vector, Form::Vector, "csv", "index,value\n0,1.5\n1,-2\n");
    row("vector npy", vector, Form::Vector, "npy", "\x93NUMPY");
    row("vector png", vector, Form::Vector, "png", "\x89PNG");
    row("vector svg", vector, Form::Vector, "svg", "<?xml");
    row("matrix csv", matrix, Form::Matrix, "csv", "1,2\n3,4.5\n");
    row("matrix npy", matrix, Form::Matrix, "npy", "\x93NUMPY");
    row("table csv", R"([{"a":1,"b":"x"},{"a":2,"b":"y"}])", Form::Table, "csv", "a,b\n1,x\n");
    row("tree json", R"({"a": 1})", Form::Tree, "json", R"({"a": 1})");
    row("tree never as npy", R"({"a": 1})", Form::Tree, "npy", R"({"a": 1})");
    row("tokens svg", R"({"kind":"tokens","tokens":[{"text":"a","score":0.1},{"text":"b"}]})", Form::Tokens,
        "svg", "<?xml");
}

void ResultExportTest::everyFormCanBeSaved()
{
    QFETCH(const QString, text);
    QFETCH(const int, form);
    QFETCH(const QString, ending);
    QFETCH(const QByteArray, start);
    const QTemporaryDir folder;
    ResultView view;
    view.resize(500, 300);
    view.setResult(text.toStdString());
    view.setForm(static_cast<Form>(form));
    QCOMPARE(int(view.form()), form);
    const auto file = saved(view, folder.filePath(QStringLiteral("result.") + ending));
    QVERIFY2(file.startsWith(start), file.left(200).constData());
}

void ResultExportTest::tensorsComeWhole()
{
    const QTemporaryDir folder;
    ResultView view;
    Json asked;
    view.setFetch([&asked](const Json& wanted, const api::AnswerHandler& handler) {
        asked = wanted;
        if (stringOr(wanted, "what") == "slice")
            handler(api::Answer{Json{{"dtype", "f32"}, {"shape", {2, 2}}}, std::string(16, 'x')});
        else
            handler(fail("handle_gone", "gone"));
    });
    view.setResult(R"({"$gb":"tensor","handle":"t1","dtype":"f32","shape":[2,2]})");
    const auto npy = saved(view, folder.filePath(QStringLiteral("t.npy")));
    QVERIFY(stringOr(asked, "what") == "slice" && !asked.contains("slice"));
    QVERIFY(npy.contains("'shape': (2,2,)") && npy.endsWith(QByteArray(16, 'x')));
    QVERIFY(saved(view, folder.filePath(QStringLiteral("t.safetensors"))).contains("\"F32\""));
}

void ResultExportTest::whatCannotBeWrittenIsSaid()
{
    ResultView view;
    view.setResult("[1,2]");
    const auto said = saved(view, QStringLiteral("/nowhere/at/all.json"));
    QVERIFY2(said.startsWith("/nowhere/at/all.json: "), said.constData());
}

QTEST_MAIN(ResultExportTest)
#include "tst_resultexport.moc"
