"""Helm, built once from its Go module into `.cache/peers`, where it is not installed."""

from __future__ import annotations

import fcntl
import os
import shutil
import subprocess
from pathlib import Path

import pytest

_PEERS = Path(__file__).parents[2] / ".cache" / "peers"
_MODULE = "helm.sh/helm/v3/cmd/helm@v3.18.4"


@pytest.fixture(scope="session")
def helm() -> str:
    """The path of the program."""
    if installed := shutil.which("helm"):
        return installed
    _PEERS.mkdir(parents=True, exist_ok=True)
    built = _PEERS / "helm"
    with (_PEERS / "helm.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)  # several workers of one run ask for it
        if not built.exists():
            go = shutil.which("go") or pytest.fail("these tests need helm, or go to build it from its module")
            environment = {**os.environ, "GOBIN": str(_PEERS)}
            subprocess.run([go, "install", _MODULE], env=environment, check=True, timeout=900)
    return str(built)
