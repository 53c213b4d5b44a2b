"""Programs that turn on what they were forked from, and a plain one after all of them."""

from __future__ import annotations

from .model import hostile

SNIPPETS = [
    hostile(
        "looking for what it was forked from",
        """
        import os
        seen = {name for name in os.listdir("/proc") if name.isdigit()} - {"1", str(os.getpid())}
        if seen: print("BREACH", seen)
        if os.getppid() not in (0, 1): print("BREACH", os.getppid())
        """,
        classes="ok permission_denied unsafe_operation",
    ),
    hostile(
        "killing what it was forked from",
        """
        import os
        for pid in range(2, 3000):
            if pid != os.getpid():
                try: os.kill(pid, 9); print("BREACH", pid)
                except ProcessLookupError: pass
        """,
        classes="ok permission_denied unsafe_operation",
    ),
    hostile(
        "signals to all it may reach",
        "import os, signal\nsignal.signal(signal.SIGTERM, signal.SIG_IGN)\nos.kill(0, 15); os.kill(-1, 15)",
        classes="ok exception killed unsafe_operation",
    ),
    hostile(
        "a process descriptor of what it was forked from",
        """
        import os, signal
        for pid in (0, 1, *range(2, 300)):
            if pid == os.getpid(): continue
            try: fd = os.pidfd_open(pid)
            except OSError: continue
            if pid != 1: print("BREACH", pid)
        """,
        classes="ok exception unsafe_operation",
    ),
    hostile(
        "limits of what it was forked from",
        """
        import os, resource
        for pid in range(2, 3000):
            if pid != os.getpid():
                try: resource.prlimit(pid, resource.RLIMIT_NOFILE, (0, 0)); print("BREACH", pid)
                except OSError: pass
        """,
        classes="ok permission_denied unsafe_operation",
    ),
    hostile("the run after all that", "print('still here')", classes="ok"),
]
