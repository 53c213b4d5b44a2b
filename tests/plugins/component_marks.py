"""A test that starts a component is marked so: `make test` runs without Docker, without peers."""

from __future__ import annotations

import tomllib
from pathlib import Path

import pytest

_PYPROJECT = Path(__file__).parents[2] / "pyproject.toml"
COMPONENT_MARKS = tuple(
    marker.partition(":")[0]
    for marker in tomllib.loads(_PYPROJECT.read_text())["tool"]["pytest"]["ini_options"]["markers"]
)
"""The marks of components: all that pyproject.toml declares."""

_current: list[pytest.Item] = []
"""The test that runs; what is started outside of tests, by benchmarks or for pictures, needs no mark."""


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item: pytest.Item) -> None:
    """Remember the test that runs."""
    _current[:] = [item]


def require_mark(name: str) -> None:
    """Fail the test that runs unless it has this mark."""
    for test in _current:
        if test.get_closest_marker(name) is None:
            pytest.fail(f"{test.nodeid} starts a component: mark it with @pytest.mark.{name}")
