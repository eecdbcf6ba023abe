// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

#include <QFile>
#include <QLabel>
#include <QPlainTextEdit>
#include <QSignalSpy>
#include <QTabWidget>
#include <QTemporaryDir>
#include <QTest>

#include <tests/support/fakedaemon.h>
#include <tests/support/picture.h>
#include <widgets/controls/splitter.h>
#include <widgets/controls/theme.h>
#include <widgets/pages/inspector/callpanel.h>
#include <widgets/pages/inspector/exporter.h>
#include <widgets/pages/inspector/inspectorpage.h>
#include <widgets/pages/inspector/timingbar.h>

using namespace gb;
using namespace gb::ui;

// The inspector in states that a real daemon is not easily brought into, each with its picture.
class CallPanelTest : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void initTestCase();
    void init();
    void cleanup();
    void exportsAsLines();
    void statesAndPictures_data();
    void statesAndPictures();
    void agentsViewWithItsTokens();
    void timingIsInProportion();

private:
    void serve();
    FunctionList::Function function() const;
    bool says(const QString& text) const;

    QTemporaryDir m_folder;
    std::unique_ptr<test::FakeDaemon> m_daemon;
    std::unique_ptr<api::Client> m_client;
    std::unique_ptr<InspectorPage> m_page;
};

namespace {

constexpr auto steer =
    R"({"name": "steer", "signature": "(prompt: str, layer: int = 6, strength: float = 1.0) -> dict", "line": 12,
        "summary": "Adds a direction to the residual stream and says what the model goes on with.",
        "parameters": [{"name": "prompt"}, {"name": "layer"}, {"name": "strength"}],
        "input_schema": {"type": "object", "required": ["prompt"], "properties": {
            "prompt": {"type": "string", "description": "What the model continues."},
            "layer": {"type": "integer", "minimum": 0, "maximum": 11, "default": 6},
            "strength": {"type": "number", "default": 1.0}}}})";

