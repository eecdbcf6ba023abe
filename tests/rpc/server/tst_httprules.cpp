// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

#include <QTest>

#include <rpc/server/http_connection.h>
#include <rpc/server/http_rules.h>

using namespace gb;
using namespace gb::rpc;

class TestHttpRules : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void queriesAreDecoded()
    {
        QCOMPARE(queryValue("a=1&b=2", "b"), std::string("2"));
        QCOMPARE(queryValue("slice=0%3A10%2C3", "slice"), std::string("0:10,3"));
        QCOMPARE(queryValue("a=%4", "a"), std::string("%4"));
        QCOMPARE(queryValue("a=%41", "a"), std::string("A"));
        QCOMPARE(queryValue("ab=1", "a"), std::string());
        QCOMPARE(queryValue("a", "a"), std::string());
    }

    void acceptIsAList()
    {
        RequestHead head;
        head.accept = "text/html, Text/Event-Stream;q=0.5";
        QVERIFY(head.accepts("text/event-stream"));
        QVERIFY(!head.accepts("text"));
    }

    // Whatever the cuts, the same request comes out, and what follows it stays.
    void requestsSurviveAnyCut()
    {
        const std::string text =
            "POST /v1/calls?x=1 HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n"
            "3\r\nabc\r\n2\r\nde\r\n0\r\n\r\nGET / HTTP/1.1\r\n";
        for (std::size_t step = 1; step <= text.size(); step += 3) {
            RequestReader reader(8192, 1000);
            std::string pending;
            auto state = RequestReader::Step::NeedMore;
            std::size_t at = 0;
            while (state != RequestReader::Step::Complete) {
                if (state == RequestReader::Step::NeedMore) {
                    QVERIFY(at < text.size());
                    pending += text.substr(at, step);
                    at += step;
                }
                std::string_view bytes = pending;
                state = reader.read(bytes);
                QVERIFY(state != RequestReader::Step::Bad);
                pending = std::string(bytes);
            }
            QCOMPARE(reader.head().path, std::string("/v1/calls"));
            QCOMPARE(reader.head().query, std::string("x=1"));
            QCOMPARE(reader.takeBody(), std::string("abcde"));
            QVERIFY(std::string("GET / HTTP/1.1\r\n").starts_with(pending));
        }
    }

    void limitsHold()
    {
        RequestReader reader(1000, 10);
        std::string_view large = "POST / HTTP/1.1\r\nContent-Length: 11\r\n\r\n";
        QCOMPARE(reader.read(large), RequestReader::Step::Bad);
        QCOMPARE(reader.refusal().status, 413);
        RequestReader headers(1000, 10);
        const std::string longHead = "GET / HTTP/1.1\r\nA: " + std::string(2000, 'x') + "\r\n\r\n";
        std::string_view bytes = longHead;
        QCOMPARE(headers.read(bytes), RequestReader::Step::Bad);
        QCOMPARE(headers.refusal().status, 431);
    }
};

QTEST_GUILESS_MAIN(TestHttpRules)
#include "tst_httprules.moc"
