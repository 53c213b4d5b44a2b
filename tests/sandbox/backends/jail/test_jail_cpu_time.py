"""CPU time of a program is that of all it has started, whichever process waits for them."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from spanproof.sandbox import Limits, Program
from spanproof.sandbox.registry import open_sandbox

HANGS_S = 120.0
CONTAINER = Path(__file__).parents[3] / "hostile" / "container.py"
BUSY = """
import os, signal, time
{before}
for _ in range(8):
    pid = os.fork()
    if pid == 0:
        until = time.process_time() + 0.1
        while time.process_time() < until: pass
        os._exit(0)
    {waits}
time.sleep(0.05)
while True:
    try: os.wait()
    except ChildProcessError: break
"""
WAYS = {
    "waited for": BUSY.format(before="", waits="os.waitpid(pid, 0)"),
    "ignored": BUSY.format(before="signal.signal(signal.SIGCHLD, signal.SIG_IGN)", waits="pass"),
}


@pytest.mark.parametrize("way", WAYS)
def test_children_are_counted_whether_they_are_waited_for_or_not(way: str) -> None:
    with open_sandbox() as sandbox:
        limits = Limits(wall_s=HANGS_S, cpu_s=HANGS_S)
        assert sandbox.run(Program("python", WAYS[way], limits=limits)).cpu_s >= 0.8


@pytest.mark.machine
@pytest.mark.skipif(os.geteuid() != 0, reason="building a container takes root")
def test_they_are_in_the_reduced_tier_too() -> None:
    lines = "".join(
        json.dumps({"id": way, "language": "python", "source": WAYS[way], "timeout_s": HANGS_S}) + "\n"
        for way in WAYS
    )
    command = [sys.executable, str(CONTAINER), "user", sys.executable, "-m", "spanproof.cli"]
    command += ["sandbox", "run", "--jsonl", "--set", "tier=reduced"]
    done = subprocess.run(command, input=lines, capture_output=True, text=True, check=False)
    rows = [json.loads(line) for line in done.stdout.splitlines()]
    assert [row["cpu_s"] >= 0.8 for row in rows] == [True] * len(WAYS), (rows, done.stderr)
