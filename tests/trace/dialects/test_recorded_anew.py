"""Frameworks run anew, at the oldest and newest versions that are read: the page says what their spans hold.

The sets of recordings are those of `matrix` in `tests/peers/frameworks/frameworks.yaml`;
`python -m tests.peers.frameworks.matrix` runs the others anew.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from ...instrumentors.environments import frameworks_python, requirements_of
from ...peers.frameworks.matrix import NEEDED, RECORDINGS, run_program
from .test_frameworks import check_row

MATRIX: dict[str, list[str]] = NEEDED["matrix"]


@pytest.mark.parametrize("versions", MATRIX)
def test_the_environment_of_a_set_has_the_versions_that_its_recordings_need(versions: str) -> None:
    pinned = requirements_of(f"frameworks-{versions}")
    for name in MATRIX[versions]:
        needed = dict(package.split("==") for package in RECORDINGS[name]["packages"])
        assert {package: pinned[package] for package in needed} == needed


@pytest.mark.peers
@pytest.mark.parametrize("versions", MATRIX)
def test_a_framework_that_runs_now_records_what_the_page_says(versions: str, tmp_path: Path) -> None:
    python = frameworks_python(versions)
    for name in MATRIX[versions]:
        target = tmp_path / f"{name}.json"
        run_program(name, python, target)
        check_row(name, target)
