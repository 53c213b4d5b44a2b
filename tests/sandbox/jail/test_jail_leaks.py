"""Many runs leave nothing: the leak check of tests/bench, a short one."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

LEAKS = Path(__file__).parents[2] / "bench" / "leaks.py"


def test_three_hundred_runs_leave_nothing() -> None:
    command = [sys.executable, str(LEAKS), "300", "--json"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    told = json.loads(done.stdout)
    assert told["leaks"] == []
    assert told["before"]["processes"] == told["after"]["processes"] == 6
    assert told["closed"]["processes"] == 0
