// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

#include <QTest>

#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>

#include <rpc/box/networkproxy.h>

using namespace gb;
using namespace gb::rpc;

namespace {

UniqueFd listenAt(const char* address, int& port)
{
    UniqueFd fd(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
    sockaddr_in at{};
    socklen_t size = sizeof at;
    at.sin_family = AF_INET;
    at.sin_port = htons(static_cast<std::uint16_t>(port));
    ::inet_pton(AF_INET, address, &at.sin_addr);
    if (::bind(fd.get(), reinterpret_cast<const sockaddr*>(&at), size) != 0 || ::listen(fd.get(), 16) != 0
        || ::getsockname(fd.get(), reinterpret_cast<sockaddr*>(&at), &size) != 0)
        return {};
    port = ntohs(at.sin_port);
    return fd;
}

bool isAsked(const UniqueFd& listener)
{
    pollfd one{listener.get(), POLLIN, 0};
    return ::poll(&one, 1, 0) == 1;
}

std::vector<NetworkAddress> addresses(std::initializer_list<const char*> texts)
{
    std::vector<NetworkAddress> all;
    for (const char* text : texts)
        all.push_back(NetworkAddress::parse(text).value());
    return all;
}

} // namespace

// The proxy with a name server that says what it is told to.
class TestNetwork : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void init()
    {
        m_port = 0;
        m_good = listenAt("127.0.0.1", m_port);
        m_evil = listenAt("127.66.66.66", m_port);
        QVERIFY(m_good.valid() && m_evil.valid());
        m_answers.clear();
        m_asked = 0;
        m_told.clear();
    }

    // 127.0.0.1 stands for the public address, 127.66.66.66 for one that must not be reached.
    void theCheckedAddressIsTheOneConnectedTo()
    {
        start("127.0.0.1/32");
        m_answers = {addresses({"127.0.0.1"}), addresses({"127.66.66.66"})};
        QVERIFY2(ask().startsWith("HTTP/1.1 200"), qPrintable(m_said));
        QCOMPARE(m_asked.load(), 1); // a second question would have had the other answer
        QVERIFY(isAsked(m_good));
        QVERIFY(!isAsked(m_evil));
        // The next connection asks again, and its answer is checked again.
        QVERIFY2(ask().startsWith("HTTP/1.1 403"), qPrintable(m_said));
        QCOMPARE(m_asked.load(), 2);
        QVERIFY(!isAsked(m_evil));
        QCOMPARE(m_told, QStringList{QString("rebound.example:%1").arg(m_port)});
        // The control: without the check it would have been reached.
        start("127.0.0.0/8");
        m_answers = {addresses({"127.66.66.66"})};
        QVERIFY(ask().startsWith("HTTP/1.1 200"));
        QVERIFY(isAsked(m_evil));
    }

    void addressesThatMayNotBeAreLeftOut()
    {
        start("127.0.0.1/32");
        m_answers = {addresses({"127.66.66.66", "::ffff:127.66.66.66", "169.254.169.254", "127.0.0.1"})};
        QVERIFY2(ask().startsWith("HTTP/1.1 200"), qPrintable(m_said));
        QVERIFY(isAsked(m_good) && !isAsked(m_evil));
    }

    void addressesThatAreNotPublic_data()
    {
        QTest::addColumn<QString>("address");
        QTest::addColumn<bool>("isPublic");
        QTest::addColumn<bool>("isPrivate");
        for (const char* text : {"1.1.1.1", "8.8.8.8", "172.15.0.1", "172.32.0.1", "100.63.255.255",
                 "2606:4700::1111", "2a00:1450::1"})
            QTest::newRow(text) << QString(text) << true << false;
        for (const char* text : {"10.1.2.3", "172.16.0.1", "172.31.255.255", "192.168.1.1", "100.64.0.1",
                 "127.0.0.1", "127.255.255.254", "::1", "fd00::1", "192.0.2.1", "198.18.0.1", "203.0.113.9"})
            QTest::newRow(text) << QString(text) << false << true;
        for (const char* text : {"0.0.0.0", "169.254.169.254", "224.0.0.1", "255.255.255.255", "240.0.0.1",
                 "::", "::ffff:1.1.1.1", "::ffff:127.0.0.1", "::127.0.0.1", "64:ff9b::101:101", "fe80::1",
                 "ff02::1", "2002:7f00:1::", "2001:0:1::", "2001:db8::1"})
            QTest::newRow(text) << QString(text) << false << false;
    }

