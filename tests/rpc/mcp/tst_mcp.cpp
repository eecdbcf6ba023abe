// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

#include <QTest>

#include <backend/base/files.h>
#include <rpc/mcp/endpoint.h>

using namespace gb;
using namespace gb::rpc;

namespace {

// A host whose calls end when the test says so.
class FakeHost : public McpHost
{
public:
    struct Call
    {
        std::string function;
        std::string arguments;
        McpListener listener;
    };

    Result<Json> schema() override
    {
        if (!loaded)
            return fail("not_loaded", "the interface file is not loaded");
        return parseJson(readFile(GB_SOURCE_DIR "/tests/rpc/mcp/schema.json").value_or(""));
    }
    std::string schemaTag() override { return loaded ? "1" : ""; }
    bool mayCall(std::string_view, std::string_view function) override { return function != "secret"; }
    Result<std::string> call(
        std::string_view, const std::string& function, std::string arguments, McpListener listener) override
    {
        calls.push_back({function, std::move(arguments), std::move(listener)});
        return "call-" + std::to_string(calls.size());
    }
    void cancel(const std::string& call) override { cancelled.push_back(call); }

    bool loaded = true;
    std::vector<Call> calls;
    std::vector<std::string> cancelled;
};

class FakeAnswer : public McpAnswer
{
public:
    void reply(int code, std::string_view type, std::string text) override
    {
        status = code;
        mime = type;
        body = std::move(text);
    }
    void beginStream() override { status = 200, streamed = true; }
    void write(std::string_view text) override { body += text; }
    void endStream() override { ended = true; }
    void onGone(std::function<void()> handler) override { gone = std::move(handler); }

    Json json() const { return Json::parse(body, nullptr, false); }

    int status = 0;
    std::string mime;
    std::string body;
    bool streamed = false;
    bool ended = false;
    std::function<void()> gone;
};

// Qt cannot compare Json itself.
std::string written(const Json& json)
{
    return json.dump();
}

Json stateless(Json params = Json::object())
{
    params["_meta"]["io.modelcontextprotocol/protocolVersion"] = "2026-07-28";
    params["_meta"]["io.modelcontextprotocol/clientCapabilities"] = Json::object();
    return params;
}

std::string messageText(const std::string& method, const Json& params, const Json& id = 1)
{
    return Json{{"jsonrpc", "2.0"}, {"id", id}, {"method", method}, {"params", params}}.dump();
}

} // namespace

class TestMcp : public QObject
{
    Q_OBJECT

    FakeHost host;
    std::unique_ptr<McpEndpoint> endpoint;

    std::shared_ptr<FakeAnswer> ask(const McpRequest& request)
    {
        auto answer = std::make_shared<FakeAnswer>();
        endpoint->handle(request, answer);
        return answer;
    }
    std::shared_ptr<FakeAnswer> askOld(const std::string& method, const Json& params = Json::object(),
        const std::string& version = "2025-11-25")
    {
        return ask({messageText(method, params), "caller", true, version, {}, {}});
    }
    std::shared_ptr<FakeAnswer> askNew(const std::string& method, const Json& params = Json::object())
    {
        return ask({messageText(method, stateless(params)), "caller", true, "2026-07-28", method,
            params.value("name", "")});
    }

private Q_SLOTS:
    void init()
    {
        host = FakeHost();
        endpoint = std::make_unique<McpEndpoint>(host);
    }

    void everyVersionIsGreetedInItsOwnWay()
    {
        const Json found = askNew("server/discover")->json()["result"];
        QCOMPARE(written(found["supportedVersions"][0]), written(Json("2026-07-28")));
        QCOMPARE(written(found["resultType"]), written(Json("complete")));
        QCOMPARE(
            written(found["_meta"]["io.modelcontextprotocol/serverInfo"]["name"]), written(Json("tools")));
        for (const char* version : {"2025-11-25", "2025-06-18", "2025-03-26"}) {
            const auto answer = askOld("initialize", Json{{"protocolVersion", version}}, "");
            QCOMPARE(written(answer->json()["result"]["protocolVersion"]), written(Json(version)));
        }
        QCOMPARE(written(askOld("initialize", Json{{"protocolVersion", "2031-01-01"}}, "")
                             ->json()["result"]["protocolVersion"]),
            written(Json("2025-11-25")));
        QCOMPARE(written(askOld("ping")->json()["result"]), written(Json::object()));
        QCOMPARE(ask({"{\"jsonrpc\":\"2.0\",\"method\":\"notifications/initialized\"}", "c", true,
                         "2025-11-25", {}, {}})
                     ->status,
            202);
    }

