from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from spanproof.store import open_store

pytestmark = pytest.mark.load

ROUNDS = int(os.environ.get("SPANPROOF_KILL_ROUNDS", "6"))
"""How often the process is killed; more by `SPANPROOF_KILL_ROUNDS`."""

_CHILD = Path(__file__).with_name("killed_engine.py")


@pytest.mark.parametrize("seed", [1, 2])
def test_nothing_is_lost_or_sent_under_two_ids_however_often_the_process_is_killed(tmp_path, receiver, seed):
    """Each round goes on where the last one was killed; in the end each alert fired and ended once."""
    moments = random.Random(seed)
    receiver.answers = [500 if moments.random() < 0.2 else 200 for _ in range(20 * ROUNDS)]
    for number in range(ROUNDS):
        process = start(tmp_path, receiver.url)
        try:
            assert process.stdout is not None
            assert process.stdout.readline() == "ready\n"
            if number % 2 == 0:
                # On a busy machine every process might be killed before its first tick.
                wait_for_tick(tmp_path / "clock")
            time.sleep(moments.uniform(0.0, 1.5))
        finally:
            process.send_signal(signal.SIGKILL)
            process.wait()
            process.stdout.close()
    last = start(tmp_path, receiver.url, "to the end")
    out, _ = last.communicate(timeout=300)
    assert last.returncode == 0, out
    episodes = json.loads(out.splitlines()[-1])
    assert episodes
    by_id: dict[str, list[str]] = {}
    seen = set()
    for body in receiver.bodies:
        (alert,) = body["alerts"]
        if (body["id"], alert["status"]) not in seen:
            seen.add((body["id"], alert["status"]))
            by_id.setdefault(alert["id"], []).append(alert["status"])
    assert by_id == {episode: ["firing", "resolved"] for episode in episodes}
    with open_store(tmp_path / "store") as store:
        assert {each.state for each in store.alerts.deliveries()} == {"delivered"}


def wait_for_tick(clock: Path) -> None:
    """Wait until the process has moved the clock on."""
    before = clock.read_text() if clock.exists() else ""
    deadline = time.monotonic() + 120
    while not clock.exists() or clock.read_text() == before:
        assert time.monotonic() < deadline, "the process makes no tick"
        time.sleep(0.01)


def start(directory: Path, url: str, *more: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, str(_CHILD), str(directory), url, *more], stdout=subprocess.PIPE, text=True
    )
