"""Programs by class: what is attempted, by which way, from where in a program; each is on record.

An object has one name on record, whichever way leads to it and whichever thread or process takes it: the main
thread or another, a child or an orphan, a program that ends, or one that has attempted hundreds of others.
"""

from __future__ import annotations

from collections.abc import Iterator
from textwrap import dedent, indent

from .model import CALL, Attempt, Hostile, hostile

_HEAD = dedent(CALL) + dedent(
    """
    import atexit, shutil, socket, struct, subprocess, sys, threading, time
    def quietly(action):
        try: action()
        except OSError: pass
    """
)

CONTEXTS = {
    "plainly": "quietly(attempt)",
    "in a thread": "t = threading.Thread(target=quietly, args=(attempt,)); t.start(); t.join()",
    "in a child": "pid = os.fork()\nif pid == 0: quietly(attempt); os._exit(0)\nos.waitpid(pid, 0)",
    "in an orphan": "reading, writing = os.pipe()\nif os.fork() == 0:\n    if os.fork() == 0:\n"
    "        os.setsid(); quietly(attempt); os.write(writing, b'x'); os._exit(0)\n    os._exit(0)\n"
    "os.read(reading, 1)",
    "at the end": "atexit.register(quietly, attempt)",
    "in a finalizer": "class Last:\n    def __del__(self): quietly(attempt)\nLast()",
    "in another interpreter": "subprocess.run([sys.executable, '-S', '-c', program], stderr=2)",
    "after hundreds of others": "for n in range(900): quietly(lambda: open(f'/nowhere/{n}'))\n"
    "quietly(attempt)",
}
"""Where in a program an attempt is made."""

READS = {
    "by its name": ("", "open('/etc/passwd')"),
    "by a raw call": ("", "call(257, -100, b'/etc/passwd', 0, 0)"),
    "by openat2": ("", "call(437, -100, b'/etc/passwd', struct.pack('QQQ', 0, 0, 0), 24)"),
    "by slashes and dots": ("", "open('//etc/./../etc//passwd')"),
    "by a chain of links": (
        "os.symlink('/etc', 'a'); os.symlink('a', 'b'); os.symlink('b/passwd', 'c')",
        "open('c')",
    ),
    "by the root of /proc": ("", "open('/proc/self/root/etc/passwd')"),
    "by a directory's descriptor": (
        "fd = os.open('/etc/ssl/certs', os.O_RDONLY)",
        "os.open('../../passwd', os.O_RDONLY, dir_fd=fd)",
    ),
    "by a directory opened as a name": (
        "fd = os.open('/usr/lib', os.O_PATH)",
        "os.open('../../etc/passwd', os.O_RDONLY, dir_fd=fd)",
    ),
}
"""Ways to a forbidden file: what is made ready, and the attempt."""

CHANGES = {
    "unlink": "os.unlink('/usr/bin/env')",
    "rename": "os.rename('/usr/bin/env', '/usr/bin/env2')",
    "renameat2": "call(316, -100, b'/usr/bin/env', -100, b'/usr/bin/env2', 1)",
    "mkdir": "os.mkdir('/usr/bin/env.d')",
    "rmdir": "os.rmdir('/usr/bin/env')",
    "chmod": "os.chmod('/usr/bin/env', 0o777)",
    "chown": "os.chown('/usr/bin/env', 1000, 1000)",
    "truncate": "os.truncate('/usr/bin/env', 0)",
    "utime": "os.utime('/usr/bin/env', (1, 1))",
    "symlink": "os.symlink('x', '/usr/bin/env.link')",
    "link": "os.link('/usr/bin/env', '/usr/bin/env.link')",
    "setxattr": "os.setxattr('/usr/bin/env', 'user.x', b'1')",
    "open to append": "open('/usr/bin/env', 'ab')",
    "open to truncate": "os.open('/usr/bin/env', os.O_TRUNC)",
    "creat": "call(85, b'/usr/bin/env.new', 0o600)",
}
"""Changes of what is not the program's; on record as files of /usr/bin."""

