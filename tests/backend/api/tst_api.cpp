// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

#include <set>
#include <sys/socket.h>

#include <QRegularExpression>
#include <QTest>

#include <backend/api/channel.h>
#include <backend/api/client.h>
#include <backend/api/daemonstart.h>
#include <backend/api/methods.h>
#include <tests/support/temporary.h>

using namespace gb;
using api::Channel;

namespace {

struct Pair
{
    Pair()
    {
        int ends[2];
        if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, ends) != 0)
            qFatal("no socket pair");
        near = std::make_unique<Channel>(UniqueFd(ends[0]));
        far = std::make_unique<Channel>(UniqueFd(ends[1]));
    }

    std::unique_ptr<Channel> near;
    std::unique_ptr<Channel> far;
};

// One end a channel, the other a plain descriptor for writing what no channel would.
struct Wild
{
    Wild()
    {
        int ends[2];
        if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, ends) != 0)
            qFatal("no socket pair");
        channel = std::make_unique<Channel>(UniqueFd(ends[0]));
        raw.reset(ends[1]);
    }
    void write(std::string_view bytes) const
    {
        QVERIFY(::send(raw.get(), bytes.data(), bytes.size(), 0) > 0);
    }

    std::unique_ptr<Channel> channel;
    UniqueFd raw;
};

std::string readmeTable()
{
    return *readFile(fs::path(GB_SOURCE_DIR) / "backend/api/README.md");
}

} // namespace

