// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

#include <QProcess>
#include <QTest>

#include <widgets/pages/inspector/callrecords.h>

using namespace gb;
using namespace gb::ui;

class CallRecordsTest : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void curlReadsTheTokenFromItsFile();
    void textForOtherProgramsStaysText();
    void statisticsOfOneFunction();
};

namespace {

const Json hostileArguments = {
    {"text", "it's $(touch x) \"q\"\n"}, {"on", true}, {"none", Json::array({nullptr})}};

} // namespace

void CallRecordsTest::curlReadsTheTokenFromItsFile()
{
    const Json interface = {{"url", "http://127.0.0.1:1"}, {"token_file", "/tmp/it's here"}};
    const auto command = curlCommand(interface, "greet", hostileArguments);
    QVERIFY(command.contains(QStringLiteral("-H @-")));
    // A shell reads back exactly what was meant.
    QProcess shell;
    shell.start(QStringLiteral("sh"),
        {QStringLiteral("-c"),
            QStringLiteral(
                "cat() { printf %s \"TOKEN-OF-$1\"; }; curl() { read -r head; printf '%s\\n' \"$head\" "
                "\"$@\"; }; ")
                + command});
    QVERIFY(shell.waitForFinished());
    const auto said = QString::fromUtf8(shell.readAllStandardOutput());
    QVERIFY2(
        said.startsWith(QStringLiteral("Authorization: Bearer TOKEN-OF-/tmp/it's here\n")), qPrintable(said));
    QVERIFY(said.contains(QStringLiteral("http://127.0.0.1:1/v1/calls")));
    const Json body = {{"fn", "greet"}, {"kwargs", hostileArguments}};
    QVERIFY2(said.endsWith(QString::fromStdString(body.dump()) + QLatin1Char('\n')), qPrintable(said));
}

void CallRecordsTest::textForOtherProgramsStaysText()
{
    const auto python = pythonCall("tools", "greet", hostileArguments);
    const auto wanted =
        QStringLiteral("kwargs={\"text\": \"it's $(touch x) \\\"q\\\"\\n\", \"on\": True, \"none\": [None]}");
    QVERIFY2(python.contains(wanted), qPrintable(python));
    const auto mcp = Json::parse(mcpCall("greet", hostileArguments).toStdString());
    QCOMPARE(mcp["method"].get<std::string>(), std::string("tools/call"));
    QVERIFY(mcp["params"]["arguments"] == hostileArguments);
}

void CallRecordsTest::statisticsOfOneFunction()
{
    Json calls = Json::array();
    for (int i = 1; i <= 100; ++i)
        calls.push_back(
            {{"fn", "f"}, {"state", i % 10 == 0 ? "error" : "ok"}, {"duration_ns", i * 1'000'000}});
    calls.push_back({{"fn", "other"}, {"state", "ok"}, {"duration_ns", 1}});
    calls.push_back({{"fn", "f"}, {"state", "cancelled"}, {"duration_ns", 1}});
    // No language is installed here; how one and two are written, the English file says.
    QCOMPARE(callStatistics(calls, "f"),
        QString::fromUtf8("101 call(s) · 10 failed · 1 cancelled · median 50 ms · p95 95 ms"));
    const Json one = Json::array({Json{{"fn", "f"}, {"state", "ok"}, {"duration_ns", 2'000'000}}});
    QCOMPARE(callStatistics(one, "f"), QString::fromUtf8("1 call(s) · took 2 ms"));
    Json many = Json::array();
    for (int i = 0; i < statisticsOver; ++i)
        many.push_back({{"fn", "f"}, {"state", "ok"}, {"duration_ns", 1'000'000}});
    QVERIFY(callStatistics(many, "f").startsWith(QStringLiteral("the newest ")));
    QVERIFY(callStatistics(calls, "g").isEmpty());
}

QTEST_MAIN(CallRecordsTest)
#include "tst_callrecords.moc"
