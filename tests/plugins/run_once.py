"""What is computed once for all workers of a test run, however their tests are spread."""

from __future__ import annotations

import fcntl
import json
import os
from collections.abc import Callable
from typing import Any

import pytest

RunOnce = Callable[[str, Callable[[], Any]], Any]


@pytest.fixture(scope="session")
def run_once(tmp_path_factory: pytest.TempPathFactory) -> RunOnce:
    """Return what a function gives, as JSON holds it; by this name, the first worker that needs it calls it.

    xdist deals out single tests: a fixture of a module is made anew by each worker that got one of its tests.
    """
    base = tmp_path_factory.getbasetemp()
    shared = base.parent if "PYTEST_XDIST_WORKER" in os.environ else base

    def run(name: str, compute: Callable[[], Any]) -> Any:
        result = shared / f"{name}.json"
        with (shared / f"{name}.lock").open("w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            if not result.exists():
                text = json.dumps(compute())
                result.write_text(text)
        return json.loads(result.read_text())

    return run
