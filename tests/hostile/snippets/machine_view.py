# ruff: noqa: E501 - programs keep their lines
"""Attacks on the machine as a program sees it: forging its facts, going behind them, opening what is masked."""

from __future__ import annotations

from textwrap import dedent

from .model import Attempt, Hostile, hostile

_MOUNTS = """
    import ctypes, os
    libc = ctypes.CDLL(None, use_errno=True)
    NEWNS, NEWUSER, NEWPID, BIND, PRIVATE, DETACH = 0x20000, 0x10000000, 0x20000000, 4096, 16384 | 1 << 18, 2
    def private():
        return libc.mount(b"none", b"/", None, PRIVATE, None) == 0
"""


def _mounting(name: str, body: str) -> Hostile:
    text = dedent(_MOUNTS) + dedent(body) + "\nraise OSError('refused')"
    return hostile(name, text, ("privilege", "unshare"), "unsafe_operation")


def _opening(name: str, paths: str, attempt: Attempt, flags: str = "os.O_RDONLY") -> Hostile:
    body = f"""
    import os
    for path in {paths.split()!r}:
        try: fd = os.open(path, {flags})
        except OSError: continue
        print("BREACH", path)
    """
    return hostile(name, body, attempt, "ok")


SNIPPETS: list[Hostile] = [
    _mounting(
        "a forged file over /proc/meminfo",
        """
        with open("forged", "w") as file: file.write("MemTotal: 1 kB\\n")
        if (libc.unshare(NEWUSER | NEWNS) == 0 or libc.unshare(NEWNS) == 0) and private():
            if libc.mount(b"forged", b"/proc/meminfo", None, BIND, None) == 0: print("BREACH")
        """,
    ),
    _mounting(
        "a new /proc in namespaces of its own",
        """
        os.mkdir("proc")
        if libc.unshare(NEWUSER | NEWNS | NEWPID) == 0:
            pid = os.fork()
            if pid == 0: os._exit(42 if private() and libc.mount(b"proc", b"proc", b"proc", 0, None) == 0 else 0)
            if os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 42: print("BREACH")
        """,
    ),
    _mounting(
        "the facts of the machine taken off",
        """
        pid = os.fork()
        if pid == 0:
            if (libc.unshare(NEWNS) == 0 or libc.unshare(NEWUSER | NEWNS) == 0) and private():
                names = ("meminfo", "stat", "cpuinfo", "uptime", "loadavg", "kcore", "sysrq-trigger", "sys")
                if any(libc.umount2(b"/proc/" + name.encode(), DETACH) == 0 for name in names): os._exit(42)
            os._exit(0)
        if os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 42: print("BREACH")
        """,
    ),
    _opening("the head of the kernel's memory", "/proc/kcore /dev/mem /dev/kmem", ("file", "/proc/kcore")),
    _opening(
        "switches of the kernel, opened to write",
        "/proc/sysrq-trigger /proc/sys/kernel/core_pattern /proc/sys/kernel/modprobe /proc/sys/vm/drop_caches"
        " /sys/kernel/uevent_helper /sys/power/state",
        ("file", "/proc/sys/kernel/core_pattern"),
        "os.O_WRONLY",
    ),
    _opening(
        "facts of the machine and its own limits, opened to write",
        "/proc/meminfo /proc/stat /proc/cpuinfo /proc/uptime /proc/loadavg /proc/version /proc/diskstats /proc/swaps"
        " /sys/devices/system/cpu/online /sys/fs/cgroup/memory.max /sys/fs/cgroup/cpu.max",
        ("file", "/proc/loadavg"),
        "os.O_WRONLY",
    ),
    hostile(
        "addresses of the kernel by detours",
        r"""
        for p in /proc/kallsyms /proc/self/root/proc/kallsyms /proc/1/root/proc/kallsyms /proc/thread-self/root/proc/kallsyms; do
          head -n 200 "$p" 2>/dev/null | grep -Eq '^[0-9a-f]*[1-9a-f][0-9a-f]* [A-Za-z] ' && echo BREACH "$p"
        done
        exit 0
        """,
        ("file", "/proc/kallsyms"),
        "ok",
        "bash",
    ),
    hostile(
        "names of secrets in the environment of others",
        """
        import fs from 'node:fs';
        let pids = [];
        try { pids = fs.readdirSync('/proc').filter((name) => /^\\d+$/.test(name)).slice(0, 500); } catch {}
        for (const pid of new Set(['1', String(process.ppid), ...pids])) {
          if (pid === String(process.pid)) continue;
          try {
            const names = fs.readFileSync(`/proc/${pid}/environ`, 'latin1').split('\\0').map((one) => one.split('=')[0]);
            if (names.some((one) => /(TOKEN|SECRET|PASSW|KEY|CANARY)/i.test(one) && !(one in process.env))) console.log('BREACH');
          } catch {}
        }
        """,
        ("file", "/proc/1/environ"),
        "ok",
        "javascript",
    ),
    hostile(
        "the root and the directory of each process",
        r"""
        mine=$(stat -Lc '%d:%i' /)
        for p in /proc/[0-9]* /proc/1; do
          theirs=$(stat -Lc '%d:%i' "$p/root/" 2>/dev/null) || continue
          [ -n "$theirs" ] && [ "$theirs" != "$mine" ] && ls "$p/root/" >/dev/null 2>&1 && echo BREACH "$p"
        done
        for p in /proc/1 /proc/self; do
          for f in "$p/root/etc/shadow" "$p/root/root/.aws/credentials" "$p/cwd/../../../../../../etc/shadow"; do
            [ "$(head -c 1 "$f" 2>/dev/null)" ] && echo BREACH "$f"
          done
        done
        exit 0
        """,
        ("file", "/etc/shadow"),
        "ok",
        "bash",
    ),
    hostile(
        "a path that changes while it is opened",
        """
        import ctypes, os, threading, time
        libc, buffer, ends = ctypes.CDLL(None), ctypes.create_string_buffer(256), time.monotonic() + 1
        def change():
            while time.monotonic() < ends:
                buffer.value = b"/proc/uptime"; buffer.value = b"/etc/shadow"
        thread = threading.Thread(target=change); thread.start()
        while time.monotonic() < ends:
            fd = libc.open(buffer, os.O_RDONLY)
            if fd < 0: continue
            try:
                if os.readlink(f"/proc/self/fd/{fd}") == "/etc/shadow" and os.read(fd, 1): print("BREACH")
            except OSError: pass
            os.close(fd)
        thread.join()
        """,
        ("file", "/etc/shadow"),
        "ok",
    ),
    hostile(
        "the directory of a child that moves about",
        """
        import os, signal, time
        with open("shadow", "w") as file: file.write("harmless")
        home, child = os.getcwd(), os.fork()
        while child == 0:
            for place in (home, "/etc"):
                try: os.chdir(place)
                except OSError: pass
        ends = time.monotonic() + 1
        while time.monotonic() < ends:
            try:
                with open(f"/proc/{child}/cwd/shadow", "rb") as file:
                    if b"root:" in file.read(4096): print("BREACH"); break
            except OSError: pass
        os.kill(child, signal.SIGKILL)
        """,
        None,  # whether it is met in /etc is chance
        "ok",
    ),
    hostile(
        "shadow by links through /proc that do not name it",
        r"""
        ln -s /proc/self/root a; ln -s a/etc b; ln -s b/shadow c
        ln -s /proc/self/cwd/a/proc/1/root/etc/shadow e
        ln -s ../../../../../../../../etc/shadow f
        ln -s a/proc/thread-self/root/root/.ssh/id_rsa g
        exec 9</
        for p in c e f g /proc/self/fd/9/etc/shadow /dev/fd/9/../etc/shadow /proc/$$/task/$$/root/etc/shadow; do
          [ "$(head -c 1 "$p" 2>/dev/null)" ] && echo BREACH "$p"
        done
        exit 0
        """,
        ("file", "/etc/shadow"),
        "ok",
        "bash",
    ),
]
