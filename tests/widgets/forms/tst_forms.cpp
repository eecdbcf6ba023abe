// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

#include <QAbstractButton>
#include <QClipboard>
#include <QComboBox>
#include <QGuiApplication>
#include <QLabel>
#include <QLineEdit>
#include <QPlainTextEdit>
#include <QTest>

#include <tests/support/picture.h>
#include <widgets/controls/theme.h>
#include <widgets/forms/argumentform.h>
#include <widgets/forms/nestedfields.h>

using namespace gb;
using namespace gb::ui;

class FormsTest : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void everyKindKeepsItsValue_data();
    void everyKindKeepsItsValue();
    void absentStaysAbsent();
    void nullIsSaidOnce();
    void unknownKeysSurvive();
    void jsonAndFormStayInStep();
    void problemsAreNamed();
    void listsAreOrderedAndPasted();
    void hostileSchemasEnd_data();
    void hostileSchemasEnd();
    void picture();

private:
    static Json schemaOf(const Json& property);
};

Json FormsTest::schemaOf(const Json& property)
{
    return {{"type", "object"}, {"properties", {{"x", property}}}};
}

void FormsTest::everyKindKeepsItsValue_data()
{
    QTest::addColumn<QByteArray>("schema");
    QTest::addColumn<QByteArray>("value");
    QTest::newRow("text") << QByteArray(R"({"type": "string"})") << QByteArray(R"("a b")");
    QTest::newRow("lines") << QByteArray(R"({"type": "string"})") << QByteArray(R"("a\nb\n")");
    QTest::newRow("integer") << QByteArray(R"({"type": "integer"})") << QByteArray("9007199254740993");
    QTest::newRow("number") << QByteArray(R"({"type": "number"})") << QByteArray("0.1");
    QTest::newRow("range") << QByteArray(R"({"type": "number", "minimum": 0, "maximum": 1})")
                           << QByteArray("0.123");
    QTest::newRow("boolean") << QByteArray(R"({"type": "boolean"})") << QByteArray("true");
    QTest::newRow("choice") << QByteArray(R"({"enum": ["en", "de", 3]})") << QByteArray("3");
    QTest::newRow("not a choice") << QByteArray(R"({"enum": ["en"]})") << QByteArray(R"("fr")");
    QTest::newRow("list") << QByteArray(R"({"type": "array", "items": {"type": "number"}})")
                          << QByteArray("[1,2.5]");
    QTest::newRow("optional null") << QByteArray(R"({"anyOf": [{"type": "string"}, {"type": "null"}]})")
                                   << QByteArray("null");
    QTest::newRow("optional value") << QByteArray(R"({"anyOf": [{"type": "null"}, {"type": "string"}]})")
                                    << QByteArray(R"("v")");
    QTest::newRow("types") << QByteArray(R"({"type": ["integer", "string"]})") << QByteArray(R"("s")");
    QTest::newRow("nested") << QByteArray(
        R"({"type": "object", "properties": {"a": {"type": "object", "properties": {"b": {"type": "integer"}}}}})")
                            << QByteArray(R"({"a":{"b":2}})");
    QTest::newRow("anything") << QByteArray("{}") << QByteArray(R"({"$gb":"nan"})");
    QTest::newRow("wrong kind") << QByteArray(R"({"type": "string"})") << QByteArray(R"("12")");
}

void FormsTest::everyKindKeepsItsValue()
{
    QFETCH(const QByteArray, schema);
    QFETCH(const QByteArray, value);
    ArgumentForm form;
    form.setSchema(schemaOf(Json::parse(schema.toStdString())));
    form.setArguments({{"x", Json::parse(value.toStdString())}});
    const auto arguments = form.arguments();
    QVERIFY2(arguments, arguments ? "" : arguments.error().message.c_str());
    QCOMPARE(QByteArray::fromStdString((*arguments)["x"].dump()), value);
}

