"""Programs that would take all processor time or all memory."""

from __future__ import annotations

from .model import hostile

SNIPPETS = [
    hostile("endless loop", "while True: pass", classes="timeout"),
    hostile(
        "endless loop that catches everything",
        """
        while True:
            try:
                while True: pass
            except BaseException: pass
        """,
        classes="timeout",
    ),
    hostile("sleep past the deadline", "import time; time.sleep(100)", classes="timeout"),
    hostile(
        "endless C loop without the interpreter",
        "(1 << 10**9).__str__(); 9**9**9",
        classes="timeout exception out_of_memory",
    ),
    hostile(
        "catastrophic regular expression", "import re; re.match('(a+)+$', 'a' * 64 + 'b')", classes="timeout"
    ),
    hostile(
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
    hostile(
        "waiting for input that never comes", "import select; select.select([], [], [])", classes="timeout"
    ),
    hostile(
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
    hostile(
        "memory by appending",
        "x = []\nwhile True: x.append(bytearray(1000000))",
        classes="out_of_memory",
    ),
    hostile("memory in one piece", "x = bytearray(10**12)", classes="out_of_memory"),
    hostile("memory by doubling a string", "x = 'x'\nwhile True: x += x", classes="out_of_memory"),
    hostile(
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
    hostile(
        "memory by anonymous mapping",
        """
        import mmap
        x = [mmap.mmap(-1, 50_000_000) for _ in range(100)]
        for m in x: m.write(b"x" * 50_000_000)
        print("BREACH")
        """,
        classes="out_of_memory exception",
    ),
    hostile(
        "memory by shared memory files",
        """
        import os
        for i in range(100):
            with open(f"/dev/shm/{i}", "wb") as f: f.write(b"x" * 10_000_000)
        print("BREACH")
        """,
        classes="exception",
    ),
    hostile("memory by memfd", "import os; os.memfd_create('x'); print('BREACH')", classes="exception"),
    hostile(
        "stack overflow in C",
        "import sys\nsys.setrecursionlimit(10**9)\ndef f(): f()\nf()",
        classes="killed out_of_memory exception timeout",
    ),
    hostile(
        "locking memory",
        """
        import ctypes
        libc = ctypes.CDLL(None); b = ctypes.create_string_buffer(50_000_000)
        if libc.mlock(b, 50_000_000) == 0: print("BREACH")
        """,
        classes="ok",
    ),
]