class TestApi : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void theReadmeIsTheTable()
    {
        // | `name` | op | `{params}` → …
        const QString text = QString::fromStdString(readmeTable());
        const QRegularExpression row(
            QStringLiteral("\\n\\| `([a-z]+\\.[a-z_]+)` \\| (op, job|op|job|) ?\\| `\\{([^}]*)\\}`"));
        std::set<std::string> seen;
        for (auto it = row.globalMatch(text); it.hasNext();) {
            const QRegularExpressionMatch found = it.next();
            const std::string name = found.captured(1).toStdString();
            const api::Method* method = api::findMethod(name);
            QVERIFY2(method, name.c_str());
            QVERIFY2(seen.insert(name).second, name.c_str());
            QCOMPARE(method->op, found.captured(2).startsWith(QLatin1String("op")));
            QCOMPARE(method->job, found.captured(2).endsWith(QLatin1String("job")));
            std::string params;
            const Json described = toJson(*method);
            for (const Json& param : described["params"])
                params += (params.empty() ? "" : ", ") + stringOr(param, "name")
                    + (boolOr(param, "required") ? "" : "?");
            QCOMPARE(found.captured(1) + found.captured(3), QString::fromStdString(name + params));
        }
        QCOMPARE(seen.size(), api::methods().size());
    }

    void requestsAreAnsweredOutOfOrder()
    {
        Pair pair;
        std::vector<std::int64_t> asked;
        connect(pair.far.get(), &Channel::requested, this,
            [&](const api::Incoming& one) { asked.push_back(one.message.id); });
        std::string heard;
        pair.near->request(
            "a", Json::object(), [&](const auto& answer) { heard += "a" + answer->body.dump(); });
        pair.near->request(
            "b", Json::object(), [&](const auto& answer) { heard += "b" + answer.error().code; });
        QTRY_COMPARE(asked.size(), std::size_t{2});
        pair.far->refuse(asked[1], Error{"no.such", "thing"});
        pair.far->answer(asked[0], Json{{"x", 1}});
        QTRY_COMPARE(heard, std::string(R"(bno.sucha{"x":1})"));
    }

    void largeTextsGoInChunksBothWays()
    {
        Pair pair;
        std::string large(3'500'000, 'x');
        large[2'000'000] = '\0';
        connect(pair.far.get(), &Channel::requested, this, [&](const api::Incoming& one) {
            QVERIFY(!one.message.body.contains("chunks"));
            pair.far->answer(one.message.id, Json{{"got", one.attachment.size()}}, one.attachment + "!");
        });
        std::string back;
        pair.near->request(
            "echo", Json{{"k", 1}}, [&](const auto& answer) { back = answer->attachment; }, large);
        QTRY_VERIFY(back == large + "!");
    }

    void whatBreaksTheFormatClosesTheChannel_data()
    {
        QTest::addColumn<QByteArray>("bytes");
        QTest::addColumn<QString>("code");
        const auto frame = [](const std::string& json) {
            const std::string bytes = rpc::encodeFrame(json);
            return QByteArray(bytes.data(), static_cast<qsizetype>(bytes.size()));
        };
        QTest::newRow("4 GB of JSON") << QByteArray("\xff\xff\xff\xff\0\0\0\0", 8) << "frame.json_size";
        QTest::newRow("4 GB attached")
            << QByteArray("\0\0\0\2\xff\xff\xff\xff", 8) << "frame.attachment_size";
        QTest::newRow("no JSON") << QByteArray("GET / HTTP/1.1\r\n\r\n") << "frame.json_size";
        QTest::newRow("bad JSON") << frame("{]") << "json.syntax";
        QTest::newRow("not RPC") << frame("{\"a\":1}") << "rpc.invalid";
        QTest::newRow("deep") << frame(std::string(100'000, '[')) << "json.too_deep";
        QTest::newRow("stray chunk") << frame(rpc::encodeChunk(7, 0)) << "rpc.invalid";
    }

    void whatBreaksTheFormatClosesTheChannel()
    {
        QFETCH(QByteArray, bytes);
        QFETCH(QString, code);
        Wild wild;
        QString why;
        connect(wild.channel.get(), &Channel::closed, this,
            [&](const Error& reason) { why = QString::fromStdString(reason.code); });
        wild.write({bytes.constData(), static_cast<std::size_t>(bytes.size())});
        QTRY_COMPARE(why, code);
        QVERIFY(!wild.channel->isOpen());
    }

    void closingFailsWhatWaits()
    {
        Pair pair;
        std::string code;
        pair.near->request("a", Json::object(), [&](const auto& answer) { code = answer.error().code; });
        pair.far.reset();
        QTRY_COMPARE(code, std::string("rpc.closed"));
    }

    void aChannelMayBeDeletedInItsHandler()
    {
        Pair pair;
        bool deleted = false;
        connect(pair.far.get(), &Channel::notified, this, [&](const api::Incoming&) {
            pair.far.reset();
            deleted = true;
        });
        pair.near->notify("a", Json::object());
        pair.near->notify("b", Json::object());
        QTRY_VERIFY(deleted);
        QTRY_VERIFY(!pair.near->isOpen());
    }

    void withoutADaemonAClientSaysSo()
    {
        const test::TemporaryFolder folder;
        api::Client client({folder.path(), "test", false, false, {}});
        std::string callCode;
        std::string openCode;
        connect(
            &client, &api::Client::disconnected, this, [&](const Error& error) { openCode = error.code; });
        client.call(this, "daemon.status", Json::object(),
            [&](const auto& answer) { callCode = answer ? "answered" : answer.error().code; });
        client.open();
        QTRY_COMPARE(openCode, std::string("api.no_daemon"));
        QCOMPARE(callCode, std::string("api.no_daemon"));
        QCOMPARE(client.state(), api::Client::State::Closed);
    }

    void theBuildIdSortsByTimeOfBuild()
    {
        const test::TemporaryFolder folder;
        QCOMPARE(api::buildId(folder.path() / "none"), std::string());
        QVERIFY(writeFileAtomic(folder.path() / "one", "1").has_value());
        const std::string first = api::buildId(folder.path() / "one");
        QCOMPARE(api::buildId(folder.path() / "one"), first);
        fs::last_write_time(
            folder.path() / "one", fs::file_time_type::clock::now() + std::chrono::seconds(5));
        QVERIFY(first < api::buildId(folder.path() / "one"));
    }
};

QTEST_GUILESS_MAIN(TestApi)
#include "tst_api.moc"
