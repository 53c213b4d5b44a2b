"""What docs/judge.md says holds."""

from __future__ import annotations

import json
import os
import re
from pathlib import Path

import yaml
from tests.evaluators.judge.conftest import Endpoint, endpoint

from spanproof.cli.app import run
from spanproof.config.model import load_config
from spanproof.evaluators.judge import errors, load_rubrics
from spanproof.evaluators.judge.agreement import compute_agreement

__all__ = ["Endpoint", "endpoint"]

PAGE = (Path(__file__).parents[3] / "docs" / "judge.md").read_text(encoding="utf-8")


def test_the_configuration_of_the_page_is_valid(tmp_path, endpoint):
    file = tmp_path / "spanproof.yaml"
    file.write_text(re.search(r"```yaml\n(.*?)```", PAGE, re.DOTALL)[1])
    assert load_config(file, {}).judge.model_fields_set == yaml.safe_load(file.read_text())["judge"].keys()
    labels = tmp_path / "labels.jsonl"
    rows = [
        {"rubric": "CodeCorrectness", "material": {"answer": f"{label} {at}"}, "label": label}
        for at, label in enumerate(["pass", "fail"] * 50)
    ]
    labels.write_text("\n".join(map(json.dumps, rows)))
    endpoint.next = lambda request: json.dumps(
        {"reasoning": "", "quotes": [], "score": int("pass" in request["messages"][1]["content"])}
    )
    command = re.search(r"^\$ spanproof (judge calibrate .*)$", PAGE, re.MULTILINE)[1]
    words = command.replace("labels.jsonl", str(labels)).replace("spanproof.yaml", str(file)).split()
    here = f"judge.endpoint={os.environ['OPENAI_BASE_URL']}"
    assert run([*words, "--set", f"judge.recordings={tmp_path / 'kept'}", "--set", here]) == 0


def test_the_rubrics_are_those_that_ship():
    reported = re.findall(r"^\| (\w+) \| `(\w+)` \|", PAGE, re.MULTILINE)
    assert set(reported) == {(rubric.name, rubric.score) for rubric in load_rubrics().values()}


def test_every_way_to_fail_is_reported():
    kinds = re.findall(r"`(\w+)`", errors.JudgeFailed.__doc__.partition("kind:")[2].partition("\n")[0])
    assert len(kinds) == 5
    assert all(f".{kind}`" in PAGE for kind in kinds)


def test_the_figures_of_the_example_follow_from_its_table():
    rows = [tuple(map(int, row)) for row in re.findall(r"^people: \w+ +(\d+) +(\d+)$", PAGE, re.MULTILINE)]
    (both_pass, only_people), (only_judge, both_fail) = rows
    people = [True] * (both_pass + only_people) + [False] * (only_judge + both_fail)
    judge = [True] * both_pass + [False] * only_people + [True] * only_judge + [False] * both_fail
    found = compute_agreement(people, judge)
    assert f"κ = {found.kappa:.2f} ({found.low:.2f} to {found.high:.2f}, 95 %) on {len(people)} rows" in PAGE
