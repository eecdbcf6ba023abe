// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

#include <QTest>

#include <algorithm>
#include <array>
#include <csignal>
#include <fcntl.h>
#include <set>
#include <sys/file.h>
#include <sys/prctl.h>

#include <backend/experiments/experimenttext.h>
#include <tests/support/smalldisk.h>
#include <tests/support/temporary.h>

using namespace gb;
using namespace gb::test;

namespace {

constexpr const char* toml = "experiment.toml";

// The number of what was wrong.
int writeToFullDisk(const fs::path& folder)
{
    if (!mountSmallDisk(folder))
        return noSmallDisk;
    const std::string before(10'000, 'b');
    const std::string after(500'000, 'a');
    const auto first = writeExperimentText(folder, toml, before, "");
    if (!first)
        return 1;
    // Room for a part of it.
    std::ofstream(folder / "ballast") << std::string(1'800'000, 'x');
    const auto refused = writeExperimentText(folder, toml, after, first->etag);
    if (refused || refused.error().code != "io.disk_full")
        return 2;
    const std::string& message = refused.error().message;
    if (message.find((folder / toml).string()) == std::string::npos
        || message.find("No space left") == std::string::npos)
        return 3;
    if (const auto still = readExperimentText(folder, toml); !still || still->text != before)
        return 4;
    if (const auto added = writeExperimentText(folder, "notes.md", after, "");
        added || added.error().code != "io.disk_full")
        return 5;
    if (namesIn(folder) != std::set<std::string>{"ballast", toml})
        return 6;
    // The control: with room it is written, by whoever read it before.
    fs::remove(folder / "ballast");
    return writeExperimentText(folder, toml, after, first->etag) ? 0 : 7;
}

// Answers over the pipe for each round whether it was the one that wrote.
pid_t startWriter(const fs::path& folder, char name, int orders, int answers)
{
    const pid_t writer = ::fork();
    if (writer != 0)
        return writer;
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    std::array<char, 64> etag{};
    while (::read(orders, etag.data(), etag.size()) == static_cast<ssize_t>(etag.size())) {
        const std::string before(etag.data(), etag.size());
        const auto written = writeExperimentText(folder, toml, name + before, before);
        const char said = written ? name : written.error().code == "experiments.changed" ? '-' : '?';
        if (::write(answers, &said, 1) != 1)
            ::_exit(1);
    }
    ::_exit(0);
}

} // namespace

class TestExperimentText : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void aFullDiskTearsNothing()
    {
        const TemporaryFolder folder;
        const int status = inChild([&] { return writeToFullDisk(folder.path()); });
        if (status == noSmallDisk)
            QSKIP("no user namespaces here");
        QCOMPARE(status, 0);
    }

    // Two daemons, of two people perhaps.
    void ofTwoProcessesOneWrites()
    {
        const TemporaryFolder folder;
        auto text = writeExperimentText(folder.path(), toml, "begin", "");
        QVERIFY(text);
        std::array<std::array<int, 2>, 2> orders{};
        std::array<int, 2> answers{};
        QCOMPARE(::pipe2(answers.data(), O_CLOEXEC), 0);
        std::array<pid_t, 2> writers{};
        for (std::size_t i = 0; i < writers.size(); ++i) {
            QCOMPARE(::pipe2(orders[i].data(), O_CLOEXEC), 0);
            writers[i] = startWriter(folder.path(), i == 0 ? 'a' : 'b', orders[i][0], answers[1]);
        }
        std::set<std::string> outcomes;
        for (int round = 0; round < 100; ++round) {
            const std::string etag = text->etag;
            for (const auto& order : orders)
                QCOMPARE(::write(order[1], etag.data(), etag.size()), static_cast<ssize_t>(etag.size()));
            std::string said(2, ' ');
            QCOMPARE(::read(answers[0], said.data(), 1) + ::read(answers[0], &said[1], 1), 2);
            std::ranges::sort(said);
            outcomes.insert(said);
            text = readExperimentText(folder.path(), toml);
            QVERIFY(text);
            QCOMPARE(text->text, said.back() + etag);
        }
        for (const pid_t writer : writers) {
            ::kill(writer, SIGKILL);
            ::waitpid(writer, nullptr, 0);
        }
        for (const std::string& said : outcomes)
            QVERIFY2(said == "-a" || said == "-b", said.c_str());
        QCOMPARE(namesIn(folder.path()), std::set<std::string>{toml});
    }

    void whoHoldsTheFolderIsNotWaitedForLong()
    {
        const TemporaryFolder folder;
        const int held = ::open(folder.path().c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        QCOMPARE(::flock(held, LOCK_EX), 0);
        const auto refused = writeExperimentText(folder.path(), toml, "x", "");
        QVERIFY(!refused);
        QCOMPARE(refused.error().code, std::string("io.locked"));
        ::close(held);
        QVERIFY(writeExperimentText(folder.path(), toml, "x", ""));
    }
};

QTEST_GUILESS_MAIN(TestExperimentText)
#include "tst_experimenttext.moc"
