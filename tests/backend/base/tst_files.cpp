// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

#include <QTest>

#include <atomic>
#include <csignal>
#include <fcntl.h>
#include <set>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>
#include <vector>

#include <backend/base/files.h>
#include <tests/support/temporary.h>

using namespace gb;

namespace {

// Writes until it is killed.
pid_t startWriter(const fs::path& file)
{
    const pid_t writer = ::fork();
    if (writer != 0)
        return writer;
    const std::string text(2000, 'c');
    for (;;)
        (void)writeFileAtomic(file, text);
}

} // namespace

class TestFiles : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void replacesTheWholeFile()
    {
        QVERIFY(writeFileAtomic(m_file, "one", 0600).has_value());
        QVERIFY(writeFileAtomic(m_file, "two", 0600).has_value());
        QCOMPARE(readFile(m_file).value(), std::string("two"));
        struct stat info
        { };
        QCOMPARE(::stat(m_file.c_str(), &info), 0);
        QCOMPARE(info.st_mode & 0777U, 0600U);
        QCOMPARE(test::namesIn(m_folder.path()), std::set<std::string>{"a.txt"});
    }

    void aNameMayBeAsLongAsNamesCanBe()
    {
        const std::string first(255, 'n');
        const std::string second = std::string(254, 'n') + "m"; // is staged under the same name
        for (const std::string& name : {first, second, first})
            QVERIFY(writeFileAtomic(m_folder.path() / name, name).has_value());
        QCOMPARE(readFile(m_folder.path() / first).value(), first);
        QCOMPARE(readFile(m_folder.path() / second).value(), second);
        QCOMPARE(test::namesIn(m_folder.path()), (std::set<std::string>{first, second}));
    }

    void errorsNameTheFile()
    {
        QVERIFY(writeFileAtomic(m_file, "two").has_value());
        const auto missing = readFile(m_folder.path() / "none");
        QVERIFY(!missing);
        QCOMPARE(missing.error().code, std::string("io.not_found"));
        QVERIFY(missing.error().message.find("none") != std::string::npos);
        QCOMPARE(readFile(m_folder.path()).error().code, std::string("io.not_a_file"));
        QCOMPARE(readFile(m_file, 2).error().code, std::string("io.too_large"));

        fs::remove(m_file);
        fs::create_directory(m_file);
        const auto folder = writeFileAtomic(m_file, "x");
        QVERIFY(!folder);
        QVERIFY(folder.error().message.find("a.txt") != std::string::npos);
        QCOMPARE(test::namesIn(m_folder.path()), std::set<std::string>{"a.txt"});
    }

    void whatAKilledWriterLeftIsGoneWithTheNextWrite()
    {
        bool left = false;
        // The moment between its two names is short: waited for, so that this has something to find.
        for (int round = 0; round < 20'000 && !left; ++round) {
            const pid_t writer = startWriter(m_file);
            ::usleep(static_cast<useconds_t>(500 + round % 50 * 20));
            ::kill(writer, SIGKILL);
            ::waitpid(writer, nullptr, 0);
            left = test::namesIn(m_folder.path()).size() > 1;
            QVERIFY(writeFileAtomic(m_file, "whole").has_value());
            QCOMPARE(test::namesIn(m_folder.path()), std::set<std::string>{"a.txt"});
            QCOMPARE(readFile(m_file).value(), std::string("whole"));
        }
        QVERIFY2(left, "no writer was killed at the moment meant");
    }

    void anotherWritersFileStays()
    {
        const int held = ::open(m_staging.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0644);
        QVERIFY(held >= 0);
        QCOMPARE(::flock(held, LOCK_EX), 0);
        QVERIFY(writeFileAtomic(m_file, "mine").has_value());
        QCOMPARE(readFile(m_file).value(), std::string("mine"));
        QCOMPARE(
            test::namesIn(m_folder.path()), (std::set<std::string>{"a.txt", m_staging.filename().string()}));
        ::close(held);
        QVERIFY(writeFileAtomic(m_file, "again").has_value());
        QCOMPARE(test::namesIn(m_folder.path()), std::set<std::string>{"a.txt"});
    }

    void whatIsNoFileIsLeftAlone()
    {
        const fs::path elsewhere = m_folder.path() / "elsewhere";
        QVERIFY(writeFileAtomic(elsewhere, "theirs").has_value());
        fs::create_symlink(elsewhere, m_staging);
        QVERIFY(writeFileAtomic(m_file, "mine").has_value());
        QCOMPARE(readFile(elsewhere).value(), std::string("theirs"));
        QVERIFY(fs::is_symlink(m_staging));
        fs::remove(m_staging);
        QCOMPARE(::mkfifo(m_staging.c_str(), 0600), 0);
        QVERIFY(writeFileAtomic(m_file, "still mine").has_value());
        QVERIFY(fs::is_fifo(m_staging));
        QCOMPARE(readFile(m_file).value(), std::string("still mine"));
    }

    void manyWritersAtOnce()
    {
        std::vector<std::thread> writers;
        std::atomic<int> failed = 0;
        for (int i = 0; i < 8; ++i)
            writers.emplace_back([&, text = std::string(5000, static_cast<char>('a' + i))] {
                for (int round = 0; round < 50; ++round)
                    failed += writeFileAtomic(m_file, text).has_value() ? 0 : 1;
            });
        for (std::thread& writer : writers)
            writer.join();
        QCOMPARE(failed.load(), 0);
        const std::string text = readFile(m_file).value();
        QCOMPARE(text, std::string(5000, text.front()));
        QCOMPARE(test::namesIn(m_folder.path()), std::set<std::string>{"a.txt"});
    }

    void cleanup()
    {
        for (const auto& entry : fs::directory_iterator(m_folder.path()))
            fs::remove_all(entry.path());
    }

private:
    test::TemporaryFolder m_folder;
    const fs::path m_file = m_folder.path() / "a.txt";
    const fs::path m_staging = m_folder.path() / ".a.txt.glovebox-new";
};

QTEST_GUILESS_MAIN(TestFiles)
#include "tst_files.moc"
