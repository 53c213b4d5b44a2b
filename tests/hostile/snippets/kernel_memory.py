"""Programs that have the kernel hold memory for them, where no page of their own shows it."""

from __future__ import annotations

from textwrap import dedent

from .model import CALL, hostile

_ENDS = "ok out_of_memory exception timeout"
_HOLD = """
    import errno, fcntl, mmap, os, resource, socket, struct, sys, time
    MOST = 900_000_000
    def fill(one, count=[0]):
        one.setblocking(False)
        try:
            while True:
                count[0] += one.send(bytes(1 << 20))
                if count[0] > MOST: print("BREACH", count[0]); os._exit(1)
        except BlockingIOError: pass
    def multiply(hold):
        for _ in range(30):
            if os.fork() == 0:
                try: hold()
                except OSError: pass
                os._exit(0)
        hold()
"""
"""`fill` stuffs a connection until it takes no more; `multiply` has 31 processes do the same."""


def _holds(name: str, source: str, classes: str = _ENDS) -> object:
    return hostile(f"kernel memory by {name}", dedent(_HOLD) + dedent(source), None, classes, timeout_s=4)


SNIPPETS = [
    _holds(
        "loopback connections",
        """
        server = socket.socket(); server.setsockopt(1, 8, 1 << 25)
        server.bind(("127.0.0.1", 0)); server.listen(500)
        def hold():
            held = []
            for _ in range(100):
                one = socket.socket()
                for option in (7, 8): one.setsockopt(1, option, 1 << 25)
                one.connect(server.getsockname()); held.append(one); fill(one)
            time.sleep(1)
        multiply(hold)
        """,
        f"{_ENDS} permission_denied",
    ),
    _holds(
        "datagrams that no one reads",
        """
        def hold():
            held = []
            for _ in range(200):
                one = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
                one.setsockopt(1, 8, 1 << 25); one.bind(("127.0.0.1", 0)); held.append(one)
                address = ("127.0.0.1", one.getsockname()[1])
                for _ in range(20): one.sendto(bytes(60000), address)
            time.sleep(1)
        multiply(hold)
        """,
        f"{_ENDS} permission_denied",
    ),
    _holds(
        "pairs of unix sockets",
        """
        def hold():
            held = []
            for _ in range(100):
                pair = socket.socketpair(); held.append(pair)
                for one in pair:
                    one.setsockopt(1, 7, 1 << 25); fill(one)
            time.sleep(1)
        multiply(hold)
        """,
    ),
    _holds(
        "unix sockets that are on their way",
        """
        def hold():
            carrier, _other = socket.socketpair(); held = [carrier, _other]
            for _ in range(200):
                a, b = socket.socketpair(); a.setsockopt(1, 7, 1 << 25); fill(a)
                socket.send_fds(carrier, [b"x"], [a.fileno(), b.fileno()])
                a.close(); b.close()
            time.sleep(1)
        multiply(hold)
        """,
    ),
    _holds(
        "page tables",
        """
        import ctypes
        libc = ctypes.CDLL(None); libc.mmap.restype = ctypes.c_void_p
        def hold():
            for _ in range(200):
                size = 1 << 38
                at = libc.mmap(None, ctypes.c_size_t(size), 1, 0x4022, -1, 0)
                if at in (None, (1 << 64) - 1): return
                libc.madvise(ctypes.c_void_p(at), ctypes.c_size_t(size), 15)  # no huge pages
                for offset in range(0, size, 1 << 21): ctypes.c_ubyte.from_address(at + offset).value
        multiply(hold)
        """,
    ),
    _holds(
        "pipes",
        """
        def hold():
            held = []
            for _ in range(120):
                reading, writing = os.pipe(); held.append((reading, writing))
                os.set_blocking(writing, False)
                try: fcntl.fcntl(writing, 1031, 1 << 20)
                except OSError: pass
                try:
                    while True: os.write(writing, bytes(1 << 16))
                except BlockingIOError: pass
            time.sleep(1)
        multiply(hold)
        """,
    ),
    _holds(
        "pipes that grow",
        """
        reading, writing = os.pipe()
        try: fcntl.fcntl(writing, 1031, 1 << 20); print("BREACH")
        except PermissionError: pass
        """,
        "ok",
    ),
    _holds(
        "epoll",
        """
        import select
        def hold():
            ends = [os.eventfd(0) for _ in range(100)]
            held = [select.epoll() for _ in range(120)]
            for one in held:
                for end in ends: one.register(end)
            time.sleep(1)
        multiply(hold)
        """,
    ),
    hostile(
        "kernel memory by timers",
        dedent(CALL)
        + dedent("""
        made, number = 0, ctypes.c_int()
        while call(222, 0, None, ctypes.byref(number))[0] == 0: made += 1
        if made > 2000: print("BREACH", made)
        """),
        classes="ok",
    ),
]
