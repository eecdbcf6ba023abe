// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

#include <QTest>

#include <random>

#include <backend/base/json.h>
#include <tests/support/temporary.h>

#include "samples.h"

using namespace gb;
using namespace gb::test;

namespace {

constexpr std::int64_t dayMs = 86400000;
constexpr std::int64_t newYear = 1767225600000; // 2026-01-01

} // namespace

class TestCallFilter : public QObject
{
    Q_OBJECT

    TemporaryFolder m_folder;
    std::unique_ptr<Store> m_store;
    std::string m_run;

    void putNumbered(int day, const std::string& fn, const std::string& state, std::int64_t ms)
    {
        CallRecord record = sampleCall(m_run, fn);
        record.at = newYear + day * dayMs + 3600000;
        record.state = state;
        record.computeNs = ms * 1000000;
        record.generation = day;
        record.callerKind = day % 2 == 0 ? "agent" : "person";
        record.callerName = "caller-" + std::to_string(day);
        record.pinned = day == 3;
        record.comment = day == 3 ? "keep this" : "";
        const Json named{{"n", day}, {"prompt", "the capital of Town" + std::to_string(day)},
            {"deep", {{"x", 1}}}, {"100%", "_a"}};
        // Escaped as Python does it.
        record.args = Json{{"args", {"firsté"}}, {"kwargs", named}}.dump(-1, ' ', true);
        if (state == "error") {
            record.result = "null";
            record.error = Json{{"type", "ValueError"}, {"message", "too \"hot\"\nhere"}}.dump();
        }
        QVERIFY(put(*m_store, record));
    }

    // The days (in field `generation`) of the calls a filter finds, newest first.
    std::string found(const std::string& text, int limit = 50)
    {
        const auto filter = CallFilter::parse(text);
        if (!filter)
            return filter.error().code;
        std::string days;
        std::string before;
        do {
            const auto page = m_store->listCalls(*filter, before, limit);
            if (!page)
                return page.error().code + ": " + page.error().message;
            for (const std::string& call : page->calls) {
                const auto json = parseJson(call);
                days += (days.empty() ? "" : " ")
                    + (json ? std::to_string((*json)["generation"].get<int>()) : "broken");
            }
            before = page->next;
        } while (!before.empty());
        return days;
    }

private Q_SLOTS:
    void initTestCase()
    {
        auto store = Store::open({m_folder.path() / "data"});
        QVERIFY(store.has_value());
        m_store = std::move(*store);
        m_run = newRun(*m_store)->id;
        // Not in order of time: a keeper may send old records late.
        putNumbered(5, "probe", "ok", 2500);
        putNumbered(1, "generate", "ok", 100);
        putNumbered(2, "generate", "error", 700);
        putNumbered(4, "probe", "cancelled", 500);
        putNumbered(3, "embed \"x\"", "ok", 1);
    }

    void finds_data()
    {
        QTest::addColumn<QString>("filter");
        QTest::addColumn<QString>("days");
        const auto row = [](const char* filter, const char* days) {
            QTest::newRow(filter) << filter << days;
        };
        row("", "5 4 3 2 1");
        row("  \t", "5 4 3 2 1");
        row("fn:generate", "2 1");
        row("-fn:generate", "5 4 3");
        row("fn:\"embed \\\"x\\\"\"", "3");
        row("status:error", "2");
        row("-status:ok", "4 2");
        row("by:agent", "4 2");
        row("by:caller-5", "5");
        row("interface:model_tools", "5 4 3 2 1");
        row("interface:0190a000-0000-7000-8000-000000000001 fn:probe", "5 4");
        row("interface:other", "");
        row("dur:>500ms", "5 2");
        row("dur:>=500ms", "5 4 2");
        row("dur:<0.0005s", "");
        row("dur:<=1000us", "3");
        row("-dur:>500ms", "4 3 1");
        row("dur:=0.7s", "2");
        row("dur:<1h", "5 4 3 2 1");
        row("at:2026-01-03", "2");
        row("at:>2026-01-03", "5 4 3");
        row("at:>=2026-01-03", "5 4 3 2");
        row("at:<2026-01-03", "1");
        row("at:<=2026-01-03", "2 1");
        row("at:>=2026-01-04T01:00 at:<2026-01-05T01:00:01Z", "4 3");
        row("-at:<=2026-01-03", "5 4 3");
        row("at:>0001-01-01 at:<9999-12-31", "5 4 3 2 1");
        row("-at:2026-01-03", "5 4 3 1");
        row("pinned:yes", "3");
        row("pinned:no", "5 4 2 1");
        row("-pinned:yes", "5 4 2 1");
        row("arg.n:4", "4");
        row("-arg.n:4", "5 3 2 1");
        row("arg.n:4 arg.n:5", "");
        row("arg.prompt:\"The capital of town2\"", "2");
        row("arg.prompt:*town2", "2");
        row("arg.prompt:*capital*", "5 4 3 2 1");
        row("arg.0:firsté", "5 4 3 2 1");
        row("arg.100%:_a", "");
        row("arg.deep:1", "");
        row("arg.n:%", "");
        row("arg.n:_*", "");
        row("Town3", "3");
        row("town3 town4", "");
        row("\"capital of Town4\"", "4");
        row("\"of capital\"", "");
        row("tow*", "5 4 3 2 1");
        row("Paris -fn:generate -embed", "5 4");
        row("-hot", "5 4 3 1");
        row("ValueError hot here", "2");
        row("keep", "3");
        row("firsté", "5 4 3 2 1");
        row("Paris fn:generate dur:<200ms by:person -pinned:yes arg.n:1", "1");
    }
    void finds()
    {
        QFETCH(QString, filter);
        QFETCH(QString, days);
        QCOMPARE(QString::fromStdString(found(filter.toStdString())), days);
        if (!days.contains("filter"))
            QCOMPARE(QString::fromStdString(found(filter.toStdString(), 1)), days); // page by page
    }

