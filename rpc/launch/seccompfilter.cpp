// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

#include "seccompfilter.h"

#include <cerrno>
#include <memory>

#include <sched.h>
#include <seccomp.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/socket.h>

namespace gb {
namespace {

// By name, because a header of the day does not know all of them; a name the kernel of the day lacks is
// skipped.
constexpr const char* refusedCalls[] = {"io_uring_setup", "io_uring_enter", "io_uring_register", "bpf",
    "perf_event_open", "keyctl", "add_key", "request_key", "ptrace", "process_vm_readv", "process_vm_writev",
    "pidfd_getfd", "kcmp", "userfaultfd", "mount", "umount2", "pivot_root", "move_mount", "open_tree",
    "fsopen", "fsconfig", "fsmount", "fspick", "mount_setattr", "setns", "chroot", "init_module",
    "finit_module", "delete_module", "kexec_load", "kexec_file_load", "reboot", "swapon", "swapoff",
    "quotactl", "quotactl_fd", "acct", "iopl", "ioperm", "open_by_handle_at", "lookup_dcookie",
    "settimeofday", "clock_settime", "clock_adjtime", "adjtimex", "syslog", "vhangup", "fanotify_init",
    "nfsservctl", "uselib", "ustat", "sysfs", "_sysctl", "move_pages", "mbind", "migrate_pages"};

struct ReleaseFilter
{
    void operator()(void* context) const { seccomp_release(context); }
};
using Filter = std::unique_ptr<void, ReleaseFilter>;

constexpr std::uint64_t low32 = 0xffffffffU;
constexpr int vsock = 40;

bool addRules(void* filter, Affinity affinity)
{
    const std::uint32_t refuse = SCMP_ACT_ERRNO(EPERM);
    if (affinity == Affinity::Fixed && seccomp_rule_add(filter, refuse, SCMP_SYS(sched_setaffinity), 0) != 0)
        return false;
    for (const char* name : refusedCalls) {
        const int number = seccomp_syscall_resolve_name(name);
        if (number != __NR_SCMP_ERROR && number >= 0 && seccomp_rule_add(filter, refuse, number, 0) != 0)
            return false;
    }
    // No new user namespaces. clone3 hides its flags behind a pointer; saying it does not exist makes the C
    // library use clone.
    const scmp_arg_cmp newUser = SCMP_A0(SCMP_CMP_MASKED_EQ, CLONE_NEWUSER, CLONE_NEWUSER);
    const scmp_arg_cmp injectInput = SCMP_A1(SCMP_CMP_MASKED_EQ, low32, TIOCSTI);
    const scmp_arg_cmp steerConsole = SCMP_A1(SCMP_CMP_MASKED_EQ, low32, TIOCLINUX);
    return seccomp_rule_add(filter, refuse, SCMP_SYS(unshare), 1, newUser) == 0
        && seccomp_rule_add(filter, refuse, SCMP_SYS(clone), 1, newUser) == 0
        && seccomp_rule_add(filter, SCMP_ACT_ERRNO(ENOSYS), SCMP_SYS(clone3), 0) == 0
        && seccomp_rule_add(filter, refuse, SCMP_SYS(ioctl), 1, injectInput) == 0
        && seccomp_rule_add(filter, refuse, SCMP_SYS(ioctl), 1, steerConsole) == 0
        // A network namespace does not cover these two.
        && seccomp_rule_add(filter, SCMP_ACT_ERRNO(EAFNOSUPPORT), SCMP_SYS(socket), 1,
               SCMP_A0(SCMP_CMP_MASKED_EQ, low32, vsock))
        == 0
        && seccomp_rule_add(filter, SCMP_ACT_ERRNO(EAFNOSUPPORT), SCMP_SYS(socket), 1,
               SCMP_A0(SCMP_CMP_MASKED_EQ, low32, AF_ALG))
        == 0;
}

} // namespace

Result<UniqueFd> makeSeccompFilter(Affinity affinity)
{
    const Filter filter(seccomp_init(SCMP_ACT_ALLOW));
    if (!filter || !addRules(filter.get(), affinity))
        return fail("sandbox.seccomp", "the system call filter cannot be built");
    UniqueFd file(::memfd_create("glovebox-seccomp", MFD_CLOEXEC));
    if (!file.valid() || seccomp_export_bpf(filter.get(), file.get()) != 0
        || ::lseek(file.get(), 0, SEEK_SET) != 0)
        return fail("sandbox.seccomp", "the system call filter cannot be written");
    return file;
}

} // namespace gb
