"""Programs that multiply, outlive their run, or turn on the processes around them."""

from __future__ import annotations

from textwrap import dedent

from .model import CALL, hostile

SNIPPETS = [
    hostile("fork bomb", "import os\nwhile True: os.fork()", classes="exception timeout"),
    hostile(
        "fork bomb that ignores errors",
        """
        import os
        while True:
            try: os.fork()
            except OSError: pass
        """,
        classes="timeout",
    ),
    hostile(
        "fork bomb in bash",
        "bomb() { bomb | bomb & }; bomb; sleep 5",
        classes="ok exception timeout",
        language="bash",
    ),
    hostile(
        "a daemon that outlives the run",
        """
        import os, time
        if os.fork() == 0:
            os.setsid()
            if os.fork() == 0:
                os.execv("/bin/sleep", ["survivor-of-{abstract}", "1000"])
            os._exit(0)
        os.wait()
        """,
        classes="ok",
    ),
    hostile("nohup in bash", "nohup setsid sleep 1000 > /dev/null 2>&1 &", classes="ok", language="bash"),
    hostile(
        "a child that holds the pipes open",
        """
        import os, time
        if os.fork() == 0: time.sleep(1000)
        print("parent ends")
        """,
        classes="ok",
    ),
    hostile("killing the supervisor", "import os; os.kill(1, 9)", ("privilege", "kill"), "unsafe_operation"),
    hostile(
        "killing the parent",
        "import os; os.kill(os.getppid(), 15)",
        ("privilege", "kill"),
        "unsafe_operation",
    ),
    hostile("killing everything", "import os; os.kill(-1, 9); print('still here')", classes="ok exception"),
    hostile(
        "killing the host process",
        """
        import os
        try: os.kill({host_pid}, 9); print("BREACH")
        except ProcessLookupError: pass
        """,
        classes="ok",
    ),
    hostile(
        "signals to the supervisor by other ways",
        dedent(CALL)
        + dedent("""
        import signal
        for s in (2, 9, 15, 19, 34):
            fd, _ = call(434, 1, 0)
            if fd >= 0: call(424, fd, s, None, 0)
            call(129, 1, s, ctypes.create_string_buffer(128))
        """),
        ("privilege", "pidfd_open"),
        classes="unsafe_operation",
    ),
    hostile(
        "slowing the supervisor down",
        """
        import os
        try: os.setpriority(os.PRIO_PROCESS, 1, 19); print("BREACH")
        except OSError: pass
        try: os.sched_setaffinity(1, {0}); print("BREACH")
        except OSError: pass
        import resource
        resource.prlimit(1, resource.RLIMIT_NOFILE, (1, 1)); print("BREACH")
        """,
        ("privilege", "prlimit64"),
        "unsafe_operation",
    ),
    hostile(
        "raising own limits",
        """
        import resource
        resource.setrlimit(resource.RLIMIT_NPROC, (10000, 10000)); print("BREACH")
        """,
        classes="exception",
    ),
    hostile(
        "exec of a program that is not there",
        "import os; os.execv('/opt/evil', ['x'])",
        ("process", "/opt/evil"),
    ),
]
