"""Programs that want a record that looks true: another object, another program or another caller on it than
the one that acted, or an attempt hidden behind a permitted one.
"""

from __future__ import annotations

from textwrap import dedent

from .model import CALL, Attempt, Hostile, hostile

_PASSWD = ("file", "/etc/passwd")
_REFUSED = "ok permission_denied exception unsafe_operation"


def _raw(name: str, body: str, on_record: Attempt, classes: str = _REFUSED) -> Hostile:
    return hostile(name, dedent(CALL) + "import struct\n" + dedent(body), on_record, classes)


def _in_root(name: str, body: str, on_record: Attempt) -> Hostile:
    """A program that calls `openat2` with RESOLVE_IN_ROOT."""
    opening = """
        def in_root(fd, path, flags=0):
            return call(437, fd, path, struct.pack('QQQ', flags, 0o644 if flags else 0, 16), 24)
    """
    return _raw(name, dedent(opening) + dedent(body), on_record)


SNIPPETS = [
    _in_root(
        "a root of its own that is the root",
        "r = in_root(os.open('/', os.O_PATH), b'/../../etc/passwd')\nif r[0] >= 0: print('BREACH')",
        _PASSWD,
    ),
    _in_root(
        "planting by an absolute path beneath a root of its own",
        "r = in_root(os.open('/usr/lib', os.O_PATH), b'/planted', os.O_CREAT | os.O_WRONLY)\n"
        "if r[0] >= 0: print('BREACH')",
        ("file", "/usr/lib/planted"),
    ),
    _in_root(
        "planting by a link that leads back to a root of its own",
        """
        root = os.open('/usr', os.O_PATH)
        r = in_root(root, b'../../../lib/../planted', os.O_CREAT | os.O_WRONLY)
        if r[0] >= 0: print('BREACH')
        """,
        ("file", "/usr/planted"),
    ),
    hostile(
        "a script that starts another program than it is named",
        """
        import os
        with open('report', 'w') as script: script.write('#! /usr/bin/env false\\n')
        os.chmod('report', 0o755)
        os.spawnv(os.P_WAIT, './report', ['report'])
        """,
        ("process", "/bin/env"),
        "ok",
    ),
    hostile(
        "a script of a script, removed before it is started",
        """
        import os
        for name, first in (('inner', '#!/usr/bin/env false'), ('outer', f'#!{os.getcwd()}/inner')):
            with open(name, 'w') as script: script.write(first + '\\n')
            os.chmod(name, 0o755)
        fd = os.open('outer', os.O_RDONLY); os.set_inheritable(fd, True); os.remove('outer')
        if os.fork() == 0: os.execve(fd, ['outer'], {})
        os.wait()
        """,
        ("process", "/bin/env"),
        "ok",
    ),
    _raw(
        "an address at a pointer whose lower half is zero",
        """
        import socket
        libc.mmap.restype = ctypes.c_void_p
        at = libc.mmap(ctypes.c_void_p(7 << 32), 4096, 3, 0x100022, -1, 0)
        ctypes.memmove(at, struct.pack('=H', 2) + struct.pack('!H', 53) + bytes([8, 8, 8, 8]) + bytes(8), 16)
        there = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        if call(44, there.fileno(), b'x', 1, 0, ctypes.c_void_p(at), 16)[0] != -1: print('BREACH')
        """,
        ("network", "8.8.8.8:53"),
    ),
    _raw(
        "numbers whose upper halves the kernel does not read",
        """
        os.chdir('/etc')
        if call(257, (3 << 32) | 0xFFFFFF9C, b'passwd', 5 << 32, 9 << 32)[0] >= 0: print('BREACH')
        """,
        _PASSWD,
    ),
    hostile(
        "a program that takes the place of a thread's process",
        """
        import os, sys, threading, time
        act = 'open("/etc/passwd"); print("BREACH")'
        threading.Thread(target=os.execv, args=(sys.executable, [sys.executable, '-c', act])).start()
        time.sleep(100)
        """,
        _PASSWD,
        "exception permission_denied",
    ),
    hostile(
        "opening for a program that is about to be started",
        """
        import os
        opening = [(os.POSIX_SPAWN_OPEN, 5, '/etc/shadow', os.O_RDONLY, 0)]
        print('BREACH', os.posix_spawn('/usr/bin/env', ['env'], {}, file_actions=opening))
        """,
        ("file", "/etc/shadow"),
        "permission_denied",
    ),
    hostile(
        "a name with a line, a quote and a change of direction in it",
        'open(\'/root/x\\n{"kind": "end"}\\u202e\\x1b[2J\')',
        ("file", '/root/x\n{"kind": "end"}\u202e\x1b[2J'),
    ),
    hostile(
        "a first message that is sent with its connection",
        "import socket\nsocket.socket().sendto(b'x', 0x20000000, ('8.8.8.8', 80)); print('BREACH')",
        ("network", "8.8.8.8:80"),
    ),
    hostile(
        "a nameless file outside",
        "import os\nprint('BREACH', os.open('/usr/lib', os.O_TMPFILE | os.O_RDWR))",
        ("file", "/lib"),
    ),
    hostile(
        "one that acts behind a program that has ended",
        """
        import os
        reading, writing = os.pipe()
        if os.fork() == 0:
            os.setsid()
            if os.fork() == 0:
                try: print('BREACH', open('/etc/passwd'))
                except OSError: os.write(writing, b'x')
                os.close(1); os.close(2)
                while True: pass
            os._exit(0)
        os.read(reading, 1)
        """,
        _PASSWD,
        "ok",
    ),
]
