"""Programs that ask the kernel for what only its administrator may do."""

from __future__ import annotations

from .model import hostile, system_call

SNIPPETS = [
    hostile(
        "chroot", "import os; os.chroot('/box'); print('BREACH')", ("privilege", "chroot"), "unsafe_operation"
    ),
    hostile(
        "becoming root",
        "import os; os.setuid(0); print('BREACH')",
        ("privilege", "setuid"),
        "unsafe_operation",
    ),
    hostile(
        "a new host name",
        "import socket; socket.sethostname('evil'); print('BREACH')",
        ("privilege", "sethostname"),
        "unsafe_operation",
    ),
    hostile(
        "the clock",
        "import time; time.clock_settime(time.CLOCK_REALTIME, 0); print('BREACH')",
        ("privilege", "clock_settime"),
        "unsafe_operation",
    ),
    system_call("unshare a user namespace", 272, "0x10000000", ("privilege", "unshare")),
    system_call("unshare a mount namespace", 272, "0x00020000", ("privilege", "unshare")),
    system_call("clone with a user namespace", 56, "0x10000011, 0, 0, 0, 0", ("privilege", "clone")),
    system_call("clone3", 435, "ctypes.create_string_buffer(88), 88"),
    system_call("setns", 308, "0, 0", ("privilege", "setns")),
    system_call("mount", 165, 'b"x", b"/box", b"tmpfs", 0, None', ("privilege", "mount")),
    system_call("umount", 166, 'b"/box", 2', ("privilege", "umount2")),
    system_call("pivot_root", 155, 'b".", b"."', ("privilege", "pivot_root")),
    system_call("open_tree", 428, '-100, b"/", 1', ("privilege", "open_tree")),
    system_call("fsopen", 430, 'b"tmpfs", 0', ("privilege", "fsopen")),
    system_call("move_mount", 429, '-1, b"", -100, b"/box", 4', ("privilege", "move_mount")),
    system_call("ptrace the supervisor", 101, "16, 1, 0, 0", ("privilege", "ptrace")),
    system_call(
        "read the supervisor's memory", 310, "1, None, 0, None, 0, 0", ("privilege", "process_vm_readv")
    ),
    system_call("steal the supervisor's descriptors", 438, "3, 0, 0", ("privilege", "pidfd_getfd")),
    system_call("bpf", 321, "0, ctypes.create_string_buffer(128), 128", ("privilege", "bpf")),
    system_call("userfaultfd", 323, "0", ("privilege", "userfaultfd")),
    system_call(
        "perf_event_open",
        298,
        "ctypes.create_string_buffer(128), 0, -1, -1, 0",
        ("privilege", "perf_event_open"),
    ),
    system_call("keyctl", 250, "0, -3, 0", ("privilege", "keyctl")),
    system_call("add_key", 248, 'b"user", b"x", b"y", 1, -3', ("privilege", "add_key")),
    system_call("init_module", 175, 'b"x", 1, b""', ("privilege", "init_module")),
    system_call("kexec", 246, "0, 0, 0, 0", ("privilege", "kexec_load")),
    system_call("reboot", 169, "0xfee1dead, 672274793, 0x1234567, 0", ("privilege", "reboot")),
    system_call("swapon", 167, 'b"/box/x", 0', ("privilege", "swapon")),
    system_call(
        "open by handle", 304, "-100, ctypes.create_string_buffer(64), 0", ("privilege", "open_by_handle_at")
    ),
    system_call("io_uring", 425, "8, ctypes.create_string_buffer(256)"),
    system_call("a filter of its own", 317, "1, 8, None", ("privilege", "seccomp")),
    system_call("shared memory segments", 29, "0, 4096, 0o1600"),
    system_call("message queues", 68, "0, 0o1600"),
    system_call("kernel log", 103, "3, ctypes.create_string_buffer(64), 64", ("privilege", "syslog")),
    system_call("an x32 call", 0x40000000 + 39, "", ("privilege", "foreign")),
    hostile(
        "typing into the terminal",
        "import fcntl; fcntl.ioctl(0, 0x5412, b'x'); print('BREACH')",
        classes="exception",
    ),
    hostile(
        "capabilities",
        """
        for line in open("/proc/self/status"):
            if line.startswith("Cap") and int(line.split()[1], 16): print("BREACH", line)
            if line.startswith("NoNewPrivs") and line.split()[1] != "1": print("BREACH", line)
            if line.startswith("Seccomp:") and line.split()[1] != "2": print("BREACH", line)
        """,
        classes="ok",
    ),
]
