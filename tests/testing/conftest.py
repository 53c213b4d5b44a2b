"""Runs pytest in a process of its own, on tests as a user would write them."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


@pytest.fixture
def run_pytest(tmp_path: Path) -> Callable[..., tuple[int, str]]:
    """Write a file of tests, run pytest on it with the plug-in, and return exit code and output."""

    def run(text: str, *options: str) -> tuple[int, str]:
        (tmp_path / "test_it.py").write_text(text)
        command = [sys.executable, "-m", "pytest", "-p", "spanproof.testing.plugin", "-p", "no:cacheprovider"]
        # Support modules of the other tests, and neither this project's settings nor its plug-ins.
        path = os.pathsep.join([str(ROOT / "tests" / "experiments"), str(tmp_path)])
        done = subprocess.run(
            [
                *command,
                "-q",
                "--strict-markers",
                "-rA",
                "-c",
                os.devnull,
                "--rootdir",
                str(tmp_path),
                *options,
            ],
            cwd=tmp_path,
            env={**os.environ, "PYTHONPATH": path, "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"},
            capture_output=True,
            text=True,
            timeout=300,
            check=False,
        )
        return done.returncode, done.stdout + done.stderr

    return run
