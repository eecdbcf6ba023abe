// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <csignal>

#include <QTest>

#include <fcntl.h>
#include <sched.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <backend/base/fd.h>
#include <backend/base/files.h>
#include <backend/sandbox/local/strays.h>

using namespace gb;

namespace {

enum class Pids { Own, Shared };
enum class Parent { This, LikeBwrap };

using Words = std::vector<const char*>;

// With "-c" and what follows it a shell that waits; the rest is what it looks like.
Words lookingLike(Words rest)
{
    Words words{"bwrap", "-c", "read x"};
    words.insert(words.end(), rest.begin(), rest.end());
    words.push_back(nullptr);
    return words;
}

[[noreturn]] void become(const Words& words, int in)
{
    ::dup2(in, 0);
    ::execv("/bin/sh", const_cast<char* const*>(words.data()));
    ::_exit(127);
}

// Processes that live until killed, or until the test ends and their pipe with it.
class Waiting
{
public:
    Waiting(const Words& words, Pids pids)
    {
        int ends[2];
        if (::pipe2(ends, O_CLOEXEC) != 0)
            return;
        const UniqueFd reading(ends[0]);
        m_open.reset(ends[1]);
        const unsigned long flags = pids == Pids::Shared ? 0
            : ::geteuid() == 0                           ? CLONE_NEWPID
                                                         : CLONE_NEWPID | CLONE_NEWUSER;
        m_pid = static_cast<pid_t>(::syscall(SYS_clone, flags | SIGCHLD, nullptr, nullptr, nullptr, 0));
        if (m_pid == 0)
            become(words, reading.get());
    }
    ~Waiting()
    {
        if (m_pid <= 0)
            return;
        ::kill(m_pid, SIGKILL);
        ::waitpid(m_pid, nullptr, 0);
    }
    Waiting(const Waiting&) = delete;
    Waiting& operator=(const Waiting&) = delete;

    pid_t pid() const { return m_pid; }
    bool isAlive() const { return m_pid > 0 && ::waitpid(m_pid, nullptr, WNOHANG) == 0; }
    bool isReady() const
    {
        const auto line = readFile("/proc/" + std::to_string(m_pid) + "/cmdline");
        return line && line->starts_with("bwrap");
    }

private:
    pid_t m_pid = -1;
    UniqueFd m_open;
};

} // namespace

// Only what a killed start left behind is ended; everything that looks nearly like it lives.
class StraysTest : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void aStrayIsEnded()
    {
        Waiting stray(lookingLike({"--", "/run/glovebox/init", "4"}), Pids::Own);
        QTRY_VERIFY(stray.isReady());
        // Not yet: it may be one that is just starting.
        endStrays(std::chrono::hours(1));
        QVERIFY(stray.isAlive());
        const auto ended = endStrays(std::chrono::seconds(0));
        QVERIFY(std::ranges::find(ended, stray.pid()) != ended.end());
        QTRY_VERIFY(!stray.isAlive());
    }

    void lookAlikesLive_data()
    {
        QTest::addColumn<QByteArrayList>("words");
        QTest::addColumn<bool>("ownPids");
        const QByteArrayList ours{"--", "/run/glovebox/init", "4"};
        QTest::newRow("the outer bwrap") << ours << false;
        QTest::newRow("another's init") << QByteArrayList{"--", "/run/other/init", "4"} << true;
        QTest::newRow("another descriptor") << QByteArrayList{"--", "/run/glovebox/init", "44"} << true;
        QTest::newRow("more behind it") << QByteArrayList{"--", "/run/glovebox/init", "4", "more"} << true;
        QTest::newRow("one word") << QByteArrayList{"-- /run/glovebox/init 4"} << true;
    }

    void lookAlikesLive()
    {
        QFETCH(QByteArrayList, words);
        QFETCH(bool, ownPids);
        Words rest;
        for (const QByteArray& word : words)
            rest.push_back(word.constData());
        Waiting other(lookingLike(rest), ownPids ? Pids::Own : Pids::Shared);
        QTRY_VERIFY(other.isReady());
        const auto ended = endStrays(std::chrono::seconds(0));
        QVERIFY(std::ranges::find(ended, other.pid()) == ended.end());
        QVERIFY(other.isAlive());
    }

    // As while a sandbox starts: the inner one is the child of the outer one, and says the same.
    void aStartLives()
    {
        int ends[2];
        QCOMPARE(::pipe2(ends, O_CLOEXEC), 0);
        const UniqueFd reading(ends[0]);
        UniqueFd open(ends[1]);
        const Words words = lookingLike({"--", "/run/glovebox/init", "4"});
        const pid_t outer = ::fork();
        if (outer == 0) {
            const unsigned long flags = ::geteuid() == 0 ? CLONE_NEWPID : CLONE_NEWPID | CLONE_NEWUSER;
            (void)::syscall(SYS_clone, flags | SIGCHLD, nullptr, nullptr, nullptr, 0);
            become(words, reading.get());
        }
        const std::string children =
            "/proc/" + std::to_string(outer) + "/task/" + std::to_string(outer) + "/children";
        pid_t inner = 0;
        QTRY_VERIFY((inner = std::atoi(readFile(children).value_or("").c_str())) > 0);
        const auto lineOf = [](pid_t pid) {
            return readFile("/proc/" + std::to_string(pid) + "/cmdline").value_or("");
        };
        QTRY_VERIFY(lineOf(inner).starts_with("bwrap") && lineOf(inner) == lineOf(outer));
        const auto ended = endStrays(std::chrono::seconds(0));
        QVERIFY(std::ranges::find(ended, inner) == ended.end());
        QCOMPARE(::kill(inner, 0), 0);
        // The control: without the outer one the very same process is a stray.
        QCOMPARE(::prctl(PR_SET_CHILD_SUBREAPER, 1), 0);
        ::kill(outer, SIGKILL);
        ::waitpid(outer, nullptr, 0);
        const auto endedNow = endStrays(std::chrono::seconds(0));
        QVERIFY(std::ranges::find(endedNow, inner) != endedNow.end());
        QCOMPARE(::waitpid(inner, nullptr, 0), inner);
        ::prctl(PR_SET_CHILD_SUBREAPER, 0);
    }
};

QTEST_GUILESS_MAIN(StraysTest)
#include "tst_strays.moc"
