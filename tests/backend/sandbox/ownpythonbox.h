// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <backend/sandbox/local/ownpython.h>
#include <rpc/launch/launcher.h>

#include <tests/support/temporary.h>

namespace gb::test {

inline LaunchTools buildTools()
{
    return {fs::path(GB_BIN_DIR) / "glovebox-launcher", fs::path(GB_BIN_DIR) / "glovebox-init"};
}

// A store that can be removed again although its contents belong to other ids.
class TemporaryStore
{
public:
    TemporaryStore() { m_ready = prepareStore(path()); }
    ~TemporaryStore()
    {
        (void)runMapped(path(), {"sh", "-c", "chmod -R u+rwX . ; rm -rf ./*"}, buildTools());
    }
    TemporaryStore(const TemporaryStore&) = delete;
    TemporaryStore& operator=(const TemporaryStore&) = delete;

    fs::path path() const { return m_folder.path() / "store"; }
    fs::path beside() const { return m_folder.path(); }
    const Status& ready() const { return m_ready; }

private:
    TemporaryFolder m_folder;
    Status m_ready;
};

// A sandbox with the system's own Python: no image to build, so a start takes milliseconds.
inline Result<LaunchSpec> ownPythonSpec(const TemporaryStore& store)
{
    GB_TRY(store.ready());
    const auto info = askInterpreter("/usr/bin/python3");
    if (!info)
        return fail(info.error());
    const fs::path etc = store.beside() / "etc";
    GB_TRY(writeSmallEtc(etc, "box"));
    auto binds = ownPythonBinds(*info, etc);
    if (!binds)
        return fail(binds.error());
    LaunchSpec spec;
    spec.store = store.path();
    spec.binds = std::move(*binds);
    spec.links = ownPythonLinks();
    spec.folders = {"workspace"};
    spec.binds.push_back({"workspace", "/workspace", true});
    constexpr std::int64_t small = 64L << 20;
    spec.tmpfs = {{"/tmp", small, 01777}, {"/run", small, 0755}, {"/dev/shm", small, 01777},
        {"/home/box", small, 0755}};
    spec.readOnlyRoot = true;
    return spec;
}

inline ExecSpec command(std::vector<std::string> argv)
{
    ExecSpec spec;
    spec.argv = std::move(argv);
    spec.env = {{"PATH", "/usr/bin:/bin"}, {"HOME", "/home/box"}, {"LC_ALL", "C.UTF-8"}};
    spec.folder = "/workspace";
    return spec;
}

inline ExecSpec shell(const std::string& script)
{
    return command({"/bin/sh", "-c", script});
}

inline ExecSpec python(const std::string& code)
{
    return command({"/usr/bin/python3", "-I", "-c", code});
}

} // namespace gb::test
