"""action.yml and the template of deploy/ci, run on a checkout as their CI systems run them."""

from __future__ import annotations

import json
import re
import subprocess
from pathlib import Path
from typing import Any

import jsonschema
import pytest
import yaml
from github_action import ACTION, make_environment, run_action
from result_schemas import SARIF, check_junit

pytestmark = pytest.mark.e2e
ROOT = Path(__file__).parents[2]
GITLAB = ROOT / "deploy" / "ci" / "gitlab.yml"
PAGE = ROOT / "docs" / "how-to" / "ci.md"
TASK = "What is the total refund in dollars for order A-17?"
LINES = [{"item": "tea", "cents": 3000}, {"item": "cup", "cents": 1500}]
FAILS, PASSES = "support_agents:misquoting", "support_agents:mended"


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """A repository of a user's: a suite, assertions, and a name with a space and a quote."""
    folder = tmp_path / "check'out of main"
    case = folder / "suites" / "refunds" / "cases" / "refund"
    case.mkdir(parents=True)
    recorded = [{"tool": "refund_lines", "args": {"order_id": "A-17"}, "result": LINES}]
    must = [{"answer": {"contains": "45.00"}}]
    head = {"format": 1, "task": TASK, "recorded": recorded, "must": must}
    (case / "case.yaml").write_text(yaml.safe_dump(head))
    (case.parents[1] / "suite.yaml").write_text("format: 1\nname: refunds\n")
    (folder / "gate.yaml").write_text("assertions:\n- groundedness.score == pass for all cases\n")
    return folder


def check_reports(folder: Path, name: str, *, failing: bool) -> None:
    root = check_junit((folder / f"{name}.xml").read_text())
    assert (root.get("failures") != "0") == failing
    sarif = json.loads((folder / f"{name}.sarif").read_text())
    jsonschema.validate(sarif, SARIF)
    assert bool(sarif["runs"][0]["results"]) == failing
    assert (folder / f"{name}.html").read_text().lower().startswith("<!doctype html>")
    assert (folder / f"{name}.md").read_text().startswith("### ")


def test_the_action_fails_with_annotations_where_the_agent_fails(checkout):
    code, output, outputs = run_action(
        checkout, suite="suites/refunds", agent=FAILS, tools="recorded", reports="my reports"
    )
    assert (code, outputs) == (1, {"passed": "false"}), output
    assert re.search(
        r"^::error file=suites/refunds/cases/refund/case\.yaml,title=refund::", output, re.MULTILINE
    )
    assert "refund" in (checkout.parent / "GITHUB_STEP_SUMMARY").read_text()
    check_reports(checkout / "my reports", "suite", failing=True)


def test_the_action_passes_where_the_agent_is_mended_and_compares_it(checkout):
    run_action(checkout, suite="suites/refunds", agent=FAILS, tools="recorded", reports="before")
    code, output, outputs = run_action(
        checkout,
        suite="suites/refunds",
        agent=PASSES,
        tools="recorded",
        trials="2",
        baseline="before/experiment",
        assertions="gate.yaml",
    )
    assert (code, outputs) == (0, {"passed": "true"}), output
    assert "::error" not in output
    folder = checkout / "spanproof-reports"
    check_reports(folder, "suite", failing=False)
    check_reports(folder, "gate", failing=False)
    assert json.loads((folder / "suite.json").read_text())["baseline"]["fixed"] == ["refund"]


def test_assertions_decide_where_they_are_given(checkout):
    (checkout / "gate.yaml").write_text(
        "assertions:\n- fail_rate(groundedness.score) <= 99%\n- max(trajectory.steps) <= 9\n"
    )
    code, output, _ = run_action(
        checkout, suite="suites/refunds", agent=FAILS, tools="recorded", assertions="gate.yaml"
    )
    assert code == 1, output
    (checkout / "gate.yaml").write_text("assertions:\n- max(trajectory.steps) <= 9\n")
    code, output, outputs = run_action(
        checkout,
        suite="suites/refunds",
        agent=FAILS,
        tools="recorded",
        assertions="gate.yaml",
        reports="other",
    )
    assert (code, outputs) == (0, {"passed": "true"}), output


