"""A bounded share of tests/bench/kill_rounds.py."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.load

SCRIPT = Path(__file__).parents[1] / "bench" / "kill_rounds.py"


def test_nothing_acknowledged_is_lost_or_doubled_when_the_collector_is_killed_at_any_moment() -> None:
    command = [sys.executable, str(SCRIPT), "--rounds", "5", "--json"]
    report = json.loads(subprocess.run(command, check=True, stdout=subprocess.PIPE, timeout=540).stdout)
    assert report["rounds"] == 5
    assert report["acknowledged_spans"] > 0
    broken = {name: report[name] for name in ("lost_spans", "duplicated_spans", "traces_without_evaluation")}
    assert not any(broken.values()), broken
