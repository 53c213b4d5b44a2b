"""Runs a command as in a container under Docker's default profile: its capabilities, its system calls.

Usage, as root: `python container.py root|user|groups COMMAND…`; the command is process 2. With `groups` it is
root and may make control groups, which a container has to be given. A process namespace and a
mount namespace keep the machine out of its sight, as Docker does; then the profile makes it impossible to
build any other. Source: moby, `profiles/seccomp/default.json` and `oci/caps/defaults.go`.
"""

from __future__ import annotations

import ctypes
import errno
import os
import runpy
import struct
import sys
from pathlib import Path

from spanproof.sandbox import kernel
from spanproof.sandbox.supervisor.seccomp.syscalls import find_arch

CAPABILITIES = (0, 1, 3, 4, 5, 6, 7, 8, 10, 13, 18, 27, 29, 31)
REFUSED = """
    acct add_key bpf clock_adjtime clock_settime delete_module fanotify_init finit_module fsconfig
    fsmount fsopen fspick init_module ioperm iopl kcmp kexec_file_load kexec_load keyctl
    lookup_dcookie mount mount_setattr move_mount move_pages open_by_handle_at open_tree
    perf_event_open pidfd_getfd pivot_root process_madvise process_vm_readv process_vm_writev ptrace
    quotactl quotactl_fd reboot request_key sethostname setdomainname setns settimeofday swapoff
    swapon syslog umount2 unshare userfaultfd vhangup
""".split()  # noqa: SIM905 - a table
CLONE3, IO_URING = 435, (425, 426, 427)
_NAMESPACE_FLAGS = 0x7E020000
_IDS = 100_000
"""From here on there are as many users that no account is."""


def _filter() -> bytes:
    """One comparison after the other; what is refused fails with EPERM, `clone3` as on an older kernel."""
    arch = find_arch()
    assert arch is not None
    refuse, unknown, allow = 0x00050000 | errno.EPERM, 0x00050000 | errno.ENOSYS, 0x7FFF0000
    lines = [(0x20, 0, 0, 0)]
    for number in [arch.numbers[name] for name in REFUSED if name in arch.numbers] + list(IO_URING):
        lines += [(0x15, 0, 1, number), (0x06, 0, 0, refuse)]
    lines += [(0x15, 0, 1, CLONE3), (0x06, 0, 0, unknown)]
    lines += [(0x15, 0, 3, arch.get_number("clone")), (0x20, 0, 0, 16), (0x45, 0, 1, _NAMESPACE_FLAGS)]
    lines += [(0x06, 0, 0, refuse), (0x06, 0, 0, allow)]
    return b"".join(struct.pack("=HBBI", *line) for line in lines)


def _keep_capabilities(kept: tuple[int, ...]) -> None:
    for capability in range(64):
        if capability not in kept:
            try:
                kernel.prctl(kernel.PR_CAPBSET_DROP, capability)
            except OSError:
                break
    mask = sum(1 << capability for capability in kept)
    libc = ctypes.CDLL(None, use_errno=True)
    header = (ctypes.c_uint32 * 2)(0x20080522, 0)
    data = (ctypes.c_uint32 * 6)(mask, mask, 0, 0, 0, 0)
    if libc.capset(header, data):
        raise OSError(ctypes.get_errno(), "capset")


def _wait_for(child: int) -> None:
    """In the parent, end as the child does; in the child, return."""
    if child:
        os._exit(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) & 0xFF)


def main() -> None:
    user, *command = sys.argv[1:]
    own_id = _IDS + os.getpid() % _IDS  # the kernel counts processes by user: no other container's among ours
    kernel.unshare(kernel.CLONE_NEWPID)
    _wait_for(os.fork())
    kernel.prctl(kernel.PR_SET_PDEATHSIG, 9)
    runpy.run_path(str(Path(__file__).with_name("unprivileged.py")))["open_interpreter"]()
    if user != "groups":
        kernel.set_mount_attributes("/sys/fs/cgroup", kernel.MOUNT_ATTR_RDONLY)
    kernel.mount("proc", "/proc", "proc", kernel.MS_NOSUID | kernel.MS_NODEV | kernel.MS_NOEXEC)
    _wait_for(os.fork())  # PID 1 is shielded from signals, and the command must not be
    kernel.install_filter(_filter(), 0)
    _keep_capabilities(CAPABILITIES)
    if user == "user":
        os.setgroups([])
        os.setresgid(own_id, own_id, own_id)
        os.setresuid(own_id, own_id, own_id)
        os.environ["LOGNAME"] = f"user-{own_id}"  # names pytest's directory, which another's must not be
    os.chdir("/")
    os.execv(command[0], command)


if __name__ == "__main__":
    main()
