// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

#include <QTest>

#include <set>

#include <backend/experiments/experimenttext.h>
#include <tests/support/smalldisk.h>
#include <tests/support/temporary.h>

using namespace gb;
using namespace gb::test;

namespace {

constexpr const char* toml = "experiment.toml";

std::set<std::string> names(const fs::path& folder)
{
    std::set<std::string> all;
    for (const auto& entry : fs::directory_iterator(folder))
        all.insert(entry.path().filename().string());
    return all;
}

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
    if (names(folder) != std::set<std::string>{"ballast", toml})
        return 6;
    // The control: with room it is written, by whoever read it before.
    fs::remove(folder / "ballast");
    return writeExperimentText(folder, toml, after, first->etag) ? 0 : 7;
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
};

QTEST_GUILESS_MAIN(TestExperimentText)
#include "tst_experimenttext.moc"
