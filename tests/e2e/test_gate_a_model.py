"""The guide to a model upgrade goes from a repository's history to better, worse or no difference."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path
from typing import Any

import pytest

from spanproof.cli.app import run as run_command

from .test_how_to_guides import blocks, run

PROBLEMS = 24

MENDER = """
import random
import re
from pathlib import Path

from opentelemetry import trace

FLAKY = (3, 9, 15, 21)


def _mend(task, knows):
    part, factor = re.search(r"(part\\d+): .* by (\\d+)", task).groups()
    knows_it = random.random() < 0.5 if int(factor) in FLAKY else knows(int(factor))
    code = f"def compute(x):\\n    return x * {factor if knows_it else 1}\\n"
    Path("src", f"{part}.py").write_text(code)
    with trace.get_tracer("mender").start_as_current_span("mender") as span:
        answer = f"```python\\n{code}```"
        span.set_attributes({"openinference.span.kind": "AGENT", "input.value": task, "output.value": answer})
    return answer


def now(task):
    return _mend(task, lambda factor: factor % 2)


def upgraded(task):
    return _mend(task, lambda factor: factor % 12)


def downgraded(task):
    return _mend(task, lambda factor: False)
"""


def git(repository: Path, *words: str) -> None:
    """Run Git; the same commits in each run, as trials draw by the ids of cases."""
    fixed = {f"GIT_{who}_{what}": value for who in ("AUTHOR", "COMMITTER") for what, value in
             (("NAME", "A"), ("EMAIL", "a@example.org"), ("DATE", "2026-01-01T00:00:00Z"))}  # fmt: skip
    command = ["git", "-C", str(repository), "-c", "commit.gpgsign=false", *words]
    subprocess.run(command, check=True, capture_output=True, env={**os.environ, **fixed})


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with a repository of 24 bug fixes, each with a test, and an agent with two models."""
    repository = tmp_path / "shop"
    (repository / "src").mkdir(parents=True)
    (repository / "tests").mkdir()
    files = [(f"part{number:02}", number + 2) for number in range(PROBLEMS)]
    for part, factor in files:
        (repository / f"src/{part}.py").write_text(f"def compute(x):\n    return x + {factor}\n")
        (repository / f"tests/test_{part}.py").write_text(f"from {part} import compute\n")
    git(repository, "init", "-q")
    git(repository, "add", ".")
    git(repository, "commit", "-qm", "Start")
    for part, factor in files:
        (repository / f"src/{part}.py").write_text(f"def compute(x):\n    return x * {factor}\n")
        with (repository / f"tests/test_{part}.py").open("a") as tests:
            tests.write(f"\n\ndef test_factor():\n    assert compute(3) == {3 * factor}\n")
            tests.write("\n\ndef test_zero():\n    assert compute(0) == 0\n")
        git(repository, "commit", "-qam", f"Fix {part}: it multiplies by {factor}")
    (tmp_path / "mender.py").write_text(MENDER)
    return tmp_path


def load(file: Path) -> Any:
    return json.loads(file.read_text())


@pytest.mark.e2e
def test_a_model_upgrade_is_gated_as_the_guide_writes_it(folder: Path) -> None:
    mine, weekly, upgrade, gate = blocks("gate-a-model.md", "sh")
    for text in blocks("gate-a-model.md", "yaml"):
        (folder / text.partition("\n")[0].removeprefix("# ")).write_text(text)
    mined = run(mine, folder)
    assert f"{PROBLEMS} added" in mined.stdout, mined.stdout + mined.stderr
    weeks = run(weekly, folder)
    assert weeks.returncode == 0, weeks.stderr
    week = load(folder / "48.json")
    assert week["baseline"]["change"] == "no difference shown"
    quarantined = [case["id"] for case in week["cases"] if case["quarantined"]]
    assert quarantined
    environments = [load(folder / "weeks" / name / "experiment.json")["environment"] for name in ("47", "48")]
    assert len({each["packages_digest"] for each in environments}) == 1
    upgraded = run(upgrade, folder)
    assert upgraded.stdout.startswith("better ["), upgraded.stdout + upgraded.stderr
    found = load(folder / "upgrade.json")
    low, high = found["baseline"]["interval"]
    assert 0 < low < found["baseline"]["difference"] < high
    assert len(found["baseline"]["fixed"]) >= 6
    assert found["baseline"]["regressed"] == []
    weaker = upgrade.replace("mender:upgraded", "mender:downgraded").replace("--trials 2", "--trials 1")
    weaker = weaker.replace("--out upgrade", "--out weaker").replace("upgrade.json", "weaker.json")
    downgraded = run(weaker, folder)
    assert downgraded.stdout.startswith("worse ["), downgraded.stdout + downgraded.stderr
    assert load(folder / "weaker.json")["baseline"]["fixed"] == []
    runs = [each for case in found["cases"] for row in case["cases"] for each in row["runs"]]
    scored = [score for each in runs for score in each["scores"] if score["outcome"] == "scored"]
    names = {(score["layer"], score["name"]) for score in scored}
    signals = {("correctness", "compiles"), ("correctness", "tests_pass"), ("execution", "wall_s")}
    assert signals | {("correctness", "lint")} <= names
    gated = run(gate, folder)
    assert gated.returncode == 0, gated.stdout + gated.stderr
    scores, baseline = str(folder / "48.json"), str(folder / "upgrade.json")
    text = "avg(correctness.tests_pass) no_worse_than baseline"
    assert run_command(["gate", "--scores", scores, "--baseline", baseline, "--assert", text]) == 1
