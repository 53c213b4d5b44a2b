"""Programs that are built once from Go modules into `.cache/peers`."""

from __future__ import annotations

import fcntl
import hashlib
import os
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
from component_marks import require_mark

_ROOT = Path(__file__).parents[2]
PEERS = _ROOT / ".cache" / "peers"
SOURCES = _ROOT / "tests" / "peers"
_BUILD_S = 900
# A clean checkout compiles two thousand packages for tests that run each program for seconds: without
# optimisation and debugging information, that takes a third less of the processor.
_QUICKLY = ("-gcflags=all=-N -l -dwarf=false", "-ldflags=-s -w")


def build_sources(name: str) -> Path:
    """Return the program whose sources are in `tests/peers/NAME`; changed sources are built anew."""
    files = sorted(path for path in (SOURCES / name).iterdir() if path.suffix in {".go", ".mod"})
    digest = hashlib.sha256(b"".join(path.read_bytes() for path in files)).hexdigest()[:12]

    def build(target: Path) -> None:
        copy = PEERS / f"{name}-sources"
        shutil.rmtree(copy, ignore_errors=True)
        shutil.copytree(SOURCES / name, copy)  # Go writes the sums of modules beside them
        _run_go(["build", "-mod=mod", *_QUICKLY, "-o", str(target), "."], copy)
        shutil.rmtree(copy)

    return make_once(f"{name}-{digest}", build)


def install_module(name: str, module: str) -> Path:
    """Return the program of a module, such as `example.com/cmd/name@v1`."""
    return make_once(
        name,
        lambda target: _run_go(["install", *_QUICKLY, module], target.parent, GOBIN=str(target.parent)),
    )


def make_once(name: str, make: Callable[[Path], None]) -> Path:
    """Return what has this name in the cache, made where it is not there; several workers may want it."""
    require_mark("peers")
    PEERS.mkdir(parents=True, exist_ok=True)
    target = PEERS / name
    with (PEERS / f"{name}.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not target.exists():
            make(target)
    return target


def find_program(program: str) -> str:
    """Return the path of an installed program; the test fails where it is missing."""
    return shutil.which(program) or pytest.fail(f"these tests need {program}")


def _run_go(arguments: list[str], folder: Path, **more: str) -> None:
    run([find_program("go"), *arguments], folder, CGO_ENABLED="0", **more)


def run(command: list[str], folder: Path, **more: str) -> None:
    """Run a step of a build."""
    environment = {**os.environ, **more}
    ran = subprocess.run(
        command, cwd=folder, env=environment, capture_output=True, text=True, check=False, timeout=_BUILD_S
    )
    assert ran.returncode == 0, f"{' '.join(command)}: {ran.stderr[-2000:]}"
