"""Helm, built once from its Go module into `.cache/peers`, where it is not installed."""

from __future__ import annotations

import shutil

import pytest
from go_programs import install_module

_MODULE = "helm.sh/helm/v3/cmd/helm@v3.18.4"


@pytest.fixture(scope="session")
def helm() -> str:
    """The path of the program."""
    return shutil.which("helm") or str(install_module("helm", _MODULE))
