// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

#include <QTest>

#include <rpc/protocol/frame.h>
#include <rpc/protocol/message.h>

using namespace gb;
using namespace gb::rpc;

class TestFrames : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void framesSurviveAnyCut()
    {
        const std::string stream =
            encodeFrame("{\"a\":1}", "xyz") + encodeFrame("{}") + encodeFrame("[]", std::string(70000, 'q'));
        for (const std::size_t step : {1U, 2U, 7U, 8U, 9U, 1000U, 1000000U}) {
            FrameReader reader;
            std::vector<Frame> frames;
            for (std::size_t at = 0; at < stream.size(); at += step) {
                reader.feed(std::string_view(stream).substr(at, step));
                for (;;) {
                    auto frame = reader.next();
                    QVERIFY(frame.has_value());
                    if (!*frame)
                        break;
                    frames.push_back(std::move(**frame));
                }
            }
            QCOMPARE(frames.size(), std::size_t(3));
            QCOMPARE(frames[0].attachment, std::string("xyz"));
            QCOMPARE(frames[2].attachment.size(), std::size_t(70000));
            QCOMPARE(reader.buffered(), std::size_t(0));
        }
    }

    void announcedSizesAreBelievedOnlyWithinLimits()
    {
        FrameReader reader;
        reader.feed(std::string("\xff\xff\xff\xff\0\0\0\0", 8));
        QCOMPARE(reader.next().error().code, std::string("frame.json_size"));
        FrameReader attachment;
        attachment.feed(std::string("\0\0\0\2\xff\xff\xff\xff{}", 10));
        QCOMPARE(attachment.next().error().code, std::string("frame.attachment_size"));
        FrameReader empty;
        empty.feed(std::string(8, '\0'));
        QCOMPARE(empty.next().error().code, std::string("frame.json_size"));
    }

    void messagesRoundTrip()
    {
        const auto request = decodeMessage(encodeRequest(7, "calls.run", Json{{"b", 1}, {"a", 2}}));
        QVERIFY(request.has_value());
        QCOMPARE(request->kind, Message::Kind::Request);
        QCOMPARE(request->id, 7);
        QCOMPARE(request->body.dump(), std::string(R"({"b":1,"a":2})"));
        QCOMPARE(decodeMessage(encodeNotification("x", Json::object()))->kind, Message::Kind::Notification);
        QCOMPARE(decodeMessage(encodeAnswer(3, nullptr))->kind, Message::Kind::Answer);
        for (const Json& body : {Json(nullptr), Json::object(), Json{{"a", 1}}}) {
            const auto chunked = decodeMessage(encodeAnswer(3, body, 5));
            QVERIFY(chunked.has_value());
            QCOMPARE(chunked->chunks, 5);
            QCOMPARE(integerOr(chunked->body, "a", 1), 1);
        }
        const auto failure =
            decodeMessage(encodeFailure(3, Error{"io.disk_full", "no space", Json{{"path", "x"}}}));
        QCOMPARE(failure->kind, Message::Kind::Failure);
        QCOMPARE(failure->error.code, std::string("io.disk_full"));
        QCOMPARE(stringOr(failure->error.data, "path"), std::string("x"));

        for (const char* bad : {"", "[]", "{}", R"({"jsonrpc":"1.0","id":1,"method":"x"})",
                 R"({"jsonrpc":"2.0","id":"text","method":"x"})", R"({"jsonrpc":"2.0","id":1,"method":5})",
                 R"({"jsonrpc":"2.0","id":1,"method":"x","params":[1]})", R"({"jsonrpc":"2.0","id":1})"})
            QVERIFY2(!decodeMessage(bad), bad);
    }
};

QTEST_GUILESS_MAIN(TestFrames)
#include "tst_frames.moc"
