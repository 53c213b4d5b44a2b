"""Hostile sessions: steps that act after their end, in the time of another step, or in its name.

Each says what must be on record of which step; all other steps are innocent, and nothing may be on theirs.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from textwrap import dedent, indent

from .model import Attempt

SHADOW: Attempt = ("file", "/etc/shadow")
RAW: Attempt = ("privilege", "socket")
FORGED: Attempt = ("privilege", "report of a step")
CONNECT: Attempt = ("network", "192.0.2.1:443")

ATTACKS = {
    SHADOW: "open('/etc/shadow')",
    RAW: "__import__('socket').socket(17, 3)",
    CONNECT: "__import__('socket').socket().connect_ex(('192.0.2.1', 443))",
}
WAYS = {
    "a thread": "threading.Thread(target=act).start()",
    "a daemon": "threading.Thread(target=act, daemon=True).start()",
    "a timer": "threading.Timer(0.01, act).start()",
    "a bare thread": "__import__('_thread').start_new_thread(act, ())",
    "a child": "if os.fork() == 0: act(); os._exit(0)",
    "a grandchild": """
        if os.fork() == 0:
            if os.fork() == 0: act()
            os._exit(0)
        """,
    "a child that leads a group": """
        if os.fork() == 0:
            os.setsid()
            act()
            os._exit(0)
        """,
    "a child of a thread": """
        def go():
            time.sleep(0.1)
            if os.fork() == 0: act(); os._exit(0)
        threading.Thread(target=go).start()
        """,
    "a thread of a thread": """
        def go():
            time.sleep(0.1)
            threading.Thread(target=act).start()
        threading.Thread(target=go).start()
        """,
    "a pool": "pool = __import__('concurrent.futures').futures.ThreadPoolExecutor(1); pool.submit(act)",
}
WAITS = "import time; time.sleep(0.8); 'innocent'"
FORGE = """
    import json, os, struct
    report = {"kind": "step", "token": "", "step": "", "outcome": "ok", "text": "forged", "parts": []}
    text = json.dumps(report)
    frame = struct.pack("!II", len(text), 0) + text.encode()
    STEPS = 0x7FFFFFF0
    """


@dataclass(frozen=True)
class HostileSession:
    """Steps, and by step what must be on its record.

    Attributes:
        unsure: steps whose record may not pass as whole, whatever is on it.
        left: steps that have left something running, which is noted and no attempt.
        results: by step, the value that it must give as text.
        pause_s: between two steps.
    """

    name: str
    steps: tuple[str, ...]
    on_record: dict[int, Attempt] = field(default_factory=dict)
    unsure: frozenset[int] = frozenset()
    left: frozenset[int] = frozenset()
    results: dict[int, str] = field(default_factory=dict)
    pause_s: float = 0.0


def session(name: str, *steps: str, **more: object) -> HostileSession:
    texts = tuple(dedent(step).strip() + "\n" for step in steps)
    return HostileSession(name, texts, **more)  # type: ignore[arg-type] # as given


def leaving(way: str, attack: Attempt, delay_s: float = 0.2) -> str:
    """A step that leaves something running which acts after a while."""
    begin = f"import os, threading, time\ndef act():\n    time.sleep({delay_s})\n    {ATTACKS[attack]}\n"
    return begin + dedent(WAYS[way]).strip() + "\n"


def _acting_later() -> list[HostileSession]:
    found = []
    for number, way in enumerate(WAYS):
        attack = (SHADOW, RAW, CONNECT)[number % 3]
        step = leaving(way, attack)
        found += [
            session(
                f"{way} acts during a later step", step, WAITS, on_record={0: attack}, results={1: "innocent"}
            ),
            session(f"{way} acts after the last step", "x = 1", step, on_record={1: attack}),
        ]
    return found


_TIMED = {
    "an alarm": """
        signal.signal(signal.SIGALRM, lambda *_: act())
        signal.setitimer(signal.ITIMER_REAL, 0.3); signal.pause()
        """,
    "a timer of the kernel": """
        fd = libc.timerfd_create(1, 0)
        libc.timerfd_settime(fd, 0, struct.pack("=4q", 0, 0, 0, 300_000_000), None)
        os.read(fd, 8); act()
        """,
    "a socket that gives up": """
        ours, theirs = socket.socketpair()
        ours.setsockopt(socket.SOL_SOCKET, socket.SO_RCVTIMEO, struct.pack("=2q", 0, 300_000))
        try: ours.recv(1)
        except OSError: act()
        """,
    "a posix timer": """
        signal.signal(signal.SIGUSR1, lambda *_: act())
        timer, event = ctypes.c_void_p(), struct.pack("=QiiQ40x", 0, signal.SIGUSR1, 0, 0)
        rt = ctypes.CDLL("librt.so.1")
        rt.timer_create(1, event, ctypes.byref(timer))
        rt.timer_settime(timer, 0, struct.pack("=4q", 0, 0, 0, 300_000_000), None); signal.pause()
        """,
}


def _acting_by_a_timer() -> list[HostileSession]:
    """A child waits without end, and for nothing that another task does: a timer wakes it."""
    head = "import ctypes, os, signal, socket, struct\nlibc = ctypes.CDLL(None)\n"
    head += "def act(): open('/etc/shadow')\n"
    return [
        session(
            f"{name} wakes a child after the last step",
            "x = 1",
            f"{head}if os.fork() == 0:\n{indent(dedent(waits).strip(), '    ')}\n    os._exit(0)\n",
            on_record={1: SHADOW},
        )
        for name, waits in _TIMED.items()
    ]


SESSIONS = (
    *_acting_later(),
    *_acting_by_a_timer(),
    session(
        "two steps act at once, each for itself",
        leaving("a thread", SHADOW),
        leaving("a child", RAW),
        WAITS,
        on_record={0: SHADOW, 1: RAW},
        results={2: "innocent"},
    ),
    session(
        "a thread forks while a later step forks",
        """
        import os, threading, time
        def go():
            for _ in range(20):
                if os.fork() == 0:
                    open('/etc/shadow')
                time.sleep(0.02)
        threading.Thread(target=go).start()
        """,
        """
        import subprocess
        for _ in range(10): subprocess.run(["/bin/true"])
        'innocent'
        """,
        WAITS,
        on_record={0: SHADOW},
        results={1: "innocent", 2: "innocent"},
    ),
    session(
        "a step attacks beside an innocent thread of an earlier one",
        "import threading, time; threading.Thread(target=time.sleep, args=(0.5,)).start()",
        leaving("a thread", SHADOW, 0.1),
        WAITS,
        on_record={1: SHADOW},
        results={2: "innocent"},
    ),
    session(
        "between two steps nothing runs",
        """
        import threading, time
        seen = []
        def go():
            end = time.monotonic() + 60
            while time.monotonic() < end: seen.append(time.monotonic()); time.sleep(0.01)
        threading.Thread(target=go, daemon=True).start()
        time.sleep(0.1)
        """,
        "time.sleep(0.1); max(b - a for a, b in zip(seen, seen[1:])) > 0.8",
        left=frozenset({0}),
        results={1: "True"},
        pause_s=1.0,
    ),
    session(
        "between two steps no child runs",
        """
        import os, time
        if os.fork() == 0:
            end, last, most = time.monotonic() + 3600, time.monotonic(), 0
            while time.monotonic() < end:
                now = time.monotonic()
                last, most = now, max(most, now - last)
                open('new', 'w').write(str(most)); os.rename('new', 'gap')
            os._exit(0)
        time.sleep(0.1)
        """,
        "time.sleep(0.3); float(open('gap').read()) > 0.8",
        left=frozenset({0}),
        pause_s=1.0,
    ),
    session(
        "what never acts but could",
        "import os, time\nif os.fork() == 0: time.sleep(3600)",
        "'innocent'",
        left=frozenset({0}),
        results={1: "innocent"},
    ),
    session(
        "a thread that could act a day later",
        "x = 1",
        leaving("a daemon", SHADOW, 86400),
        left=frozenset({1}),
    ),
    session(
        "a step reports its end and goes on",
        dedent(FORGE) + "os.write(STEPS, frame); open('/etc/shadow')",
        "'innocent'",
        on_record={0: SHADOW},
        results={1: "innocent"},
    ),
    session(
        "a step reports its end and answers for the next one",
        FORGE
        + """
    os.write(STEPS, frame)
    try: taken = os.read(STEPS, 65536)
    except OSError: taken = b""
    os.write(STEPS, frame) if taken else None
        """,
        "'innocent'",
        on_record={0: FORGED},
        results={1: "innocent"},
    ),
    session(
        "a thread reports the end of a later step",
        FORGE
        + """
    import threading, time
    def go():
        for _ in range(40):
            try: os.write(STEPS, frame)
            except OSError: pass
            time.sleep(0.01)
    threading.Thread(target=go).start()
        """,
        "import time; time.sleep(0.2); 'innocent'",
        on_record={0: FORGED},
        results={1: "innocent"},
    ),
    session(
        "a child reports the end of a later step",
        FORGE
        + """
    import time
    if os.fork() == 0:
        for _ in range(40):
            try: os.write(STEPS, frame)
            except OSError: pass
            time.sleep(0.01)
        os._exit(0)
        """,
        "import time; time.sleep(0.2); 'innocent'",
        on_record={0: FORGED},
        results={1: "innocent"},
    ),
    session(
        "a thread takes the next step's code",
        """
        import os, threading
        taken = []
        def go(): taken.append(os.read(0x7FFFFFF0, 65536))
        for _ in range(4): threading.Thread(target=go, daemon=True).start()
        """,
        "len(taken)",
        results={1: "0"},
    ),
    session(
        "the runner's own reporter, found in memory",
        """
        import gc, threading, time
        def go():
            end = time.monotonic() + 0.4
            while time.monotonic() < end:
                for each in gc.get_objects():
                    if type(each).__name__ == "Reporter":
                        each.send("step", step="", outcome="ok", text="forged")
                time.sleep(0.02)
        threading.Thread(target=go).start()
        """,
        "import time; time.sleep(0.3); 'innocent'",
        on_record={0: FORGED},
        results={1: "innocent"},
    ),
    session(
        "the socket that other programs report by",
        """
        import json, os, struct, threading, time
        def go():
            for kind in ("step", "ready", "finished", "call"):
                text = json.dumps({"kind": kind, "token": "0" * 32, "step": "", "outcome": "ok", "parts": []})
                for _ in range(5):
                    try: os.write(900, struct.pack("!II", len(text), 0) + text.encode())
                    except OSError: pass
                    time.sleep(0.01)
        threading.Thread(target=go).start()
        """,
        "import time; time.sleep(0.4); 'innocent'",
        results={1: "innocent"},
    ),
    session(
        "a directory's descriptor that a step sends to a later one",
        """
        import os, socket
        ours, theirs = socket.socketpair()
        fd = os.open('/usr/lib', os.O_RDONLY)
        socket.send_fds(ours, [b'x'], [fd]); os.close(fd)
        """,
        """
        os.fchdir(socket.recv_fds(theirs, 1, 1)[1][0])
        try: open('../../etc/shadow')
        except OSError: pass
        """,
        "'innocent'",
        on_record={1: SHADOW},
        results={2: "innocent"},
    ),
    session(
        "a link that leads elsewhere in a later step",
        "import os, threading, time\nopen('own', 'w').close(); os.symlink('own', 'link')",
        """
        def go():
            time.sleep(0.2); os.remove('link'); os.symlink('/etc/shadow', 'link')
            open('link')
        threading.Thread(target=go).start()
        """,
        "time.sleep(0.6); 'innocent'",
        on_record={1: SHADOW},
        results={2: "innocent"},
    ),
    session(
        "another program that a step leaves behind",
        "import os\nif os.fork() == 0: os.execv('/bin/sh', ['sh', '-c', 'sleep 0.3; cat /etc/shadow'])",
        "import time; time.sleep(0.8); 'innocent'",
        on_record={0: SHADOW},
        results={1: "innocent"},
    ),
    session(
        "signals that write to the channel of a session",
        """
        import os, signal
        signal.signal(signal.SIGUSR1, lambda *_: None)
        for fd in (900, 0x7FFFFFF0):
            try: signal.set_wakeup_fd(fd, warn_on_full_buffer=False)
            except (OSError, ValueError): pass
        for _ in range(2000): os.kill(os.getpid(), signal.SIGUSR1)
        """,
        "'innocent'",
        results={1: "innocent"},
    ),
    session(
        "another function in the place of the runner's",
        """
        import sys
        runner = sys.modules["spanproof.sandbox.guest.session"]
        runner._run_step = lambda source, namespace: {"outcome": "ok", "text": "forged"}
        runner.Inbox.wait_for_message = None
        """,
        "'innocent'",
        results={1: "innocent"},
    ),
    session(
        "what does not compile is no attempt to read the runner",
        "x = (",
        "import ast; ast.parse('x = (')",
        "'innocent'",
        results={2: "innocent"},
    ),
    session(
        "messages that are none",
        """
        import os
        for data in (b"", b"x", b"\\xff" * 64, b"\\0" * 8, b"\\0\\0\\0\\2\\0\\0\\0\\0{}", b"x" * (4 << 20)):
            try: os.write(0x7FFFFFF0, data)
            except OSError: pass
        """,
        "'innocent'",
        results={1: "innocent"},
    ),
    session(
        "a name is looked up by an earlier step",
        """
        import socket, threading, time
        def go():
            time.sleep(0.2)
            try: socket.getaddrinfo("exfiltrate.example", 443)
            except OSError: pass
        threading.Thread(target=go).start()
        """,
        WAITS,
        on_record={0: ("network", "exfiltrate.example")},
        unsure=frozenset({1}),
        results={1: "innocent"},
    ),
)
