// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

#include <cstdio>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <backend/base/ids.h>
#include <rpc/protocol/frame.h>
#include <rpc/protocol/message.h>

#include "daemonhome.h"

using namespace gb;
using test::ask;
using test::codeOf;
using test::DaemonHome;

namespace {

// A client that says what it likes.
class Wild
{
public:
    explicit Wild(const DaemonHome& home)
    {
        auto fd = api::connectLocal(*daemonSocket(home.path()));
        if (!fd)
            qFatal("no daemon");
        m_fd = std::move(*fd);
    }

    bool write(std::string_view bytes)
    {
        while (!bytes.empty()) {
            const ssize_t n = ::send(m_fd.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL);
            if (n > 0) {
                bytes.remove_prefix(static_cast<std::size_t>(n));
                continue;
            }
            pollfd wait{m_fd.get(), POLLOUT, 0};
            if (errno != EAGAIN || ::poll(&wait, 1, test::patience) != 1)
                return false;
        }
        return true;
    }
    void request(const std::string& method, const Json& params = Json::object())
    {
        write(rpc::encodeFrame(rpc::encodeRequest(++m_id, method, params)));
    }
    void hello()
    {
        request("daemon.hello", Json{{"protocol", 1}, {"client", Json{{"name", "wild"}}}});
        receive();
    }
    // The next message, or the error code "closed".
    Json receive()
    {
        for (;;) {
            auto frame = m_reader.next();
            if (frame && *frame)
                return *parseJson((*frame)->json, {64, 1 << 20});
            pollfd wait{m_fd.get(), POLLIN, 0};
            char buffer[65536];
            const ssize_t n =
                ::poll(&wait, 1, test::patience) == 1 ? ::recv(m_fd.get(), buffer, sizeof buffer, 0) : 0;
            if (n <= 0)
                return Json("closed");
            m_reader.feed({buffer, static_cast<std::size_t>(n)});
        }
    }
    std::string code()
    {
        const Json message = receive();
        return message.is_string() ? message.get<std::string>()
                                   : stringOr(objectOr(objectOr(message, "error"), "data"), "code", "answer");
    }
    int fd() const { return m_fd.get(); }

private:
    UniqueFd m_fd;
    rpc::FrameReader m_reader;
    std::int64_t m_id = 0;
};

std::int64_t residentBytes(int pid)
{
    const auto text = readFile("/proc/" + std::to_string(pid) + "/statm");
    long total = 0;
    long resident = 0;
    if (text)
        std::sscanf(text->c_str(), "%ld %ld", &total, &resident);
    return resident * ::sysconf(_SC_PAGESIZE);
}

} // namespace

// What no client of ours would do: each is refused or dropped, and the daemon serves on without having grown.
class TestHostile : public QObject
{
    Q_OBJECT

    DaemonHome m_home;
    std::unique_ptr<api::Client> m_client;
    int m_pid = 0;
    std::int64_t m_before = 0;

private Q_SLOTS:
    void initTestCase()
    {
        m_client = m_home.client();
        QCOMPARE(codeOf(ask(*m_client, "daemon.status")), std::string("ok"));
        m_pid = static_cast<int>(integerOr(m_client->daemonInfo(), "pid"));
    }

    void init() { m_before = residentBytes(m_pid); }

    void cleanup()
    {
        const auto status = ask(*m_client, "daemon.status");
        QCOMPARE(codeOf(status), std::string("ok"));
        QCOMPARE(integerOr(status->body, "pid"), std::int64_t{m_pid});
#ifndef __SANITIZE_ADDRESS__
        QVERIFY2(residentBytes(m_pid) - m_before < (100 << 20), "the daemon has grown");
#endif
    }

    void brokenFramesDropTheClient_data()
    {
        QTest::addColumn<QByteArray>("bytes");
        QTest::newRow("4 GB of JSON") << QByteArray("\xff\xff\xff\xff\0\0\0\0", 8);
        QTest::newRow("4 GB attached") << QByteArray("\0\0\0\2\xff\xff\xff\xff{}", 10);
        QTest::newRow("empty") << QByteArray(8, '\0');
        QTest::newRow("HTTP") << QByteArray("POST / HTTP/1.1\r\nHost: localhost\r\n\r\n");
    }

    void brokenFramesDropTheClient()
    {
        QFETCH(QByteArray, bytes);
        Wild wild(m_home);
        wild.hello();
        QVERIFY(wild.write({bytes.constData(), static_cast<std::size_t>(bytes.size())}));
        QCOMPARE(wild.code(), std::string("closed"));
    }

    void badJsonIsSaidThenDropped()
    {
        for (const std::string& text : {std::string("{]"), std::string("{\"jsonrpc\":\"2.0\"}"),
                 std::string(1 << 20, '['), std::string("{\"a\":\"\xff\"}")}) {
            Wild wild(m_home);
            wild.hello();
            QVERIFY(wild.write(rpc::encodeFrame(text)));
            QVERIFY(wild.code() != "answer");
            QCOMPARE(wild.code(), std::string("closed"));
        }
    }