Json record(const char* id, const char* state, std::int64_t at)
{
    return {{"id", id}, {"fn", "steer"}, {"interface", "i1"}, {"interface_name", "probe"}, {"state", state},
        {"at", at}, {"caller", {{"kind", "script"}, {"name", "sweep.py"}}}, {"duration_ns", 12'400'000},
        {"preview", "{\"text\": \"The cat sat on the hovercraft\"}"},
        {"args", {{"args", Json::array()}, {"kwargs", {{"prompt", "The cat"}, {"layer", 8}}}}},
        {"ns",
            {{"queue", 200'000}, {"compute", 9'000'000}, {"serialise", 2'000'000}, {"transfer", 1'200'000}}}};
}

} // namespace

void CallPanelTest::initTestCase()
{
    setRememberedFile(m_folder.filePath(QStringLiteral("window.ini")));
    Theme::instance().apply({Scheme::Light});
}

void CallPanelTest::init()
{
    const fs::path data(m_folder.path().toStdString());
    m_daemon = std::make_unique<test::FakeDaemon>(data);
    m_daemon->on("calls.list", Json{{"calls", Json::array()}});
    m_daemon->on("presets.list", Json{{"presets", Json::array()}});
    m_daemon->on("interfaces.schema",
        Json{{"etag", "e"}, {"schema", {{"functions", Json::array({Json::parse(steer)})}}}});
    m_client = std::make_unique<api::Client>(api::Client::Options{data, "window", false, true, {}});
    m_client->watch({"interfaces", "calls"});
    m_client->open();
    m_page = std::make_unique<InspectorPage>(*m_client);
    m_page->resize(1280, 720);
    m_page->show();
}

void CallPanelTest::cleanup()
{
    m_page.reset();
    m_client.reset();
    m_daemon.reset();
}

void CallPanelTest::serve()
{
    m_daemon->setItem("interfaces", "i1",
        Json{{"id", "i1"}, {"name", "probe"}, {"state", "ready"}, {"schema_etag", "e"}, {"functions", 1},
            {"source", "/x/interface.py"}, {"url", "http://127.0.0.1:1"}});
    QTRY_VERIFY(m_page->findChild<FunctionList*>()->find(QStringLiteral("steer")));
    QTRY_VERIFY(m_page->findChild<FunctionList*>()->current());
}

bool CallPanelTest::says(const QString& text) const
{
    for (const auto* label : m_page->findChildren<QLabel*>())
        if (label->isVisible() && label->text().contains(text))
            return true;
    return false;
}

void CallPanelTest::exportsAsLines()
{
    // Two pages, oldest last; each line is the whole record with its result.
    m_daemon->on("calls.list", [](const Json& params, const std::string&) -> Result<api::Answer> {
        if (stringOr(params, "before").empty())
            return api::Answer{
                Json{{"calls", Json::array({record("c2", "ok", 2), record("c1", "ok", 1)})}, {"next", "c1"}},
                {}};
        return api::Answer{Json{{"calls", Json::array({record("c0", "error", 0)})}}, {}};
    });
    m_daemon->on("calls.get", [](const Json& params, const std::string&) -> Result<api::Answer> {
        auto one = record("", "ok", 1);
        one["id"] = stringOr(params, "call");
        return api::Answer{one, "{\"text\":\"line\\nbreak\"}"};
    });
    const auto path = m_folder.filePath(QStringLiteral("calls.jsonl"));
    CallExporter exporter(*m_client, QStringLiteral("fn:steer"), path);
    QSignalSpy finished(&exporter, &CallExporter::finished);
    exporter.start();
    QTRY_COMPARE(finished.size(), 1);
    QCOMPARE(finished.first().at(0).toInt(), 3);
    QCOMPARE(stringOr(m_daemon->last("calls.list"), "filter"), std::string("fn:steer"));
    QFile file(path);
    QVERIFY(file.open(QIODevice::ReadOnly));
    const auto lines = file.readAll().trimmed().split('\n');
    QCOMPARE(lines.size(), 3);
    for (int i = 0; i < 3; ++i) {
        const auto line = parseJson(lines[i].toStdString());
        QVERIFY(line);
        QCOMPARE(stringOr(*line, "id"), "c" + std::to_string(2 - i));
        QCOMPARE(stringOr(objectOr(*line, "result"), "text"), std::string("line\nbreak"));
    }
}

void CallPanelTest::statesAndPictures_data()
{
    QTest::addColumn<QString>("state");
    for (const char* state : {"nothing", "ready", "busy", "error", "streamed"})
        QTest::newRow(state) << QString::fromLatin1(state);
}

void CallPanelTest::statesAndPictures()
{
    QFETCH(const QString, state);
    if (state == QLatin1String("nothing")) {
        QTRY_VERIFY(says(QStringLiteral("Nothing is served")));
    } else {
        Json all = Json::array();
        for (int i = 0; i < 12; ++i)
            all.push_back(
                record(("c" + std::to_string(i)).c_str(), i % 5 == 2 ? "error" : "ok", 1'000'000 - i));
        m_daemon->on("calls.list", Json{{"calls", all}});
        serve();
        m_page->refresh();
        QTRY_VERIFY(says(QStringLiteral("p95")));
    }
    auto* panel = m_page->findChild<CallPanel*>();
    if (state != QLatin1String("nothing") && state != QLatin1String("ready")) {
        panel->setArguments(Json::parse(R"({"prompt": "The cat", "layer": 8})"));
        std::string call;
        // Nothing is answered while it runs.
        m_daemon->on("calls.run", [&](const Json& params, const std::string&) -> Result<api::Answer> {
            call = stringOr(params, "op");
            m_daemon->notify("calls.event",
                {{"call", call}, {"event", "progress"}, {"done", 3}, {"total", 12}, {"message", "layer 3"}});
            if (state == QLatin1String("streamed"))
                for (const char* word : {"\"The\"", "\" cat\"", "\" sat\""})
                    m_daemon->notify("calls.event", {{"call", call}, {"event", "item"}}, word);
            auto made = record("", state == QLatin1String("error") ? "error" : "ok", 1);
            made["id"] = call;
            if (state == QLatin1String("error"))
                made["error"] = {{"kind", "exception"}, {"type", "RuntimeError"},
                    {"message", "size mismatch: 768 against 512"},
                    {"frames",
                        Json::array({Json{{"file", "/x/interface.py"}, {"line", 17}, {"function", "steer"},
                            {"code", "residual[layer] += strength * direction"}}})}};
            return api::Answer{made, state == QLatin1String("streamed") ? "" : "{\"text\": \"The cat sat\"}"};
        });
        panel->runAction()->trigger();
        QTRY_VERIFY(m_daemon->asked("calls.run") == 1);
        if (state == QLatin1String("error"))
            QTRY_VERIFY(says(QStringLiteral("RuntimeError")));
        else
            QTRY_VERIFY(says(QStringLiteral("ok")) || !call.empty());
    }
    for (const auto scheme : {Scheme::Light, Scheme::Dark}) {
        Theme::instance().apply({scheme});
        QCoreApplication::processEvents();
        const auto name = QStringLiteral("inspector-%1-%2")
                              .arg(state, QLatin1String(scheme == Scheme::Dark ? "dark" : "light"));
        QVERIFY(test::colorsIn(test::picture(*m_page, name)) > 8);
    }
}

void CallPanelTest::agentsViewWithItsTokens()
{
    m_daemon->on("interfaces.expose", [](const Json& params, const std::string&) -> Result<api::Answer> {
        if (!boolOr(params, "preview"))
            return tl::unexpected(Error{"test.token", "looking must not make a token"});
        return api::Answer{Json{{"form", stringOr(params, "form")}, {"tokens", 1234},
                               {"text", "the form " + stringOr(params, "form")}, {"files", Json::array()}},
            {}};
    });
    serve();
    auto* tabs = m_page->findChild<CallPanel*>()->findChild<QTabWidget*>();
    QTabWidget* results = nullptr;
    for (auto* one : m_page->findChild<CallPanel*>()->findChildren<QTabWidget*>())
        for (int i = 0; i < one->count(); ++i)
            if (one->tabText(i) == QStringLiteral("What the agent sees")) {
                results = one;
                one->setCurrentIndex(i);
            }
    QVERIFY(tabs && results);
    auto* text = results->currentWidget()->findChild<QPlainTextEdit*>();
    QTRY_COMPARE(text->toPlainText(), QStringLiteral("the form library"));
    QVERIFY(says(QStringLiteral("234 tokens")));
}

void CallPanelTest::timingIsInProportion()
{
    TimingBar bar;
    bar.resize(300, 20);
    bar.setTiming({{"queue", 0}, {"compute", 3'000'000}, {"serialise", 1'000'000}, {"transfer", 0}});
    QVERIFY2(bar.toolTip().contains(QStringLiteral("computed 3")), qPrintable(bar.toolTip()));
    const auto image = bar.grab().toImage();
    int computed = 0;
    int serialised = 0;
    for (int x = 0; x < image.width(); ++x) {
        const auto color = image.pixelColor(x, image.height() / 2);
        computed += color == tokens().accent ? 1 : 0;
        serialised += color == tokens().info ? 1 : 0;
    }
    QVERIFY2(serialised > 10 && computed > 2 * serialised && computed < 4 * serialised,
        qPrintable(QStringLiteral("%1 and %2 pixels").arg(computed).arg(serialised)));
}

QTEST_MAIN(CallPanelTest)
#include "tst_callpanel.moc"