    void addressesThatAreNotPublic()
    {
        QFETCH(QString, address);
        QFETCH(bool, isPublic);
        QFETCH(bool, isPrivate);
        const auto parsed = NetworkAddress::parse(address.toStdString());
        QVERIFY(parsed.has_value());
        const NetworkRules rules;
        const NetworkRule plain{"name.example", 443, false};
        const NetworkRule inPrivate{"name.example", 443, true};
        const NetworkRule named{parsed->text(), 443, true};
        QCOMPARE(rules.mayConnect(plain, *parsed), isPublic);
        QCOMPARE(rules.mayConnect(inPrivate, *parsed), isPublic || isPrivate);
        QVERIFY(rules.mayConnect(named, *parsed));
    }

    void whoAsksAndLeavesIsForgotten()
    {
        // A name server that never answers holds up neither the others nor the end.
        start("127.0.0.1/32");
        m_isSlow = true;
        const UniqueFd waiting = connectToProxy();
        const std::string head = request("rebound.example");
        QCOMPARE(::send(waiting.get(), head.data(), head.size(), 0), ssize_t(head.size()));
        QTRY_COMPARE_WITH_TIMEOUT(m_asked.load(), 1, 20000);
        m_isSlow = false;
        m_answers = {addresses({"127.0.0.1"})};
        QVERIFY(ask().startsWith("HTTP/1.1 200"));
        m_proxy.reset();
        m_release = true;
        QTRY_COMPARE_WITH_TIMEOUT(m_inside.load(), 0, 20000);
    }

private:
    void start(const char* range)
    {
        m_proxyPort = 0;
        UniqueFd door = listenAt("127.0.0.1", m_proxyPort);
        const Json hosts =
            Json::array({Json{{"host", "rebound.example"}, {"port", m_port}}, Json{{"host", range}}});
        auto rules = NetworkRules::fromJson(Json{{"hosts", hosts}});
        QVERIFY(rules.has_value());
        NetworkProxy::Options options;
        options.rules = std::move(*rules);
        options.resolver = [this](const std::string&) { return answer(); };
        options.onRefused = [this](const std::string& place, const std::string&) {
            m_told.push_back(QString::fromStdString(place));
        };
        m_proxy.reset();
        auto proxy = NetworkProxy::start(std::move(door), std::move(options));
        QVERIFY(proxy.has_value());
        m_proxy = std::move(*proxy);
    }

    Result<std::vector<NetworkAddress>> answer()
    {
        ++m_inside;
        ++m_asked;
        const bool isHeld = m_isSlow;
        while (isHeld && !m_release)
            QTest::qSleep(5);
        --m_inside;
        if (isHeld || m_answers.empty())
            return fail("test.none", "no more answers");
        auto first = std::move(m_answers.front());
        m_answers.erase(m_answers.begin());
        return first;
    }

    std::string request(const std::string& host) const
    {
        return "CONNECT " + host + ":" + std::to_string(m_port) + " HTTP/1.1\r\n\r\n";
    }

    UniqueFd connectToProxy() const
    {
        UniqueFd fd(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
        sockaddr_in at{};
        at.sin_family = AF_INET;
        at.sin_port = htons(static_cast<std::uint16_t>(m_proxyPort));
        at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
        return ::connect(fd.get(), reinterpret_cast<const sockaddr*>(&at), sizeof at) == 0 ? std::move(fd)
                                                                                           : UniqueFd();
    }

    // The head of the proxy's answer; the connection ends here.
    QString ask()
    {
        const UniqueFd fd = connectToProxy();
        const std::string head = request("rebound.example");
        (void)!::send(fd.get(), head.data(), head.size(), 0);
        m_said.clear();
        for (char byte = 0; !m_said.endsWith("\r\n\r\n") && ::recv(fd.get(), &byte, 1, 0) == 1;)
            m_said += QChar::fromLatin1(byte);
        return m_said;
    }

    int m_port = 0;
    int m_proxyPort = 0;
    UniqueFd m_good;
    UniqueFd m_evil;
    std::vector<std::vector<NetworkAddress>> m_answers;
    std::atomic<int> m_asked = 0;
    std::atomic<int> m_inside = 0;
    std::atomic<bool> m_isSlow = false;
    std::atomic<bool> m_release = false;
    QStringList m_told;
    QString m_said;
    std::unique_ptr<NetworkProxy> m_proxy;
};

QTEST_GUILESS_MAIN(TestNetwork)
#include "tst_network.moc"