@pytest.mark.parametrize(
    "given",
    [
        {"suite": "suites/none"},
        {"suite": "suites/refunds", "agent": "no_such_module:agent"},
        {"suite": 'x"; touch broken; echo "', "agent": "$(touch broken)"},
    ],
)
def test_misuse_ends_the_step_with_2_and_no_input_is_code(checkout, given):
    code, output, outputs = run_action(checkout, **given)
    assert (code, outputs) == (2, {"passed": "false"}), output
    assert not (checkout / "broken").exists()


def run_gitlab(checkout: Path, **given: str) -> tuple[int, str]:
    """Run the template's job as the runner does: all lines in one shell, which ends at the first failure."""
    job = yaml.safe_load(GITLAB.read_text())[".spanproof"]
    unknown = sorted(set(given) - set(job["variables"]))
    assert not unknown, f"declare as variables of the template: {unknown}"
    variables = {**job["variables"], "SPANPROOF_INSTALL": "", **given}
    script = "\n".join([*job["before_script"], *job["script"]])
    done = subprocess.run(
        ["sh", "-e"],
        input=script,
        cwd=checkout,
        env=make_environment(checkout, **variables),
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    return done.returncode, done.stdout + done.stderr


@pytest.mark.parametrize(("agent", "code"), [(FAILS, 1), (PASSES, 0)])
def test_the_gitlab_template_runs_the_suite(checkout, agent, code):
    given = {"SPANPROOF_SUITE": "suites/refunds", "SPANPROOF_AGENT": agent, "SPANPROOF_TOOLS": "recorded"}
    found, output = run_gitlab(checkout, **given, SPANPROOF_REPORTS="my reports")
    assert found == code, output
    check_reports(checkout / "my reports", "suite", failing=bool(code))


@pytest.mark.parametrize(("agent", "code"), [(FAILS, 1), (PASSES, 0)])
def test_the_gitlab_template_checks_assertions(checkout, agent, code):
    given = {"SPANPROOF_SUITE": "suites/refunds", "SPANPROOF_AGENT": agent, "SPANPROOF_TOOLS": "recorded"}
    found, output = run_gitlab(
        checkout, **given, SPANPROOF_ASSERTIONS="gate.yaml", SPANPROOF_OPTIONS="--seed 3"
    )
    assert found == code, output
    check_reports(checkout / "spanproof-reports", "gate", failing=bool(code))
    assert run_gitlab(checkout, SPANPROOF_SUITE="suites/none")[0] == 2


def test_the_page_uses_inputs_and_variables_that_there_are():
    page = PAGE.read_text()
    blocks = [yaml.safe_load(text) for text in re.findall(r"```yaml\n(.*?)```", page, re.DOTALL)]
    workflow, hooks, gitlab = blocks
    steps: list[dict[str, Any]] = [step for job in workflow["jobs"].values() for step in job["steps"]]
    (used,) = [step for step in steps if step.get("uses", "").startswith("spanproof/")]
    action = yaml.safe_load(ACTION.read_text())
    assert set(used["with"]) <= set(action["inputs"])
    variables = yaml.safe_load(GITLAB.read_text())[".spanproof"]["variables"]
    assert set(gitlab["refunds"]["variables"]) <= set(variables)
    missing = [name for name in (*action["inputs"], *variables) if f"`{name}`" not in page]
    assert not missing, f"document in docs/how-to/ci.md: {missing}"
    offered = yaml.safe_load((ROOT / ".pre-commit-hooks.yaml").read_text())
    assert [hook["id"] for hook in hooks["repos"][0]["hooks"]] == [hook["id"] for hook in offered]


def test_the_hooks_of_pre_commit_run_on_the_files_of_a_commit(tmp_path: Path) -> None:
    (tmp_path / "policy.yaml").write_text("hosts: [api.example.com]\n")
    (tmp_path / "wrong_policy.yaml").write_text("host: [api.example.com]\n")
    (tmp_path / "clean.py").write_text("print(1)\n")
    hooks = {
        hook["id"]: hook["entry"].split()
        for hook in yaml.safe_load((ROOT / ".pre-commit-hooks.yaml").read_text())
    }

    def run_hook(name: str, *files: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [*hooks[name], *files],
            cwd=tmp_path,
            env=make_environment(tmp_path),
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
        )

    assert run_hook("spanproof-scan", "--policy", "policy.yaml", "clean.py").returncode == 0
    assert run_hook("spanproof-policy", "policy.yaml").returncode == 0
    wrong = run_hook("spanproof-policy", "wrong_policy.yaml")
    assert (wrong.returncode, "host" in wrong.stderr) == (2, True)
