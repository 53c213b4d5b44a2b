"""The scenarios hold at the oldest releases that pyproject.toml names as they do at the newest."""

import os
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.version import Version

from .environments import oldest_releases, requirements_of

_HERE = Path(__file__).parent
_ROOT = _HERE.parents[1]
_SCENARIOS = (
    "test_span_starter.py",
    "test_fast_span.py",
    "test_smolagents_runs.py",
    "test_smolagents_steps.py",
    "test_smolagents_calls.py",
    "test_langchain.py",
    "test_langchain_calls.py",
    "test_langchain_unsampled.py",
    "test_openai_agents.py",
    "test_golden_trees.py",
    "test_lifecycle.py",
)
_FRAMEWORKS = {"smolagents", "langchain-core", "openai-agents", "opentelemetry-sdk"}


def _named() -> dict[str, Requirement]:
    project = tomllib.loads((_ROOT / "pyproject.toml").read_text())["project"]
    extras = [
        project["optional-dependencies"][name][0] for name in ("smolagents", "langchain", "openai-agents")
    ]
    wanted = [Requirement(each) for each in (*extras, *project["dependencies"])]
    return {each.name: each for each in wanted if each.name in _FRAMEWORKS or "opentelemetry" in each.name}


def test_the_oldest_release_tested_is_the_oldest_that_is_named():
    oldest = requirements_of("oldest")
    for name, wanted in _named().items():
        (bound,) = wanted.specifier
        assert bound.operator == ">="
        assert Version(oldest[name]) == Version(bound.version), name


@pytest.mark.peers
def test_the_scenarios_hold_at_the_oldest_releases():
    where = oldest_releases()
    reported = (
        f"from importlib.metadata import version; print({{name: version(name) for name in {_FRAMEWORKS}}})"
    )
    environment = {**os.environ, "PYTHONPATH": str(where)}
    environment.pop("PYTEST_XDIST_WORKER", None)
    seen = subprocess.run(
        [sys.executable, "-c", reported], env=environment, capture_output=True, text=True, check=True
    )
    oldest = requirements_of("oldest")
    assert {name: oldest[name] for name in _FRAMEWORKS} == eval(seen.stdout)
    ended = subprocess.run(
        [
            sys.executable,
            "-m",
            "pytest",
            "-q",
            "-p",
            "no:cacheprovider",
            *(str(_HERE / each) for each in _SCENARIOS),
        ],
        env=environment,
        cwd=_ROOT,
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert ended.returncode == 0, ended.stdout[-8000:]
