"""Programs that would forge, hide or drown what is on_record of them, or leave something for the next."""

from __future__ import annotations

from .model import hostile

SNIPPETS = [
    hostile(
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
    hostile(
        "hiding memory from the meter",
        """
        import ctypes
        if ctypes.CDLL(None).prctl(4, 0, 0, 0, 0) == 0: print("BREACH")
        x = []
        while True: x.append(b"x" * 10**7)
        """,
        classes="out_of_memory",
    ),
    hostile(
        "raising a class by name", "raise PermissionError('refused by the sandbox')", classes="exception"
    ),
    hostile("raising MemoryError", "raise MemoryError", classes="exception"),
    hostile("raising TimeoutError", "raise TimeoutError('timeout')", classes="exception"),
    hostile(
        "printing a verdict", """print('{"failure_class": "ok"}'); raise SystemExit(3)""", classes="exception"
    ),
    hostile(
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
    hostile(
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
    hostile(
        "a frame that promises four gigabytes",
        """
        import os
        for fd in range(3, 1100):
            try: os.write(fd, b"\\xff" * 8)
            except OSError: pass
        """,
        classes="ok",
    ),
    hostile(
        "never ceasing to write to the runner's descriptor",
        """
        import json, os, struct
        text = json.dumps({"kind": "x", "parts": []}).encode()
        frames = (struct.pack("!II", len(text), 0) + text) * 100
        while True: os.write(900, frames)
        """,
        classes="timeout",
    ),
    hostile(
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
    hostile(
        "a child that never ceases to print",
        """
        import os
        if os.fork() == 0:
            while True: os.write(1, b"x" * 4096)
        """,
        classes="ok output_limit",
    ),
    hostile(
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
    hostile(
        "a thousand distinct attempts",
        """
        for n in range(5000):
            try: open(f"/home/nowhere/{n}")
            except OSError: pass
        """,
        ("file", "/home/nowhere/7"),
        "ok",
    ),
    hostile(
        "a path of a million characters",
        """
        try: open("/" + "x" * 1_000_000)
        except OSError: pass
        """,
        classes="ok",
    ),
    hostile(
        "a path that is not text",
        """
        try: open(b"/home/nowhere/" + bytes(range(1, 256)))
        except OSError: pass
        """,
        ("file", "/home/nowhere/"),
        "ok",
    ),
    hostile(
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
    hostile(
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
    hostile("closing every descriptor", "import os; os.closerange(3, 4096); 1 / 0", classes="exception"),
    hostile(
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
    hostile(
        "an exception that fights back",
        """
        class Evil(Exception):
            def __str__(self): raise SystemExit(0)
            __repr__ = __str__
        raise Evil
        """,
        classes="exception",
    ),
    hostile(
        "an exit function that hides the failure",
        "import atexit, os; atexit.register(os._exit, 0); 1 / 0",
        classes="ok exception",
    ),
    hostile(
        "a hook that never returns",
        "import sys, time\nsys.excepthook = lambda *a: time.sleep(60)\n1 / 0",
        classes="timeout",
    ),
    hostile(
        "frames of the runner",
        """
        import sys
        frame, depth = sys._getframe(), 0
        while frame and depth < 50:
            for name, value in list(frame.f_globals.items()):
                if "supervisor" in name.lower() and "forkserver.supervisor" in str(value): print("seen", name)
            frame, depth = frame.f_back, depth + 1
        """,
        classes="ok",
    ),
    hostile(
        "leaving a mark for the next run",
        "open('/tmp/mark', 'w').write('x'); open('mark', 'w').write('x'); import builtins; builtins.mark = 1",
        classes="ok",
    ),
    hostile(
        "finding the mark of an earlier run",
        """
        import builtins, os
        if os.path.exists("/tmp/mark") or os.path.exists("mark") or hasattr(builtins, "mark"): print("BREACH")
        """,
        classes="ok",
    ),
    hostile(
        "a listener for the next run",
        """
        import os, socket
        s = socket.socket(); s.bind(("127.0.0.1", 7777)); s.listen()
        if os.fork() == 0:
            while True: s.accept()
        """,
        classes="ok",
    ),
    hostile(
        "reaching an earlier run's listener",
        "import socket; socket.create_connection(('127.0.0.1', 7777), 1); print('BREACH')",
        classes="exception",
    ),
]
