# ruff: noqa: E501 - programs keep their lines
"""Attacks on what a program finds of the machine, by the interpreter's end, and by what is left running."""

from __future__ import annotations

from .model import Hostile, hostile

SHADOW = ("file", "/etc/shadow")
_AT_THE_END = {
    "a method that runs when an object ends": (
        "class A:\n    def __del__(self, open=open): open('/etc/shadow')\na = A()"
    ),
    "the end of an object in a cycle": (
        "class A:\n    def __del__(self, open=open): open('/etc/shadow')\na = A(); a.me = a; del a"
    ),
    "the end of an object that a class holds": (
        "class A:\n    def __del__(self, open=open): open('/etc/shadow')\nclass B: held = A()"
    ),
    "the end of an object of a class without slots": (
        "class A:\n    __slots__ = ()\n    def __del__(self, open=open): open('/etc/shadow')\na = A()"
    ),
    "what a generator has in its end": (
        "def g(open=open):\n    try: yield\n    finally:\n        try: open('/etc/shadow')\n"
        "        except OSError: pass\nx = g(); next(x)"
    ),
    "an exit function": (
        "import atexit\ndef f():\n    try: open('/etc/shadow')\n    except OSError: pass\natexit.register(f)"
    ),
    "the end of a name of the interpreter": (
        "import sys\nclass A:\n    def __del__(self, open=open): open('/etc/shadow')\nsys.mine = A()"
    ),
    "the end of a builtin name": (
        "import builtins\nclass A:\n    def __del__(self, open=open): open('/etc/shadow')\nbuiltins.mine = A()"
    ),
    "a callback of a weak reference": (
        "import weakref\nclass A: pass\na = A()\ndef f(_, open=open):\n    try: open('/etc/shadow')\n"
        "    except OSError: pass\nw = weakref.finalize(a, f, None)"
    ),
}

SNIPPETS: list[Hostile] = [
    *(hostile(name, source, SHADOW, "ok exception") for name, source in _AT_THE_END.items()),
    hostile(
        "a raw socket at the interpreter's end",
        """
        import socket
        class A:
            def __del__(self, make=socket.socket): make(17, 3)
        a = A()
        """,
        ("privilege", "socket"),
        "unsafe_operation",
    ),
    hostile(
        "a function in the place of the runner's own end",
        """
        import os, sys
        ending = sys.modules["spanproof.sandbox.guest.ending"]
        ending._exit = os._exit = lambda code: None
        ending._finalize = lambda code: open("/etc/shadow")
        class A:
            def __del__(self): pass
        a = A()
        """,
        SHADOW,
        "ok exception killed",
    ),
    hostile(
        "modules that end twice",
        """
        import sys
        class A:
            def __del__(self, modules=sys.modules): modules.clear()
        a = A(); sys.modules.clear()
        """,
        None,
        "ok exception",
    ),
    hostile(
        "an end without an end",
        """
        class A:
            def __del__(self):
                while True: pass
        a = A()
        """,
        None,
        "timeout",
    ),
    hostile(
        "a text of the machine, opened to write",
        """
        import os
        try: os.open("/proc/meminfo", os.O_RDWR); print("BREACH")
        except OSError: pass
        """,
        ("file", "/proc/meminfo"),
        "ok",
    ),
    hostile(
        "a text of the machine, opened again to write",
        """
        import os
        fd = os.open("/proc/cpuinfo", os.O_RDONLY)
        for number in range(3):
            try: os.write(os.open(f"/proc/self/fd/{fd}", os.O_RDWR), b"x"); print("BREACH")
            except OSError: pass
        """,
        None,
        "ok",
    ),
    hostile(
        "the machine's own settings beside those that are given",
        """
        for name in ("kernel/core_pattern", "kernel/modprobe", "kernel/sysrq"):
            try:
                with open(f"/proc/sys/{name}") as file: print("BREACH", file.read())
            except OSError: pass
        """,
        None,
        "ok",
    ),
    hostile(
        "a way out of a cache of the run",
        """
        try: open("/var/cache/fontconfig/../../../etc/shadow"); print("BREACH")
        except OSError: pass
        """,
        SHADOW,
        "ok",
    ),
    hostile(
        "a link to credentials, made by the program",
        """
        import os
        os.symlink("/etc/shadow", "link")
        try: open("link"); print("BREACH")
        except OSError: pass
        """,
        SHADOW,
        "ok",
    ),
    hostile(
        "a name for the machine at no address",
        """
        import ctypes
        libc = ctypes.CDLL(None, use_errno=True)
        for address in (0, 8, 1 << 47): print(libc.uname(ctypes.c_void_p(address)))
        """,
        None,
        "ok killed",
    ),
    hostile(
        "credentials that lie nowhere",
        "open('/opt/nowhere/.aws/credentials')",
        ("file", "/opt/nowhere/.aws/credentials"),
        "exception",
    ),
]