    void fieldsMustSayWhatTheMessageSays()
    {
        const std::string body =
            messageText("tools/call", stateless(Json{{"name", "add"}, {"arguments", {{"a", 1}}}}));
        const auto code = [this](const McpRequest& request, int status) {
            const auto answer = ask(request);
            return answer->status == status ? answer->json()["error"]["code"].get<int>() : -answer->status;
        };
        QCOMPARE(code({body, "c", true, "2025-11-25", "tools/call", "add"}, 400), -32020);
        QCOMPARE(code({body, "c", true, "", "tools/call", "add"}, 400), -32020);
        QCOMPARE(code({body, "c", true, "2026-07-28", "", "add"}, 400), -32020);
        QCOMPARE(code({body, "c", true, "2026-07-28", "tools/list", "add"}, 400), -32020);
        QCOMPARE(code({body, "c", true, "2026-07-28", "tools/call", "info"}, 400), -32020);
        QCOMPARE(
            code({messageText("tools/list", Json::object()), "c", true, "1999-01-01", {}, {}}, 400), -32022);
        QCOMPARE(
            code({messageText("tools/list", Json::object()), "c", true, "2026-07-28", "tools/list", {}}, 400),
            -32602);
        QCOMPARE(code({messageText("x/y", stateless()), "c", true, "2026-07-28", "x/y", {}}, 404), -32601);
        QCOMPARE(code({"{", "c", true, "2025-11-25", {}, {}}, 400), -32700);
        QCOMPARE(host.calls.size(), std::size_t(0));
        ask({body, "c", true, "2026-07-28", "=?base64?dG9vbHMvY2FsbA==?=", "add"});
        QCOMPARE(host.calls.size(), std::size_t(1));
    }

    void toolsAreListedInOrderWithWhatTheyTakeAndGive()
    {
        const Json tools = askNew("tools/list")->json()["result"]["tools"];
        QCOMPARE(tools.size(), std::size_t(3));
        QCOMPARE(written(tools[0]["name"]), written(Json("add")));
        QCOMPARE(written(tools[0]["annotations"]), written(Json({{"readOnlyHint", true}})));
        QCOMPARE(written(tools[0]["outputSchema"]),
            written(
                Json::parse("{\"type\":\"object\",\"$defs\":{\"N\":{\"type\":\"integer\"}},\"properties\":{"
                            "\"result\":{\"$ref\":\"#/$defs/N\"}},\"required\":[\"result\"]}")));
        QCOMPARE(written(tools[1]["inputSchema"]["properties"]["rest"]["type"]), written(Json("array")));
        QCOMPARE(written(tools[1]["inputSchema"]["additionalProperties"]), written(Json(true)));
        QCOMPARE(written(tools[1]["inputSchema"]["required"]), written(Json::array({"first"})));
        QCOMPARE(written(tools[2]["name"]), written(Json("os.system_x")));
        QVERIFY(!tools[2].contains("outputSchema"));
        const auto twice = askOld("tools/list")->json()["result"];
        QCOMPARE(written(twice["tools"]), written(tools));
        QVERIFY(!twice.contains("resultType"));
    }

    void callsCarryArgumentsAsText()
    {
        askOld("tools/call", Json::parse("{\"name\":\"add\",\"arguments\":{\"a\":1}}"));
        QCOMPARE(host.calls.back().arguments, std::string("{\"args\":[],\"kwargs\":{\"a\":1}}"));
        ask({"{\"jsonrpc\":\"2.0\",\"id\":7,\"method\":\"tools/"
             "call\",\"params\":{\"name\":\"info\",\"arguments\":{\"rest\":[2,{\"x\":\"]}\"}],"
             "\"first\":123456789012345678901234567890, \"k\": 1.50 }}}",
            "caller", true, "2025-06-18", {}, {}});
        QCOMPARE(host.calls.back().arguments,
            std::string(
                "{\"args\":[123456789012345678901234567890,2,{\"x\":\"]}\"}],\"kwargs\":{\"k\":1.50}}"));
        const auto refused =
            askOld("tools/call", Json::parse("{\"name\":\"info\",\"arguments\":{\"rest\":[1]}}"));
        QCOMPARE(written(refused->json()["result"]["isError"]), written(Json(true)));
        QCOMPARE(written(askOld("tools/call", Json{{"name", "secret"}})->json()["error"]["code"]),
            written(Json(-32602)));
        QCOMPARE(host.calls.size(), std::size_t(2));
    }