    void refuses_data()
    {
        QTest::addColumn<QString>("filter");
        QTest::addColumn<QString>("code");
        const auto row = [](const char* filter, const char* code) {
            QTest::newRow(filter) << filter << code;
        };
        row("stauts:ok", "filter.unknown_key");
        row("status:oka", "filter.value");
        row("fn:", "filter.value");
        row("dur:500", "filter.value");
        row("dur:>ms", "filter.value");
        row("dur:>-1s", "filter.value");
        row("dur:>1e300h", "filter.value");
        row("dur:>nans", "filter.value");
        row("dur:>infs", "filter.value");
        row("at:2026-02-30", "filter.value");
        row("at:2026-01-01T25:00", "filter.value");
        row("at:yesterday", "filter.value");
        row("at:-999-01-01", "filter.value");
        row("pinned:maybe", "filter.value");
        row("\"open", "filter.quote");
        row("fn:\"open\\\"", "filter.quote");
    }
    void refuses()
    {
        QFETCH(QString, filter);
        QFETCH(QString, code);
        QCOMPARE(QString::fromStdString(found(filter.toStdString())), code);
    }

    void hostileTextIsOnlyText_data()
    {
        QTest::addColumn<QString>("filter");
        for (const char* text : {"'", "\"'\"", "\\\"; DROP TABLE calls; --\"", "x' OR '1'='1", "NEAR", "AND",
                 "OR", "NOT", "x NEAR y", "text : x", "{text}", "^x", "x^2", "(x", "x)", "*", "**x", "x**",
                 "+x", "--x", "-\"x\"", "a\"b", "fn:' fn:\" \"", "arg.x:' OR 1=1 --", "arg.');--:x", "fn:?1",
                 "http://x/?a=b", "12:30", "%", "_", "\\", ":", "::", "-", "fn", "日本", "😀", ".", "arg.:x",
                 "arg.n:", "by:*"})
            QTest::newRow(text) << QString::fromUtf8(text);
    }
    void hostileTextIsOnlyText()
    {
        QFETCH(QString, filter);
        const std::string answer = found(filter.toStdString());
        QVERIFY2(answer.find("store.") == std::string::npos, answer.c_str());
        QCOMPARE(found(""), std::string("5 4 3 2 1"));
    }

    void bytesAtRandomNeverBreakIt()
    {
        std::mt19937 random(7);
        const std::string alphabet = "\"\\'-:*.><=%_() \t0123456789abcfndurtgpiykworse\xc3\xa9\xff";
        int accepted = 0;
        for (int i = 0; i < 5000; ++i) {
            std::string text;
            for (unsigned n = random() % 40; n > 0; --n)
                text += alphabet[random() % alphabet.size()];
            const auto filter = CallFilter::parse(text);
            if (!filter) {
                QVERIFY(!filter.error().toJson().dump().empty());
                continue;
            }
            ++accepted;
            const auto page = m_store->listCalls(*filter, {}, 2);
            QVERIFY2(page.has_value(), page ? "" : (text + " → " + page.error().message).c_str());
        }
        QVERIFY(accepted > 100);
        QCOMPARE(codeOf(CallFilter::parse(std::string(5000, 'x'))), "filter.too_long");
        std::string many;
        for (int i = 0; i < 100; ++i)
            many += "x" + std::to_string(i) + " ";
        QCOMPARE(codeOf(CallFilter::parse(many)), "filter.too_long");
        QCOMPARE(codeOf(CallFilter::parse(std::string("a\0b", 3))), "filter.value");
        QCOMPARE(codeOf(m_store->listCalls({}, "1 OR 1")), "params.type");
    }

    void aHundredCallsInOneMillisecondAreAllListed()
    {
        const std::string run = newRun(*m_store)->id;
        for (int i = 0; i < 100; ++i) {
            CallRecord record = sampleCall(run, "burst");
            record.at = newYear;
            record.generation = i;
            if (i < 99)
                m_store->putCall(record, [](const auto&) {});
            else
                QVERIFY(put(*m_store, record));
        }
        CallFilter filter;
        filter.add(CallFilter::Field::Run, run);
        std::size_t count = 0;
        std::string before;
        do {
            const auto page = m_store->listCalls(filter, before, 7);
            QVERIFY2(page.has_value(), page ? "" : page.error().message.c_str());
            count += page->calls.size();
            before = page->next;
        } while (!before.empty());
        QCOMPARE(count, std::size_t(100));
    }
};

QTEST_GUILESS_MAIN(TestCallFilter)
#include "tst_callfilter.moc"
