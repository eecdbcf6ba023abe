// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

#include <QTest>

#include <rpc/launch/controlgroup.h>
#include <rpc/launch/processorchoice.h>

#include <tests/support/temporary.h>

using namespace gb;
using namespace gb::test;

// Trees that look as the kernel's do on machines of several kinds. A group's files are there beforehand:
// nobody makes them when the group is made.
class TestControlGroup : public QObject
{
    Q_OBJECT

    static constexpr std::int64_t memory = 256L << 20;

    ControlGroupPlaces places(const std::string& membership) const
    {
        write("membership", membership);
        return {m_folder->path() / "mounts", m_folder->path() / "membership"};
    }
    void write(const std::string& name, const std::string& text) const
    {
        const fs::path path = m_folder->path() / name;
        fs::create_directories(path.parent_path());
        QVERIFY(writeFileAtomic(path, text).has_value());
    }
    QString read(const std::string& name) const
    {
        return QString::fromStdString(readFile(m_folder->path() / name).value_or("(not there)"));
    }
    void unifiedGroup(const std::string& folder, std::initializer_list<const char*> files) const
    {
        write(folder + "/cgroup.procs", "");
        for (const char* file : files)
            write(folder + "/" + file, "max");
    }

private Q_SLOTS:
    void init() { m_folder = std::make_unique<TemporaryFolder>(); }

    void versionTwoKeepsEverythingInOneGroup()
    {
        write("mounts/cgroup.controllers", "cpu memory pids");
        unifiedGroup("mounts/user/scope/glovebox-one",
            {"memory.max", "memory.swap.max", "cpu.max", "pids.max", "memory.events"});
        const auto group = ControlGroup::create("one", {memory, 0.5, 100}, places("0::/user/scope\n"));
        QVERIFY(group);
        for (const auto limit :
            {ControlGroup::Limit::Memory, ControlGroup::Limit::Cpu, ControlGroup::Limit::Processes})
            QVERIFY(group->keeps(limit));
        const std::string folder = "mounts/user/scope/glovebox-one/";
        QCOMPARE(read(folder + "memory.max"), QString::number(memory));
        QVERIFY(read(folder + "memory.swap.max").startsWith("0"));
        QVERIFY2(read(folder + "cpu.max").startsWith("50000 100000"), qPrintable(read(folder + "cpu.max")));
        QCOMPARE(read(folder + "pids.max"), QString("100"));
        QCOMPARE(group->entrances(),
            std::vector<std::string>{(m_folder->path() / (folder + "cgroup.procs")).string()});
        write(folder + "memory.events", "low 0\noom 4\noom_kill 3\n");
        QCOMPARE(group->killed(), std::int64_t(3));
    }

    void whatIsNotHandedDownIsAskedFor()
    {
        write("mounts/cgroup.controllers", "cpu memory pids");
        write("mounts/scope/cgroup.subtree_control", "");
        unifiedGroup("mounts/scope/glovebox-two", {"memory.max"});
        const auto group = ControlGroup::create("two", {memory, 2, 0}, places("0::/scope\n"));
        QVERIFY(group);
        QCOMPARE(read("mounts/scope/cgroup.subtree_control"), QString("+cpu"));
        // Nothing answers in this tree, so the processors are not kept, and it does not say they were.
        QVERIFY(group->keeps(ControlGroup::Limit::Memory));
        QVERIFY(!group->keeps(ControlGroup::Limit::Cpu));
    }

    void versionOneHasAGroupForEach()
    {
        for (const char* folder : {"mounts/memory/a/glovebox-three", "mounts/cpu/glovebox-three"})
            write(std::string(folder) + "/cgroup.procs", "");
        write("mounts/memory/a/glovebox-three/memory.limit_in_bytes", "");
        write("mounts/cpu/glovebox-three/cpu.cfs_period_us", "");
        write("mounts/cpu/glovebox-three/cpu.cfs_quota_us", "-1");
        const auto group =
            ControlGroup::create("three", {memory, 0.001, 5}, places("4:memory:/a\n2:cpu,cpuacct:/\n0::/\n"));
        QVERIFY(group);
        QCOMPARE(read("mounts/memory/a/glovebox-three/memory.limit_in_bytes"), QString::number(memory));
        QVERIFY(read("mounts/cpu/glovebox-three/cpu.cfs_period_us").startsWith("100000"));
        // The kernel takes no less than a millisecond.
        QVERIFY(read("mounts/cpu/glovebox-three/cpu.cfs_quota_us").startsWith("1000"));
        QVERIFY(group->keeps(ControlGroup::Limit::Memory) && group->keeps(ControlGroup::Limit::Cpu));
        QVERIFY(!group->keeps(ControlGroup::Limit::Processes));
        QCOMPARE(group->entrances().size(), std::size_t(2));
    }

    void withoutAnyItSaysSo()
    {
        QVERIFY(!ControlGroup::create("four", {memory, 1, 1}, places("")));
        QVERIFY(!ControlGroup::create("four", {memory, 1, 1}, places("4:memory:/\n0::/\n")));
        QVERIFY(ControlGroup::tryOut(places("0::/\n")).empty());
        // The number of processes has another limit anyway.
        write("mounts/pids/glovebox-four/cgroup.procs", "");
        write("mounts/pids/glovebox-four/pids.max", "");
        QVERIFY(!ControlGroup::create("four", {memory, 1, 1}, places("8:pids:/\n")));
    }

    void tryingOutLeavesNothing()
    {
        for (const auto limit : ControlGroup::tryOut())
            QVERIFY(limit != ControlGroup::Limit::Processes);
        QVERIFY(ControlGroup::create("never-entered", {memory, 1, 0}) == nullptr
            || !ControlGroup::tryOut().empty() || ::geteuid() != 0);
    }

    void processorsAreChosenFromThoseHere()
    {
        const auto all = processorsHere();
        QVERIFY(!all.empty());
        QCOMPARE(chooseProcessors(0.2, "a").size(), std::size_t(1));
        QCOMPARE(chooseProcessors(1000, "a").size(), all.size());
        if (all.size() > 1)
            QCOMPARE(chooseProcessors(1.5, "a").size(), std::size_t(2));
        QCOMPARE(chooseProcessors(1, "a"), chooseProcessors(1, "a"));
        QVERIFY(std::ranges::find(all, chooseProcessors(1, "b").front()) != all.end());
    }

private:
    std::unique_ptr<TemporaryFolder> m_folder;
};

QTEST_GUILESS_MAIN(TestControlGroup)
#include "tst_controlgroup.moc"