void FormsTest::nullIsSaidOnce()
{
    ArgumentForm form;
    form.setSchema(schemaOf(Json::parse(R"({"anyOf": [{"type": "integer"}, {"type": "null"}]})")));
    form.resize(600, 200);
    form.show();
    auto* kind = form.findChild<QComboBox*>();
    const auto said = [&form] {
        int times = 0;
        for (const auto* label : form.findChildren<QLabel*>())
            times += label->isVisible() && label->text() == QLatin1String("null") ? 1 : 0;
        return times;
    };
    form.setArguments({{"x", 3}});
    QCoreApplication::processEvents();
    const auto width = kind->width();
    form.setArguments({{"x", nullptr}});
    QCoreApplication::processEvents();
    QCOMPARE(kind->currentText(), QStringLiteral("null"));
    QCOMPARE(said(), 0);
    QCOMPARE(kind->width(), width);
}

void FormsTest::absentStaysAbsent()
{
    ArgumentForm form;
    form.setSchema(Json::parse(R"({"type": "object", "properties": {"n": {"type": "integer", "default": 5},
        "name": {"type": "string"}}, "required": ["name"]})"));
    QCOMPARE(form.arguments()->dump(), std::string(R"({"name":""})"));
    const auto lines = form.findChildren<QLineEdit*>();
    QCOMPARE(lines.size(), 2);
    QCOMPARE(lines[0]->text(), QStringLiteral("5")); // the default is shown, not sent
    lines[0]->clear();
    QTest::keyClicks(lines[0], QStringLiteral("7"));
    QCOMPARE(form.arguments()->dump(), std::string(R"({"n":7,"name":""})"));
}

void FormsTest::unknownKeysSurvive()
{
    ArgumentForm form;
    form.setSchema(schemaOf({{"type", "integer"}}));
    form.setArguments(Json::parse(R"({"x": 1, "extra": [1, {"deep": null}]})"));
    QCOMPARE((*form.arguments())["extra"].dump(), std::string(R"([1,{"deep":null}])"));
}

void FormsTest::jsonAndFormStayInStep()
{
    ArgumentForm form;
    form.setSchema(schemaOf({{"type", "integer"}}));
    form.setArguments({{"x", 1}});
    auto* editor = form.findChild<QPlainTextEdit*>();
    form.showJson(true);
    QVERIFY(editor->toPlainText().contains(QStringLiteral("\"x\": 1")));
    editor->setPlainText(QStringLiteral("{\"x\": 2}"));
    QCOMPARE(form.arguments()->dump(), std::string(R"({"x":2})"));
    form.showJson(false);
    QCOMPARE(form.findChild<QLineEdit*>()->text(), QStringLiteral("2"));
    form.showJson(true);
    editor->setPlainText(QStringLiteral("{\"x\": "));
    form.showJson(false);
    QVERIFY(!form.arguments());
    QVERIFY(editor->toPlainText().startsWith(QStringLiteral("{\"x\": "))); // nothing typed is lost
}

void FormsTest::problemsAreNamed()
{
    ArgumentForm form;
    form.setSchema(schemaOf({{"type", "integer"}, {"minimum", 1}, {"maximum", 9}}));
    auto* line = form.findChild<QLineEdit*>();
    line->clear();
    QTest::keyClicks(line, QStringLiteral("12"));
    QVERIFY(!form.arguments());
    QStringList texts;
    for (const auto* label : form.findChildren<QLabel*>())
        texts += label->text();
    QVERIFY(texts.contains(QStringLiteral("At most 9.")));
    line->clear();
    QTest::keyClicks(line, QStringLiteral("8"));
    QVERIFY(form.arguments());
}

void FormsTest::listsAreOrderedAndPasted()
{
    ArgumentForm form;
    form.setSchema(schemaOf({{"type", "array"}, {"items", {{"type", "integer"}}}}));
    form.setArguments({{"x", {1, 2, 3}}});
    const auto press = [&form](const QString& name, int which) {
        QList<QAbstractButton*> found;
        for (auto* button : form.findChildren<QAbstractButton*>())
            if (!button->isHidden() && (button->accessibleName() == name || button->text() == name))
                found += button;
        QVERIFY(found.value(which));
        found[which]->click();
    };
    press(QStringLiteral("Move up"), 2);
    QCOMPARE(form.arguments()->dump(), std::string(R"({"x":[1,3,2]})"));
    press(QStringLiteral("Remove"), 0);
    QCOMPARE((*form.arguments())["x"].size(), 2U);
    QGuiApplication::clipboard()->setText(QStringLiteral("[7, 8]"));
    press(QStringLiteral("Paste a JSON list"), 0);
    QCOMPARE(form.arguments()->dump(), std::string(R"({"x":[7,8]})"));
    // What is no list changes nothing.
    QGuiApplication::clipboard()->setText(QStringLiteral("{\"a\": 1}"));
    press(QStringLiteral("Paste a JSON list"), 0);
    QCOMPARE(form.arguments()->dump(), std::string(R"({"x":[7,8]})"));
}

