// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

#include <sstream>

#include <unistd.h>

#include "checks.h"
#include "look.h"

namespace gb {
namespace {

using State = Check::State;

std::vector<fs::path> libraryFolders(const DoctorOptions& options)
{
    std::vector<fs::path> folders;
    std::istringstream extra(environmentValue(options, "LD_LIBRARY_PATH"));
    std::string folder;
    while (std::getline(extra, folder, ':'))
        folders.emplace_back(folder);
    for (const char* standard : {"/usr/lib", "/usr/lib64", "/usr/local/lib"}) {
        const fs::path path = systemPath(options, standard);
        folders.push_back(path);
        std::error_code error;
        for (const auto& entry : fs::directory_iterator(path, error))
            if (entry.path().filename().string().find("-linux-gnu") != std::string::npos)
                folders.push_back(entry.path());
    }
    return folders;
}

fs::path findLibrary(const DoctorOptions& options, const std::string& name)
{
    std::error_code error;
    for (const fs::path& folder : libraryFolders(options))
        if (fs::exists(folder / name, error))
            return folder / name;
    return {};
}

bool hasSessionBus(const DoctorOptions& options)
{
    std::error_code error;
    return !environmentValue(options, "DBUS_SESSION_BUS_ADDRESS").empty()
        || fs::exists(systemPath(options, "/run/user/" + std::to_string(::getuid()) + "/bus"), error);
}

} // namespace

Check checkDisplay(const DoctorOptions& options)
{
    const std::string wayland = environmentValue(options, "WAYLAND_DISPLAY");
    const std::string x11 = environmentValue(options, "DISPLAY");
    Check check{"display", "Display", State::Ok, "The window can open.", {}, {}};
    if (!wayland.empty())
        check.detail = "Wayland, " + wayland;
    else if (!x11.empty())
        check.detail = "X11, " + x11;
    if (check.detail.empty()) {
        check.state = State::Warning;
        check.meaning =
            "There is no display here, so the window cannot open. The command line, the daemon and "
            "Python scripts work.";
        check.fix = "Log in to a desktop, or connect with: ssh -X HOST";
        check.detail = "neither WAYLAND_DISPLAY nor DISPLAY is set";
    }
    return check;
}

Check checkWebEngine(const DoctorOptions& options)
{
    const fs::path library = findLibrary(options, "libQt6WebEngineCore.so.6");
    const fs::path widgets = findLibrary(options, "libQt6WebEngineWidgets.so.6");
    if (!library.empty() && !widgets.empty())
        return {"webengine", "Web pages inside the window", State::Ok,
            "Notebooks and the code editor open inside the window.", {}, library.string()};
    return {"webengine", "Web pages inside the window", State::Warning,
        "Qt WebEngine is missing: notebooks and the code editor open in your browser instead.",
        "sudo apt install libqt6webenginewidgets6",
        library.empty() ? "libQt6WebEngineCore.so.6 was not found"
                        : "libQt6WebEngineWidgets.so.6 was not found"};
}

Check checkKeyring(const DoctorOptions& options)
{
    Check check{
        "keyring", "Key store", State::Ok, "Secrets are kept in the key store of your desktop.", {}, {}};
    const fs::path service =
        systemPath(options, "/usr/share/dbus-1/services/org.freedesktop.secrets.service");
    std::error_code error;
    std::string provider = fs::exists(service, error) ? "org.freedesktop.secrets" : "";
    for (const char* program : {"gnome-keyring-daemon", "kwalletd6", "kwalletd5", "keepassxc"})
        if (provider.empty() && !findProgram(options, program).empty())
            provider = program;
    const bool bus = hasSessionBus(options);
    if (!provider.empty() && bus) {
        check.detail = provider;
        return check;
    }
    check.state = State::Warning;
    check.meaning = "No key store answers here: secrets are kept in a file that only you can read.";
    check.fix = provider.empty()
        ? "sudo apt install gnome-keyring"
        : "Log in to a desktop session, or start Glovebox with: dbus-run-session -- glovebox gui";
    check.detail = provider.empty() ? "no key store program is installed" : provider + ", but no session bus";
    return check;
}

} // namespace gb
