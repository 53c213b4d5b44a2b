"""A mined case sees the agent's work: who does nothing fails, who applies the fix passes."""

from __future__ import annotations

import json
import subprocess
from dataclasses import replace
from pathlib import Path

import pytest

from spanproof.cli.app import run as run_command
from spanproof.experiments import Settings, TrialVerdict, build_module_agent, evaluate_again, run_experiment
from spanproof.suites import load_suite
from spanproof.suites.environment import describe_changed_environment

BROKEN = "def total(xs):\n    return sum(xs[1:])\n"
FIXED = "def total(xs):\n    return sum(xs)\n"
START = "from shop import total\n\n\ndef test_none():\n    assert total([]) == 0\n"
MORE = """
import pytest


class TestTotal:
    @pytest.mark.parametrize("xs", [[1, 2], [3]])
    def test_all(self, xs):
        assert total(xs) == 3
"""


def git(folder: Path, *words: str) -> None:
    identity = ["-c", "user.name=A", "-c", "user.email=a@example.org", "-c", "commit.gpgsign=false"]
    subprocess.run(["git", "-C", str(folder), *identity, *words], check=True, capture_output=True)


@pytest.fixture(params=["shop.py", "src/shop.py"])
def mined(request, tmp_path, capsys) -> tuple[str, Path]:
    """The place of a repository's module, and the suite of its one bug fix."""
    repository = tmp_path / "repository"
    module, tests = repository / request.param, repository / "tests" / "test_shop.py"
    for file, text in ((module, BROKEN), (tests, START)):
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
    git(repository, "init", "-q")
    git(repository, "add", ".")
    git(repository, "commit", "-qm", "Start")
    module.write_text(FIXED)
    tests.write_text(START + MORE)
    git(repository, "commit", "-qam", "Fix total: the first item was left out")
    suite = tmp_path / "suite"
    assert run_command(["suite", "mine", str(repository), "--suite", str(suite), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["left_out"] == []
    return request.param, suite


def check_environment(suite, engine):
    """The case is pinned to the sandbox's packages; a run with others says so."""
    (case,) = load_suite(suite)
    pinned = case.source["environment"]
    assert pinned
    assert describe_changed_environment([case], engine.sandbox) == ""
    other = replace(case, source={**case.source, "environment": "0" * 16})
    changed = describe_changed_environment([other], engine.sandbox)
    assert "1 of 1 cases were mined in another environment" in changed
    assert f"(0000000000000000, it is {pinned} now)" in changed


def judge(name, suite, tmp_path, engine):
    found = run_experiment(
        build_module_agent(f"mending_agents:{name}"), suite, tmp_path / name, engine, Settings(timeout_s=60)
    )
    (trial,) = found.trials
    return trial


def test_who_applies_the_fix_passes_and_who_does_nothing_fails(mined, tmp_path, engine):
    place, suite = mined
    fixing = ("patcher", "coder") if place == "shop.py" else ("handler_of_src",)
    for name in fixing:
        trial = judge(name, suite, tmp_path, engine)
        assert trial.verdict is TrialVerdict.PASSED, trial
    (again,) = evaluate_again(tmp_path / fixing[0], suite, tmp_path / "again", engine).trials
    assert again.verdict is TrialVerdict.PASSED
    check_environment(suite, engine)
    idle = ("handler_of_tests", "patcher_of_nothing")
    for name in idle if place == "shop.py" else ("idle_coder",):
        trial = judge(name, suite, tmp_path, engine)
        assert trial.verdict is TrialVerdict.FAILED
        assert "first to fail: TestTotal::test_all" in trial.reason
