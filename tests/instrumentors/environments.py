"""Packages that the tests need beside our own, installed once under `.cache` from pinned requirements."""

from __future__ import annotations

import fcntl
import shutil
import subprocess
import sys
import venv
from collections.abc import Callable
from pathlib import Path

_HERE = Path(__file__).parent
_CACHE = _HERE.parents[1] / ".cache"
_UV = (str(Path(sys.executable).with_name("uv")), "pip", "install", "--quiet", "--no-deps")
_PIP = (sys.executable, "-m", "pip", "--disable-pip-version-check", "--quiet")


def phoenix_python() -> Path:
    """The interpreter of an environment that holds Arize Phoenix: its dependencies are not ours."""
    return _environment("phoenix")


def mlflow_python() -> Path:
    """The interpreter of an environment that holds MLflow: its dependencies are not ours."""
    return _environment("mlflow")


def frameworks_python(versions: str) -> Path:
    """The interpreter of an environment that holds frameworks at their `oldest` or `newest` versions."""
    return _environment(f"frameworks-{versions}")


def oldest_releases() -> Path:
    """A folder to put before all others on the path: the oldest frameworks, everything else is ours."""

    def make(where: Path, requirements: Path) -> None:
        _install(requirements, sys.executable, "--target", str(where))

    return _made("oldest", make)


def jupyter_packages() -> Path:
    """A folder with a kernel gateway and a kernel, byte-compiled: the container that uses it cannot write."""

    def make(where: Path, requirements: Path) -> None:
        _install(requirements, sys.executable, "--target", str(where))
        _run(sys.executable, "-m", "compileall", "-q", "-j", "2", str(where))

    return _made("jupyter", make)


def requirements_of(name: str) -> dict[str, str]:
    """Package to pinned version."""
    lines = (_HERE / f"{name}-requirements.txt").read_text().splitlines()
    return dict(line.split("==") for line in lines if "==" in line)


def _environment(name: str) -> Path:
    def make(where: Path, requirements: Path) -> None:
        venv.create(where, with_pip=False)
        _install(requirements, str(where / "bin" / "python"))

    return _made(name, make) / "bin" / "python"


def _made(name: str, make: Callable[[Path, Path], None]) -> Path:
    where, requirements = _CACHE / name, _HERE / f"{name}-requirements.txt"
    _CACHE.mkdir(exist_ok=True)
    with (_CACHE / f"{name}.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        stamp = where / "requirements.txt"
        if not stamp.exists() or stamp.read_text() != requirements.read_text():
            shutil.rmtree(where, ignore_errors=True)
            make(where, requirements)
            stamp.write_text(requirements.read_text())
    return where


def _install(requirements: Path, python: str, *options: str) -> None:
    """Install with uv, in a tenth of pip's time, or else with pip: uv does not read pip's configuration."""
    listed = ("--requirement", str(requirements), *options)
    if subprocess.run((*_UV, "--python", python, *listed), capture_output=True, check=False).returncode != 0:
        _run(*_PIP, "--python", python, "install", "--no-deps", "--no-compile", *listed)


def _run(*command: str) -> None:
    ended = subprocess.run(command, capture_output=True, text=True, check=False)
    assert ended.returncode == 0, f"{' '.join(command)}\n{ended.stderr}"