    void resultsBecomeContent()
    {
        const auto result = [this](const char* tool, const char* text) {
            const auto answer = askNew("tools/call", Json{{"name", tool}});
            host.calls.back().listener.done({text, {}});
            return answer->json()["result"];
        };
        const Json number = result("add", "3");
        QCOMPARE(written(number["content"]), written(Json::parse("[{\"type\":\"text\",\"text\":\"3\"}]")));
        QCOMPARE(written(number["structuredContent"]), written(Json({{"result", 3}})));
        QCOMPARE(written(number["resultType"]), written(Json("complete")));
        QCOMPARE(written(result("os.system_x", "\"a\\nb\"")["content"][0]["text"]), written(Json("a\nb")));
        QVERIFY(!result("os.system_x", "[1]").contains("structuredContent"));
        QCOMPARE(
            written(result("info", "{\"a\":[1]}")["structuredContent"]), written(Json::parse("{\"a\":[1]}")));
        const Json image = result("os.system_x", "{\"image\":\"jpg\",\"data\":\"AAAA\"}");
        QCOMPARE(written(image["content"]),
            written(Json::parse("[{\"type\":\"image\",\"data\":\"AAAA\",\"mimeType\":\"image/jpeg\"}]")));
        const Json mixed = result("os.system_x", "[\"see\",{\"image\":\"png\",\"data\":\"AAAA\"},{\"k\":1}]");
        QCOMPARE(mixed["content"].size(), std::size_t(3));
        QCOMPARE(written(mixed["content"][1]["mimeType"]), written(Json("image/png")));
        const Json inside = result("info", "{\"plot\":{\"image\":\"png\",\"data\":\"AAAA\"}}");
        QCOMPARE(written(inside["content"][1]["data"]), written(Json("AAAA")));
        QCOMPARE(written(inside["structuredContent"]["plot"]["data"]), written(Json("shown as image 1")));
    }

    void errorsOfAFunctionAreResults()
    {
        const auto answer = askOld("tools/call", Json{{"name", "add"}});
        host.calls.back().listener.done({{},
            Json{{"kind", "function_error"}, {"type", "ValueError"}, {"message", "no"}, {"traceback", "T"}}});
        QCOMPARE(answer->status, 200);
        QCOMPARE(written(answer->json()["result"]["isError"]), written(Json(true)));
        QCOMPARE(
            written(answer->json()["result"]["content"][0]["text"]), written(Json("ValueError: no\n\nT")));
    }

    void progressStreamsAndOnlyGrows()
    {
        const auto answer =
            askNew("tools/call", Json{{"name", "add"}, {"_meta", Json{{"progressToken", "p"}}}});
        const McpListener listener = host.calls.back().listener;
        for (const double done : {1.0, 1.0, 0.5, 2.0})
            listener.progress({done, 2.0, "m"});
        QVERIFY(answer->streamed && !answer->ended);
        listener.done({"3", {}});
        QVERIFY(answer->ended);
        QCOMPARE(QByteArray::fromStdString(answer->body).count("notifications/progress"), 2);
        QVERIFY(answer->body.ends_with("}}\n\n"));
        const auto quiet = askNew("tools/call", Json{{"name", "add"}});
        host.calls.back().listener.progress({1.0, {}, {}});
        QVERIFY(!quiet->streamed);
    }

    void goingAwayAndAskingCancel()
    {
        const auto closing = askNew("tools/call", Json{{"name", "add"}});
        closing->gone();
        QCOMPARE(host.cancelled, std::vector<std::string>{"call-1"});
        askOld("tools/call", Json{{"name", "add"}});
        const std::string note =
            "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/cancelled\",\"params\":{\"requestId\":1}}";
        QCOMPARE(ask({note, "somebody else", true, "2025-11-25", {}, {}})->status, 202);
        QCOMPARE(host.cancelled.size(), std::size_t(1));
        ask({note, "caller", true, "2025-11-25", {}, {}});
        QCOMPARE(host.cancelled.back(), std::string("call-2"));
    }

    void batchesOfTheOldestVersionAreAnsweredTogether()
    {
        const std::string body = "[" + messageText("ping", Json::object(), 1) + ","
            + "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/initialized\"},"
            + messageText("tools/call", Json{{"name", "add"}}, "two") + ",5]";
        const auto answer = ask({body, "caller", true, "2025-03-26", {}, {}});
        QCOMPARE(answer->status, 0);
        host.calls.back().listener.done({"1", {}});
        QCOMPARE(answer->json().size(), std::size_t(3));
        QCOMPARE(ask({body, "caller", true, "2025-11-25", {}, {}})->status, 400);
        QCOMPARE(ask({"[]", "caller", true, "", {}, {}})->status, 400);
    }

    void aFileThatDoesNotLoadIsSaid()
    {
        host.loaded = false;
        QCOMPARE(askNew("tools/list")->status, 503);
        QCOMPARE(written(askOld("tools/list")->json()["error"]["message"]),
            written(Json("the interface file is not loaded")));
        QCOMPARE(askOld("ping")->status, 200);
    }
};

QTEST_GUILESS_MAIN(TestMcp)
#include "tst_mcp.moc"
