// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <array>
#include <string>

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <QString>

namespace gb::test {

// What a piece of Python does with this process's own rights: the positive control of every refusal.
inline QString outside(const std::string& code)
{
    const auto said = std::string("import sys\n") + code;
    int ends[2];
    if (::pipe2(ends, O_CLOEXEC) != 0)
        return "no pipe";
    const pid_t child = ::fork();
    if (child == 0) {
        ::dup2(ends[1], 1);
        ::execl("/usr/bin/python3", "python3", "-I", "-c", said.c_str(), nullptr);
        ::_exit(127);
    }
    ::close(ends[1]);
    QString text;
    char buffer[4096];
    for (ssize_t got = 0; (got = ::read(ends[0], buffer, sizeof buffer)) > 0;)
        text += QString::fromUtf8(buffer, static_cast<int>(got));
    ::close(ends[0]);
    ::waitpid(child, nullptr, 0);
    return text.trimmed();
}

// Prints "yes" or the name of the error; used inside and outside.
inline std::string attempt(const std::string& code)
{
    std::string indented;
    for (const char c : code)
        indented += c == '\n' ? std::string("\n    ") : std::string(1, c);
    return "import os, sys, socket, ctypes, errno\nlibc = ctypes.CDLL(None, use_errno=True)\n"
           "def check(result):\n    if result < 0: raise OSError(ctypes.get_errno(), "
           "os.strerror(ctypes.get_errno()))\n"
           "try:\n    "
        + indented
        + "\n    print('yes')\nexcept OSError as e:\n    print(errno.errorcode.get(e.errno, e.errno))\n";
}

} // namespace gb::test
