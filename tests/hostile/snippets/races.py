# ruff: noqa: E501 - programs keep their lines
"""Programs that change a thing between its judgement and its use."""

from __future__ import annotations

from .model import hostile

SNIPPETS = [
    hostile(
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
    hostile(
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
    hostile(
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
    hostile(
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
