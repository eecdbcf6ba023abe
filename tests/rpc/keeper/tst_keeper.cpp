// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

#include <csignal>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/socket.h>

#include <QTest>

#include <rpc/keeper/framesocket.h>
#include <rpc/keeper/json_check.h>
#include <rpc/keeper/packed_floats.h>
#include <rpc/keeper/recentcalls.h>
#include <rpc/keeper/spool.h>
#include <rpc/keeper/tensor.h>
#include <rpc/keeper/tokens.h>
#include <rpc/keeper/values.h>
#include <tests/support/temporary.h>

using namespace gb;
using namespace gb::rpc;

class TestKeeper : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void checkedTextIsJson_data()
    {
        QTest::addColumn<QByteArray>("text");
        QTest::addColumn<QString>("code");
        const auto row = [](const char* text, const char* code) {
            QTest::newRow(text) << QByteArray(text) << code;
        };
        for (const char* good :
            {"0", "-0.5e+3", "\"\"", "[]", "{}", " [1 , 2 ]\n", "{\"a\":{\"b\":[true,false,null]}}",
                "\"\\ud83d\\ude00\\n\\u00e9\"", "12345678901234567890123456789"})
            row(good, "");
        for (const char* bad :
            {"", "[", "]", "{", "[1,]", "{\"a\":1,}", "{a:1}", "01", "1.", ".5", "1e", "+1", "nul", "\"\\x\"",
                "\"\\u12g4\"", "\"\t\"", "[1] 2", "[1 2]", "{\"a\" 1}", "{1:2}", "NaN", "\"abc"})
            row(bad, "json.syntax");
        row("\"\xc3\x28\"", "json.utf8");
        row("\"\xed\xa0\x80\"", "json.utf8");
        row("\"\\ud800\"", "json.surrogate");
        row("\"\\udc00\\ud800\"", "json.surrogate");
        row("{\"a\":1,\"b\":2,\"a\":3}", "json.duplicate_key");
        row("[{\"a\":1,\"\\u0061\":3}]", "json.duplicate_key");
    }
    void checkedTextIsJson()
    {
        QFETCH(QByteArray, text);
        QFETCH(QString, code);
        const auto checked = checkJson({text.data(), static_cast<std::size_t>(text.size())});
        QCOMPARE(checked ? QString() : QString::fromStdString(checked.error().code), code);
    }

    void endedCallsAreKnownForThousands()
    {
        RecentCalls recent;
        const auto ended = [](int number, std::size_t bytes = 2) {
            auto outcome = std::make_shared<CallOutcome>();
            outcome->id = "call-" + std::to_string(number);
            outcome->result = SharedText(std::string(bytes, 'x'));
            return outcome;
        };
        for (int i = 0; i < 10'000; ++i) {
            recent.add(ended(i));
            recent.add(ended(i)); // twice is once
            QVERIFY(recent.hasEnded("call-" + std::to_string(i)));
            QVERIFY(recent.hasEnded("call-" + std::to_string(std::max(0, i - 4096))));
            QVERIFY(!recent.hasEnded("call-" + std::to_string(i + 1)));
        }
        QVERIFY(!recent.hasEnded("call-0"));
        QCOMPARE(recent.find("call-9999")->id, std::string("call-9999"));
        QVERIFY(!recent.find("call-9000"));
        recent.add(ended(20'000, 20U << 20U)); // known, but too large to keep
        QVERIFY(recent.hasEnded("call-20000") && !recent.find("call-20000") && recent.find("call-9999"));
        for (int i = 0; i < 5; ++i)
            recent.add(ended(30'000 + i, 15U << 20U));
        QVERIFY(recent.find("call-30004") && recent.find("call-30001") && !recent.find("call-30000"));
    }

    void shapesAreMeasuredAndBounded()
    {
        QCOMPARE(checkJson("[[[]]]")->depth, 3);
        QCOMPARE(checkJson("{\"a\":1,\"b\":{\"c\":1}}")->mostKeys, 2);
        QVERIFY(checkJson(std::string(64, '[') + std::string(64, ']')));
        QCOMPARE(checkJson(std::string(65, '[') + std::string(65, ']')).error().code,
            std::string("json.too_deep"));
        std::string wide = "{";
        for (int i = 0; i < 4097; ++i)
            wide += (i ? ",\"" : "\"") + std::to_string(i) + "\":0";
        QCOMPARE(checkJson(wide + "}").error().code, std::string("json.too_many_keys"));
    }

    void callBodiesKeepTheirText()
    {
        const auto body =
            readCallBody(" {\"fn\":\"f\\u0061\", \"args\": [1.50, {\"b\" : 2}], \"timeout_ms\":5} ");
        QVERIFY(body);
        QCOMPARE(body->fn, std::string("fa"));
        QCOMPARE(body->arguments, std::string("{\"args\":[1.50, {\"b\" : 2}],\"kwargs\":{}}"));
        QCOMPARE(body->timeoutMs, 5);
        QVERIFY(!readCallBody("{\"args\":[]}"));
        QVERIFY(!readCallBody("{\"fn\":\"f\",\"x\":1}"));
        QVERIFY(!readArguments("[]"));
        QCOMPARE(readArguments("")->arguments, std::string("{\"args\":[],\"kwargs\":{}}"));
    }

    void recordFormBecomesPlain_data()
    {
        QTest::addColumn<QString>("record");
        QTest::addColumn<QString>("plain");
        const auto row = [](const char* record, const char* plain) {
            QTest::newRow(record) << record << plain;
        };
        row("{\"a\":1,\"b\":[\"$gb\"]}", "{\"a\":1,\"b\":[\"$gb\"]}");
        row("[{\"$gb\":\"nan\"},{\"$gb\":\"-inf\"}]", "[null,null]");
        row("{\"x\":{\"$gb\":\"int\",\"v\":\"-99\"},\"y\":2}", "{\"x\":-99,\"y\":2}");
        row("{\"$$gb\":1,\"$$$gb\":{\"$$gb\":2}}", "{\"$gb\":1,\"$$gb\":{\"$gb\":2}}");
        row("[\"{\\\"$gb\\\":\\\"nan\\\"}\",\"\\\"$$gb\\\":\"]",
            "[\"{\\\"$gb\\\":\\\"nan\\\"}\",\"\\\"$$gb\\\":\"]");
        row("{\"$gb\":\"table\",\"columns\":[{\"name\":\"a\",\"dtype\":\"f\"},{\"name\":\"b\",\"dtype\":"
            "\"o\"}],"
            "\"rows\":[[1,\"x,]\"],[{\"$gb\":\"nan\"},null]],\"total_rows\":2}",
            "[{\"a\":1,\"b\":\"x,]\"},{\"a\":null,\"b\":null}]");
        row("{\"$gb\":\"tensor\",\"handle\":\"t\"}", "[[1.0,2.5],[null,-0.0]]");
        row("{\"$gb\":\"image\",\"handle\":\"t2\",\"format\":\"png\"}",
            "{\"image\":\"png\",\"data\":\"YWJjZA==\"}");
    }
    void recordFormBecomesPlain()
    {
        QFETCH(QString, record);
        QFETCH(QString, plain);
        const std::array<float, 4> numbers{1, 2.5F, NAN, -0.0F};
        const auto matrix = Tensor::make(
            Dtype::F32, {2, 2}, std::string(reinterpret_cast<const char*>(numbers.data()), sizeof numbers));
        const auto bytes = Tensor::make(Dtype::U8, {4}, std::string("abcd"));
        std::size_t unsaid = 0;
        const std::string got = plainForm(
            record.toStdString(), [&](const std::string& handle) { return handle == "t" ? matrix : bytes; },
            unsaid);
        QCOMPARE(QString::fromStdString(got), plain);
        QVERIFY(checkJson(got));
    }

    void longListsOfNumbersArePacked()
    {
        std::string list = "[";
        for (int i = 0; i < 300; ++i)
            list += (i > 0 ? " , " : " ") + std::to_string(i) + (i % 2 == 0 ? ".5" : "e-1");
        const auto packed = packFloats("{\"a\":" + list + "\n],\"b\":[" + list + "],\"x\"]}");
        QVERIFY(packed);
        QVERIFY(packed->starts_with("{\"a\":{\"$gb\":\"floats\",\"v\":\"AAAAAAAA4D"));
        QVERIFY(packed->ends_with("\"},\"x\"]}"));
        QCOMPARE(packed->size(), std::string("{\"a\":,\"b\":[,\"x\"]}").size() + 2 * (23 + 3200));
        QVERIFY(checkJson(*packed));
        for (const std::string& other :
            {list + ",1]", list + ",null]", list + ",[]]", list, list + ",", "\"" + list + "]\"",
                "[\"\\\"\"," + list.substr(1) + "]", std::string("[1.5]"), std::string()})
            QVERIFY2(!packFloats(other), other.substr(0, 20).c_str());
    }

    void smallFloatsAreWhatTheyMean()
    {
        QCOMPARE(halfTable()[0x3c00], 1.0F);
        QCOMPARE(halfTable()[0xc000], -2.0F);
        QCOMPARE(halfTable()[0x0001], std::ldexp(1.0F, -24));
        QVERIFY(std::isinf(halfTable()[0x7c00]) && std::isnan(halfTable()[0x7e00]));
        QCOMPARE(e4m3Table()[0x7e], 448.0F);
        QVERIFY(std::isnan(e4m3Table()[0x7f]));
        QCOMPARE(e5m2Table()[0x7b], 57344.0F);
        QVERIFY(std::isinf(e5m2Table()[0x7c]));
        const std::uint16_t bits = 0x3fc0;
        QCOMPARE(Bf16Load{reinterpret_cast<const char*>(&bits)}(0), 1.5F);
    }

    void statisticsOnSeveralThreadsAreTheSame()
    {
        constexpr std::size_t count = 12'000'000; // over the size at which threads are used
        std::string bytes(count * sizeof(float), '\0');
        double sum = 0;
        for (std::size_t i = 0; i < count; ++i) {
            const auto x = static_cast<float>(static_cast<int>(i * 2654435761U % 2001) - 1000);
            std::memcpy(bytes.data() + i * sizeof x, &x, sizeof x);
            sum += static_cast<double>(x);
        }
        const auto stats =
            statistics(*Tensor::make(Dtype::F32, {static_cast<std::int64_t>(count)}, std::move(bytes)), true);
        QVERIFY(stats.has_value());
        QCOMPARE(stats->min, -1000.0);
        QCOMPARE(stats->max, 1000.0);
        QVERIFY(std::abs(stats->mean - sum / count) < 1e-9);
        std::uint64_t whole = 0;
        for (const std::uint64_t bin : stats->histogram)
            whole += bin;
        QCOMPARE(whole, std::uint64_t{count});
    }

    void onlySealedMemoryIsTaken()
    {
        const Json header{{"handle", "1-1"}, {"dtype", "u8"}, {"shape", {4}}};
        const auto memory = [](const char* text, int seals) {
            UniqueFd fd(::memfd_create("t", MFD_ALLOW_SEALING | MFD_CLOEXEC));
            [[maybe_unused]] const auto written = ::write(fd.get(), text, std::strlen(text));
            ::fcntl(fd.get(), F_ADD_SEALS, seals);
            return fd;
        };
        constexpr int all = F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE;
        QCOMPARE(
            (*Tensor::fromDescriptor(header, memory("abcd", all)))->data().view(), std::string_view("abcd"));
        QCOMPARE(Tensor::fromDescriptor(header, memory("abc", all)).error().code, std::string("tensor.size"));
        QCOMPARE(Tensor::fromDescriptor(header, memory("abcd", F_SEAL_SHRINK)).error().code,
            std::string("tensor.seals"));
        QCOMPARE(Tensor::fromDescriptor(header, UniqueFd()).error().code, std::string("tensor.seals"));
        QVERIFY(!Tensor::onDevice({{"handle", "../x"}, {"dtype", "u8"}, {"shape", {4}}}));
        QVERIFY(!Tensor::onDevice({{"handle", "x"}, {"dtype", "u8"}, {"shape", {1LL << 40, 1LL << 40}}}));
    }

    void spoolsOutliveTheirWriter()
    {
        const test::TemporaryFolder folder;
        const auto path = folder.path() / "spool";
        {
            const auto spool = Spool::open(path);
            QVERIFY(spool);
            for (int i = 1; i <= 5; ++i)
                QVERIFY((*spool)->append({"{\"n\":" + std::to_string(i) + "}", {}, std::string("att")}));
            (*spool)->acknowledge(2);
        }
        for (const auto& entry : fs::directory_iterator(path)) {
            if (entry.path().extension() == ".seg") // a frame that was being written when the power went
                fs::resize_file(entry.path(), fs::file_size(entry.path()) - 3);
        }
        const auto spool = Spool::open(path);
        QVERIFY(spool);
        QCOMPARE((*spool)->nextSeq(), 5U);
        QVERIFY(!(*spool)->read(2)->has_value());
        const auto third = (*spool)->read(3);
        QVERIFY((*third)->json.find("\"seq\":3,\"record\":{\"n\":3}") != std::string::npos);
        QCOMPARE((*third)->attachment, std::string("att"));
        QVERIFY((*spool)->append({"{}", {}, {}}));
        QVERIFY((*spool)->read(5)->has_value());
        (*spool)->acknowledge(99);
        QVERIFY(!(*spool)->read(5)->has_value());
        QCOMPARE((*spool)->nextSeq(), 6U);
    }

    void spoolsKeepWhatTheyHaveWhenThereIsNoRoom()
    {
        const test::TemporaryFolder folder;
        const auto path = folder.path() / "spool";
        const std::string big(50U << 10U, 'x');
        rlimit before{};
        ::getrlimit(RLIMIT_FSIZE, &before);
        {
            const auto spool = Spool::open(path, 400U << 10U);
            QVERIFY((*spool)->append({"{}", {}, big}));
            // The file system takes a part of the record and then nothing any more, as a full one does.
            std::signal(SIGXFSZ, SIG_IGN);
            const rlimit little{80U << 10U, before.rlim_max};
            ::setrlimit(RLIMIT_FSIZE, &little);
            const auto refused = (*spool)->append({"{}", {}, big});
            ::setrlimit(RLIMIT_FSIZE, &before);
            QVERIFY(!refused);
            QVERIFY2(refused.error().code.starts_with("io."), refused.error().code.c_str());
            QCOMPARE((*spool)->nextSeq(), 2U);
            while ((*spool)->append({"{}", {}, big})) { }
            QCOMPARE((*spool)->append({"{}", {}, big}).error().code, std::string("spool.full"));
            QCOMPARE((*spool)->nextSeq(), 8U);
        }
        const auto spool = Spool::open(path, 400U << 10U);
        for (std::uint64_t seq = 1; seq < 8; ++seq)
            QCOMPARE((*(*spool)->read(seq))->attachment, big);
        QVERIFY(!(*spool)->append({"{}", {}, big}));
        (*spool)->acknowledge(4);
        QVERIFY((*spool)->append({"{}", {}, big}));
    }

    void spoolsShrinkWhenAcknowledged()
    {
        const test::TemporaryFolder folder;
        const auto spool = Spool::open(folder.path() / "spool");
        const std::string big(1U << 20U, 'x');
        for (int i = 0; i < 12; ++i)
            QVERIFY((*spool)->append({"{}", {}, big}));
        const auto segments = [&] {
            return std::distance(fs::directory_iterator(folder.path() / "spool"), fs::directory_iterator())
                - 1;
        };
        QVERIFY(segments() >= 3);
        (*spool)->acknowledge(12);
        QCOMPARE(segments(), 0);
        QVERIFY((*spool)->append({"{}", {}, {}}));
        QCOMPARE((*spool)->firstKept(), 13U);
    }

    void tokensAreForOneThing()
    {
        Tokens tokens;
        const TokenPtr agent = tokens.mint({"agent", "a", {}});
        const TokenPtr path = tokens.mint({"script", "s", {}}, Token::Place::Path);
        QCOMPARE(tokens.find(agent->secret, Token::Place::Header), agent);
        QVERIFY(!tokens.find(agent->secret, Token::Place::Path));
        QVERIFY(!tokens.find(path->secret, Token::Place::Header));
        QVERIFY(!tokens.find("", Token::Place::Header));
        agent->functions = {"f"};
        agent->callsPerMinute = 2;
        QCOMPARE(tokens.charge(*agent, "g", 0).error().code, std::string("not_allowed"));
        QVERIFY(tokens.charge(*agent, "f", 0) && tokens.charge(*agent, "f", 1));
        QCOMPARE(tokens.charge(*agent, "f", 2).error().code, std::string("busy"));
        QVERIFY(tokens.charge(*agent, "f", 60'001));
        QVERIFY(tokens.revoke(agent->id) && !tokens.find(agent->secret, Token::Place::Header));
    }

    void framesAreCutAndDescriptorsCounted()
    {
        std::array<int, 2> ends{};
        QCOMPARE(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends.data()), 0);
        const UniqueFd peer(ends[1]);
        auto loop = Loop::create();
        std::vector<std::size_t> sizes;
        std::size_t descriptors = 0;
        std::shared_ptr<FrameSocket> socket;
        socket = FrameSocket::create(**loop, UniqueFd(ends[0]), workerLinkLimits,
            FrameSocket::Descriptors::Accepted,
            {[&](std::string& json, const SharedText& attachment) {
                 sizes.push_back(attachment.size());
                 descriptors += socket->takeDescriptors(json == "{\"fd\":1}" ? 1 : 0).size();
             },
                [&](const std::string&) { (*loop)->stop(); }});
        std::thread writer([&peer] {
            const std::string first = encodeFrame("{}", std::string(3'000'000, 'a'));
            [[maybe_unused]] auto sent = ::send(peer.get(), first.data(), first.size(), 0);
            const std::string second = encodeFrame("{\"fd\":1}", "x");
            iovec part{const_cast<char*>(second.data()), second.size()};
            alignas(cmsghdr) std::array<char, CMSG_SPACE(2 * sizeof(int))> control{};
            msghdr message{};
            message.msg_iov = &part;
            message.msg_iovlen = 1;
            message.msg_control = control.data();
            message.msg_controllen = control.size();
            cmsghdr* rights = CMSG_FIRSTHDR(&message);
            *rights = {CMSG_LEN(2 * sizeof(int)), SOL_SOCKET, SCM_RIGHTS};
            const std::array<int, 2> fds{0, 0};
            std::memcpy(CMSG_DATA(rights), fds.data(), sizeof fds);
            sent = ::sendmsg(peer.get(), &message, 0);
            ::shutdown(peer.get(), SHUT_RDWR);
        });
        (*loop)->run();
        writer.join();
        QCOMPARE(sizes, (std::vector<std::size_t>{3'000'000, 1}));
        QCOMPARE(descriptors, 1U);
    }
};

QTEST_GUILESS_MAIN(TestKeeper)
#include "tst_keeper.moc"