    void wrongRequestsAreRefused()
    {
        Wild wild(m_home);
        wild.request("daemon.status");
        QCOMPARE(wild.code(), std::string("rpc.hello_first"));
        wild.request("daemon.hello", Json{{"protocol", 99}, {"client", Json::object()}});
        QCOMPARE(wild.code(), std::string("rpc.version"));
        wild.hello();
        wild.request("no.such");
        QCOMPARE(wild.code(), std::string("rpc.unknown_method"));
        wild.request("events.read", Json{{"stream", 7}, {"since", 1}});
        QCOMPARE(wild.code(), std::string("params.type"));
        wild.request("events.read", Json{{"stream", "daemon"}});
        QCOMPARE(wild.code(), std::string("params.missing"));
        wild.request("events.read", Json{{"stream", "daemon"}, {"since", 18446744073709551615ULL}});
        QCOMPARE(wild.code(), std::string("params.type"));
        wild.request("events.read", Json{{"stream", "../../etc/passwd"}, {"since", 1}});
        QCOMPARE(wild.code(), std::string("events.unknown_stream"));
        wild.request("state.subscribe", Json{{"topics", Json{"secrets"}}});
        QCOMPARE(wild.code(), std::string("state.unknown_topic"));
        wild.request("daemon.logs", Json{{"limit", 1LL << 60}});
        QCOMPARE(wild.code(), std::string("answer"));
        wild.request("interfaces.register", Json{{"control", "/nowhere"}, {"op", newId()}});
        QCOMPARE(wild.code(), std::string("interfaces.unreachable"));
    }

    void halfAFrameAndGone()
    {
        for (int i = 0; i < 200; ++i) {
            Wild wild(m_home);
            QVERIFY(wild.write(rpc::encodeFrame("{\"jsonrpc\":\"2.0\"}").substr(0, 12)));
        }
    }

    void whoAsksAndNeverReadsIsHeldBack()
    {
        Wild wild(m_home);
        wild.hello();
        const std::string request = rpc::encodeFrame(rpc::encodeRequest(1, "daemon.methods", Json::object()));
        // Far more answers than anybody keeps for a client: it is not read from any more, or dropped.
        std::size_t sent = 0;
        for (int i = 0; i < 400'000; ++i) {
            const ssize_t n = ::send(wild.fd(), request.data(), request.size(), MSG_NOSIGNAL);
            if (n < static_cast<ssize_t>(request.size())) {
                pollfd wait{wild.fd(), POLLOUT, 0};
                if ((n < 0 && errno != EAGAIN) || ::poll(&wait, 1, 1000) != 1)
                    break;
            }
            ++sent;
        }
        QVERIFY2(sent < 400'000, "everything was taken in");
    }

    void whoFollowsEventsAndReadsSlowlyGetsThemAll()
    {
        constexpr int batches = 40;
        const std::string big(200'000, 'x');
        Wild slow(m_home);
        slow.hello();
        slow.request("events.subscribe", Json{{"stream", "daemon"}, {"since", -1}});
        const std::int64_t next = integerOr(objectOr(slow.receive(), "result"), "next");
        for (int i = 0; i < batches; ++i)
            QCOMPARE(codeOf(ask(*m_client, "events.append",
                         Json{{"stream", "daemon"}, {"events", Json{Json{{"type", "big"}, {"data", big}}}}})),
                std::string("ok"));
        std::int64_t expected = next;
        while (expected < next + batches) {
            const Json message = slow.receive();
            QVERIFY2(message.is_object(), "dropped");
            for (const Json& event : message["params"]["events"])
                QCOMPARE(integerOr(event, "seq"), expected++);
        }
    }

    void whoNeverReadsIsDroppedAndLosesNobodyElse()
    {
        Wild deaf(m_home);
        deaf.hello();
        // Each answer is 1 MiB and more; the daemon stops reading long before it runs out of memory.
        const Json big{{"stream", "daemon"}, {"since", 1}, {"limit", 10000}};
        for (int i = 0; i < 200; ++i)
            deaf.request("events.read", big);
        QCOMPARE(
            codeOf(ask(*m_client, "events.append", Json{{"stream", "daemon"}, {"events", test::events(1)}})),
            std::string("ok"));
    }

    void manyConnectionsComeAndGo()
    {
        std::vector<std::unique_ptr<Wild>> all;
        for (int i = 0; i < 200; ++i) {
            all.push_back(std::make_unique<Wild>(m_home));
            all.back()->request("daemon.hello", Json{{"protocol", 1}, {"client", Json::object()}});
        }
        for (const auto& one : all)
            QCOMPARE(one->code(), std::string("answer"));
    }
};

QTEST_GUILESS_MAIN(TestHostile)
#include "tst_hostile.moc"
