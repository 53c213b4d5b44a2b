"""The reduced tier with control groups: the supervisor outlives a program killed for its memory."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

PLUGINS = Path(__file__).parents[3] / "plugins"
CONTAINER = Path(__file__).parents[3] / "hostile/container.py"
HOGS = '''
import os, sys, time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from control_groups import control_groups_of
from spanproof.sandbox import Limits, Program
from spanproof.sandbox.registry import open_sandbox

HOG = """
import ctypes, mmap, time
ctypes.CDLL(None).prctl(15, b"a-hog")
while open("/proc/self/oom_score_adj").read() != "0\\\\n": time.sleep(0.01)
shared = [mmap.mmap(-1, 50_000_000) for _ in range(100)]
for one in shared: one.write(b"x" * 50_000_000)
"""

def in_line(score, name=""):
    """Processes that the kernel kills in this turn, and that have this in their names."""
    found = []
    for entry in Path("/proc").iterdir():
        try:
            if entry.name.isdigit() and (entry / "oom_score_adj").read_text() == f"{score}\\n":
                if name in (entry / "comm").read_text(errors="replace"):
                    found.append(entry)
        except OSError:
            continue
    return found

def look_for(what):
    deadline = time.monotonic() + 120
    while not (found := what()):
        if time.monotonic() > deadline: sys.exit("it does not come")
        time.sleep(0.02)
    return found

program = Program("python", HOG, limits=Limits(memory_bytes=2**28, disk_bytes=2**16, wall_s=120))
with open_sandbox(settings={"tier": "reduced"}) as sandbox, ThreadPoolExecutor(1) as pool:
    for _ in range(4):
        running = pool.submit(sandbox.run, program)
        hog = look_for(lambda: in_line(1000, "a-hog"))[0]
        grouped = bool(control_groups_of(os.getpid()))
        second = look_for(lambda: in_line(900)) if grouped else in_line(900)
        assert len(second) == grouped, "where there is no group, the kernel kills nobody in it"
        if grouped:  # it comes first, as if the hog were dead and its memory not yet given back
            (second[0] / "oom_score_adj").write_text("1000")
            (hog / "oom_score_adj").write_text("0")
        print(running.result().failure_class)
    print(sandbox.run(Program("python", "print(1)")).stdout, end="")
'''


@pytest.mark.machine
@pytest.mark.skipif(os.geteuid() != 0, reason="building a container takes root")
def test_a_supervisor_outlives_what_is_killed_for_want_of_memory() -> None:
    done = subprocess.run(
        [sys.executable, str(CONTAINER), "groups", sys.executable, "-c", HOGS],
        env={**os.environ, "PYTHONPATH": str(PLUGINS)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.stdout.splitlines() == ["out_of_memory"] * 4 + ["1"], done.stderr