_ADDRESS = "struct.pack('=H', 2) + struct.pack('!H', 4711) + bytes((203, 0, 113, 9)) + bytes(8)"
SENDS = {
    "connect": "socket.socket().connect(('203.0.113.9', 4711))",
    "connect without waiting": "s = socket.socket(); s.setblocking(False); s.connect(('203.0.113.9', 4711))",
    "connect of a mapped address": "socket.socket(10).connect(('::ffff:203.0.113.9', 4711))",
    "sendto": "socket.socket(2, 2).sendto(b'x', ('203.0.113.9', 4711))",
    "sendmsg": "socket.socket(2, 2).sendmsg([b'x'], [], 0, ('203.0.113.9', 4711))",
    "fast open": "socket.socket().sendto(b'x', socket.MSG_FASTOPEN, ('203.0.113.9', 4711))",
    "a raw connect": f"s = socket.socket(); call(42, s.fileno(), {_ADDRESS}, 16)",
    "a connect of a datagram socket": "socket.socket(2, 2).connect(('203.0.113.9', 4711))",
}
"""Ways to send to another machine."""

PRIVILEGED = {
    "chroot": ("os.chroot('.')", "chroot"),
    "setuid": ("os.setuid(0)", "setuid"),
    "setresgid": ("os.setresgid(0, 0, 0)", "setresgid"),
    "a packet socket": ("socket.socket(17, socket.SOCK_RAW)", "AF_PACKET"),
    "a socket of virtual machines": ("socket.socket(40, socket.SOCK_STREAM)", "AF_VSOCK"),
    "an x32 call": ("call(0x40000000 + 39)", "foreign"),
    "a device": ("os.mknod('d', 0o060600, 0x800)", "mknod"),
    "a child of the parent": ("call(56, 0x8011, 0, 0, 0, 0)", "clone"),
}
"""Calls that no program may make, which Docker's profile leaves to us; and their names on record."""

EXECUTIONS = {
    "exec": "os.execv('/usr/bin/env', ['env', 'true'])",
    "exec by a descriptor": "os.execve(os.open('/usr/bin/env', os.O_RDONLY), ['env', 'true'], {})",
    "execveat": "call(322, -100, b'/usr/bin/env', None, None, 0)",
    "spawn": "os.waitpid(os.posix_spawn('/usr/bin/env', ['env', 'true'], {}), 0)",
    "vfork": "subprocess.run(['/usr/bin/env', 'true'])",
}
"""Ways to start a program."""


def _program(before: str, attempt: str, context: str) -> str:
    """The text of a program that makes an attempt in a context, and of the one that it may start for that."""
    body = f"def attempt():\n{indent(attempt.replace('; ', chr(10)), '    ')}\n"
    text = f"{_HEAD}\n{before}\n{body}"
    return f"{text}program = {(text + 'quietly(attempt)')!r}\n{CONTEXTS[context]}\n"


def _one(
    name: str, before: str, attempt: str, context: str, on_record: Attempt, classes: str = ""
) -> Hostile:
    return hostile(f"{name}, {context}", _program(before, attempt, context), on_record, classes)


def _generated() -> Iterator[Hostile]:
    contexts = list(CONTEXTS)
    for at, (name, (before, attempt)) in enumerate(READS.items()):
        # Each way in three contexts, so that each context sees several ways.
        for context in (contexts[at % 8], contexts[(at + 3) % 8], contexts[(at + 5) % 8]):
            yield _one(f"passwd {name}", before, attempt, context, ("file", "/etc/passwd"))
    for at, (name, attempt) in enumerate(CHANGES.items()):
        for context in (contexts[at % 8], contexts[(at + 5) % 8]):
            yield _one(f"{name} outside", "", attempt, context, ("file", "/usr/bin/env"))
    for at, (name, attempt) in enumerate(SENDS.items()):
        for context in (contexts[at % 8], contexts[(at + 2) % 8], contexts[(at + 5) % 8]):
            yield _one(name, "", attempt, context, ("network", "203.0.113.9:4711"))
    for name, (attempt, on_record) in PRIVILEGED.items():
        for context in contexts:
            yield _one(name, "", attempt, context, ("privilege", on_record), "unsafe_operation")
    for at, (name, attempt) in enumerate(EXECUTIONS.items()):
        for context in (contexts[at % 8], contexts[(at + 5) % 8]):
            yield _one(name, "", attempt, context, ("process", "env"))


SNIPPETS = list(_generated())
