"""Programs that write without end: to their output, to the disk, to every descriptor."""

from __future__ import annotations

from .model import hostile

SNIPPETS = [
    hostile("flood of stdout", "while True: print('x' * 1000)", classes="output_limit"),
    hostile(
        "flood of stderr",
        "import os\nwhile True: os.write(2, b'x' * 65536)",
        classes="output_limit",
    ),
    hostile("flood from bash", "yes", classes="output_limit", language="bash"),
    hostile("a full disk", "f = open('x', 'wb')\nwhile True: f.write(b'x' * 1000000)", classes="exception"),
    hostile(
        "a disk full of small files",
        """
        for i in range(1000): open(f"f{i}", "wb").write(b"x" * 100_000)
        print("BREACH")
        """,
        classes="exception",
    ),
    hostile(
        "a million inodes",
        """
        import os
        for i in range(1_000_000): os.mkdir(f"d{i}")
        print("BREACH")
        """,
        classes="exception timeout",
        timeout_s=6,
    ),
    hostile(
        "a sparse file beyond the limit",
        "f = open('x', 'wb'); f.truncate(10**12); print('BREACH')",
        classes="exception",
    ),
    hostile(
        "a deep directory",
        """
        import os
        for i in range(3000): os.mkdir("d"); os.chdir("d")
        """,
        classes="ok exception timeout permission_denied",
    ),
    hostile(
        "all descriptors",
        """
        import os
        held = []
        try:
            while True: held.append(os.open("/dev/null", 0))
        except OSError: pass
        if len(held) > 300: print("BREACH", len(held))
        """,
        classes="ok",
    ),
    hostile(
        "output that is not text", "import sys; sys.stdout.buffer.write(bytes(range(256)) * 10)", classes="ok"
    ),
]