void FormsTest::hostileSchemasEnd_data()
{
    QTest::addColumn<QByteArray>("schema");
    QTest::newRow("loop") << QByteArray(R"({"$ref": "#"})");
    QTest::newRow("refers to itself") << QByteArray(
        R"({"type": "object", "properties": {"x": {"$ref": "#/$defs/N"}}, "$defs": {"N": {"type": "object",
            "properties": {"a": {"$ref": "#/$defs/N"}, "b": {"$ref": "#/$defs/N"}, "c": {"$ref": "#/$defs/N"},
            "d": {"$ref": "#/$defs/N"}, "e": {"$ref": "#/$defs/N"}, "f": {"$ref": "#/$defs/N"}}}}})");
    QByteArray choices = R"({"type": "object", "properties": {"x": {"enum": [)";
    for (int i = 0; i < 10'000; ++i)
        choices += (i ? ",\"choice " : "\"choice ") + QByteArray::number(i) + '"';
    QTest::newRow("ten thousand choices") << choices + "]}}}";
    QTest::newRow("nonsense") << QByteArray(R"({"properties": [1], "type": 7})");
    QTest::newRow("odd members") << QByteArray(
        R"({"type": "object", "properties": {"x": 3, "y": {"anyOf": []}, "z": {"type": []}, "w": {"enum": {}}, "v": {"anyOf": [1]}}})");
    QTest::newRow("markup") << QByteArray(
        R"({"type": "object", "properties": {"<b>\u202ex</b>": {"type": "string", "description": "<img src=x> \u202e txt"}}})");
    QTest::newRow("huge default")
        << "{\"type\": \"object\", \"properties\": {\"x\": {\"type\": \"string\", \"default\": \""
            + QByteArray(1'000'000, 'x') + "\"}}}";
}

void FormsTest::hostileSchemasEnd()
{
    QFETCH(const QByteArray, schema);
    ArgumentForm form;
    form.setSchema(Json::parse(schema.toStdString()));
    QVERIFY(form.findChildren<QWidget*>().size() < 20'000);
    for (const auto* label : form.findChildren<QLabel*>()) {
        QVERIFY(label->textFormat() == Qt::PlainText || label->text().isEmpty());
        QVERIFY(!label->text().contains(QChar(0x202E)));
    }
}

void FormsTest::picture()
{
    for (const auto scheme : {Scheme::Light, Scheme::Dark}) {
        Theme::instance().apply({scheme});
        ArgumentForm form;
        form.setSchema(Json::parse(R"({"type": "object", "required": ["prompt"], "properties": {
            "prompt": {"type": "string", "description": "What the model continues."},
            "layer": {"type": "integer", "minimum": 0, "maximum": 11, "default": 6, "description": "Where to look."},
            "dtype": {"enum": ["float32", "bfloat16"], "default": "float32"},
            "tags": {"anyOf": [{"type": "array", "items": {"type": "string"}}, {"type": "null"}], "default": null},
            "sample": {"type": "boolean", "default": false},
            "range": {"type": "object", "properties": {"from": {"type": "number"}, "to": {"type": "number"}}}}})"));
        form.setArguments(Json::parse(R"({"prompt": "The cat", "layer": 8, "tags": ["a", "b"]})"));
        form.resize(640, 760);
        form.show();
        QCoreApplication::processEvents();
        const auto name =
            QStringLiteral("form-%1").arg(QLatin1String(scheme == Scheme::Dark ? "dark" : "light"));
        QVERIFY(gb::test::colorsIn(gb::test::picture(form, name)) > 8);
    }
}

QTEST_MAIN(FormsTest)
#include "tst_forms.moc"
