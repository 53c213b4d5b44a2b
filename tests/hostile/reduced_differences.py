"""Where the reduced tier differs on a hostile snippet: what it reports, how the program ends, and why.

The table in docs/sandbox.md says the same for people. One line is a gap: `prints`, what a snippet may print
that it must not in the full tier.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Difference:
    """One snippet; `on_record` and `classes` as in `Hostile`, and the text it may print all the same."""

    why: str
    on_record: tuple[str, str] | None = None
    classes: frozenset[str] = frozenset()
    prints: str = ""


_MASKED = "the container's own profile refuses the call first: it fails, unreported"
_SEEN = "processes outside have numbers here: aiming at one is refused and on_record, not unknown"
_LOOPBACK = "the loopback is the machine's: refused, as any other address"

MASKED = {
    "a new host name": "sethostname",
    "the clock": "clock_settime",
    "unshare a user namespace": "unshare",
    "unshare a mount namespace": "unshare",
    "clone with a user namespace": "clone",
    "setns": "setns",
    "mount": "mount",
    "umount": "umount2",
    "pivot_root": "pivot_root",
    "open_tree": "open_tree",
    "fsopen": "fsopen",
    "move_mount": "move_mount",
    "ptrace the supervisor": "ptrace",
    "read the supervisor's memory": "process_vm_readv",
    "steal the supervisor's descriptors": "pidfd_getfd",
    "bpf": "bpf",
    "userfaultfd": "userfaultfd",
    "perf_event_open": "perf_event_open",
    "keyctl": "keyctl",
    "add_key": "add_key",
    "init_module": "init_module",
    "kexec": "kexec_load",
    "reboot": "reboot",
    "swapon": "swapon",
    "open by handle": "open_by_handle_at",
    "kernel log": "syslog",
    "asking to be traced": "ptrace",
    "memory of a child by its number": "process_vm_readv",
    "a descriptor of a child by its descriptor": "pidfd_getfd",
    "a forged file over /proc/meminfo": "unshare",
    "a new /proc in namespaces of its own": "unshare",
    "the facts of the machine taken off": "unshare",
    "events of the kernel and of every file": "fanotify_init",
    "a debugger that waits for its child": "ptrace",
}
"""The call each makes, which Docker's default profile refuses."""

AIMED = (
    "a judge that is killed, and its word in its stead",
    "a judge that is stopped while all is well",
    "numbers that are used up until the judge's comes again",
)
"""Those that send signals to numbers that are processes outside here."""

DIFFERENCES: dict[str, Difference] = {
    **{name: Difference(_MASKED, classes=frozenset({"exception"})) for name in MASKED},
    "killing the host process": Difference(_SEEN, ("privilege", "kill"), frozenset({"unsafe_operation"})),
    **{name: Difference(_SEEN, classes=frozenset({"unsafe_operation"})) for name in AIMED},
    "the memory and the descriptors of who judges": Difference(
        "the processes outside have numbers here, too, and the container's own profile refuses the call",
        ("file", "/mem"),
        frozenset({"assertion_failure"}),
    ),
    "other processes": Difference(
        "/proc holds others too: listing it is refused", ("file", "/proc"), frozenset({"permission_denied"})
    ),
    "the host's loopback": Difference(_LOOPBACK, ("network", "127.0.0.1"), frozenset({"permission_denied"})),
    "a listener for the next run": Difference(
        _LOOPBACK, ("network", "127.0.0.1:7777"), frozenset({"permission_denied"})
    ),
    "reaching an earlier run's listener": Difference(
        _LOOPBACK, ("network", "127.0.0.1:7777"), frozenset({"permission_denied"})
    ),
    "another program's abstract socket, by a datagram": Difference(
        "unix sockets of datagrams are not to be had: nothing is sent", classes=frozenset({"exception"})
    ),
    "a program that may be run and not be read": Difference(
        "the kernel lets the supervisor not look into such a process: it is not started",
        ("process", "/program"),
    ),
    "leaving a mark for the next run": Difference(
        "/tmp is the machine's: only what TMPDIR names may be written",
        ("file", "/tmp/mark"),
        frozenset({"permission_denied"}),
    ),
    "capabilities": Difference(
        "a user cannot empty the bounding set; without capabilities and with no_new_privs it has no effect",
        classes=frozenset({"ok"}),
        prints="BREACH CapBnd",
    ),
}
