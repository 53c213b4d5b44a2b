"""Frameworks run anew, at the oldest and newest versions that are read: the page says what their spans hold.

The sets of recordings are those of `matrix` in `tests/peers/frameworks/frameworks.yaml`.
"""

from __future__ import annotations

from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from types import ModuleType

import pytest

from ...instrumentors.environments import frameworks_python, requirements_of
from .test_frameworks import check_row

PEERS = Path(__file__).parents[2] / "peers" / "frameworks"


def load_recorder() -> ModuleType:
    """Return the script that records, as a module."""
    spec = spec_from_file_location("record", PEERS / "record.py")
    assert spec is not None
    assert spec.loader is not None
    recorder = module_from_spec(spec)
    spec.loader.exec_module(recorder)
    return recorder


RECORDER = load_recorder()
MATRIX: dict[str, list[str]] = RECORDER.NEEDED["matrix"]


@pytest.mark.parametrize("versions", MATRIX)
def test_the_environment_of_a_set_has_the_versions_that_its_recordings_need(versions: str) -> None:
    pinned = requirements_of(f"frameworks-{versions}")
    for name in MATRIX[versions]:
        needed = dict(package.split("==") for package in RECORDER.RECORDINGS[name]["packages"])
        assert {package: pinned[package] for package in needed} == needed


@pytest.mark.peers
@pytest.mark.parametrize("versions", MATRIX)
def test_a_framework_that_runs_now_records_what_the_page_says(versions: str, tmp_path: Path) -> None:
    python = frameworks_python(versions)
    for name in MATRIX[versions]:
        target = tmp_path / f"{name}.json"
        RECORDER.run_agent(name, python, target)
        check_row(name, target)
