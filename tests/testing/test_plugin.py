from __future__ import annotations

import re
import subprocess
import sys
import tomllib
from importlib import import_module
from pathlib import Path

import pytest
import yaml

ROOT = Path(__file__).parents[2]
TASK = "What is the total refund in dollars for order A-17?"
LINES = [{"item": "tea", "cents": 3000}, {"item": "cup", "cents": 1500}]
HEAD = """
import pytest
from smolagents import CodeAgent, tool
from support_agents import ScriptedModel, turn

@tool
def refund_lines(order_id: str) -> list:
    '''Look up the refunds of an order.

    Args:
        order_id: the order.
    '''
    return [{"item": "tea", "cents": 3000}, {"item": "cup", "cents": 1500}]

def make_agent(answer="The refund of order A-17 is $45.00."):
    turns = [
        turn("I look them up.", "lines = refund_lines(order_id='A-17')\\nprint(lines)"),
        turn("I add up.", "total = sum(line['cents'] for line in lines)\\nprint(total, total / 100)"),
        turn("Done.", f"final_answer({answer!r})"),
    ]
    return CodeAgent(tools=[refund_lines], model=ScriptedModel(turns), verbosity_level=0)

def make_bad_agent():
    return make_agent("The refund of order A-17 is $54.00.")

TASK = "What is the total refund in dollars for order A-17?"
"""


@pytest.fixture
def suite(tmp_path: Path) -> Path:
    folder = tmp_path / "suites" / "refunds" / "cases" / "refund"
    folder.mkdir(parents=True)
    recorded = [{"tool": "refund_lines", "args": {"order_id": "A-17"}, "result": LINES}]
    must = ["groundedness.score == pass", {"answer": {"contains": "45.00"}}]
    (folder / "case.yaml").write_text(
        yaml.safe_dump({"format": 1, "task": TASK, "recorded": recorded, "must": must})
    )
    (folder.parents[1] / "suite.yaml").write_text("format: 1\nname: refunds\n")
    return folder.parents[1]


def test_runs_of_the_test_itself_are_traced_judged_and_held_to_the_assertions(run_pytest):
    code, out = run_pytest(
        HEAD
        + """
@pytest.mark.spanproof(assert_=["groundedness.score == pass", "trajectory.steps <= 3 for all cases"])
def test_good(spanproof):
    assert "45.00" in spanproof.run(make_agent, TASK)
    assert {score.layer.value for score in spanproof.scores} >= {"groundedness", "boundary"}

@pytest.mark.spanproof(assert_="groundedness.score == pass")
def test_bad(spanproof):
    make_bad_agent().run(TASK)

def test_without_a_marker_no_layer_may_fail(spanproof):
    spanproof.run(make_bad_agent, TASK)

@pytest.mark.spanproof(assert_="groundedness.score == pass")
def test_whose_own_assert_fails(spanproof):
    assert spanproof.run(make_agent, TASK) == "another"

def test_that_runs_no_agent(spanproof):
    pass

def test_of_something_else():
    import smolagents
    assert "spanproof" not in smolagents.MultiStepAgent.run.__module__
"""
    )
    assert code == 1
    assert "4 failed, 2 passed" in out
    assert "PASSED test_it.py::test_good" in out
    assert "PASSED test_it.py::test_of_something_else" in out
    assert "failed: groundedness.score == pass for all cases: 0 of 1 judged cases satisfy it" in out
    assert "54.00" in out
    assert "groundedness: " in out
    assert "no agent left a run: nothing was judged" in out


def test_an_agent_is_run_on_a_suite(run_pytest, suite):
    code, out = run_pytest(
        """
import pytest

GOOD, BAD = "support_agents:mended", "support_agents:misquoting"

@pytest.mark.spanproof(suite="suites/refunds", agent=GOOD, tools="recorded", trials=2)
def test_good():
    pass

@pytest.mark.spanproof(suite="suites/refunds", agent=BAD, tools="recorded")
def test_bad():
    pass

@pytest.mark.spanproof(suite="suites/refunds", tools="recorded", assert_="groundedness.score == pass")
def test_gate(spanproof):
    experiment = spanproof.run_suite(BAD)
    assert experiment.compute_pass_at(1) == 0.0

@pytest.mark.spanproof(suite="suites/none", agent=BAD)
def test_missing():
    pass
"""
    )
    assert code == 1
    assert "3 failed, 1 passed" in out
    assert "PASSED test_it.py::test_good" in out
    assert "refund: failed: " in out
    assert "failed: groundedness.score == pass for all cases" in out
    assert "there is no suite at suites/none" in out


UNREADABLE = {
    "suit='x'": "no argument 'suit' is known; known are suite, agent",
    "'suites/x'": "spanproof takes names only",
    "assert_='groundedness.score => 1'": "column 20: expected a comparison",
    "agent='a:b'": "agent goes with suite",
    "suite='x', tools='dead'": "'dead' is not a valid Tools",
    "open='yes'": "open must be one of not-passed, pass, fail, ignore, got 'yes'",
}


def test_a_marker_that_cannot_be_read_is_an_error(run_pytest):
    tests = [
        f"@pytest.mark.spanproof({arguments})\ndef test_{number}():\n    pass\n"
        for number, arguments in enumerate(UNREADABLE)
    ]
    code, out = run_pytest("\n".join(["import pytest", *tests]))
    assert code != 0
    for number, words in enumerate(UNREADABLE.values()):
        (reported,) = re.findall(rf"^(?:FAILED|ERROR) test_it\.py::test_{number} - (.*)", out, re.MULTILINE)
        assert reported
        assert words in out
    assert " passed" not in out


def test_a_function_that_traces_nothing_is_judged_by_its_answer(run_pytest):
    code, out = run_pytest(
        """
import pytest

@pytest.mark.spanproof(open="ignore")
def test_it(spanproof):
    spanproof.run(lambda task: "forty-two", "How many?")
    (evaluation,) = spanproof.evaluations
    (run,) = evaluation.runs
    assert (run.run.task, run.run.answer.text) == ("How many?", "forty-two")
"""
    )
    assert code == 0, out


def test_a_run_that_is_open_fails_the_test_and_says_why_and_how_to_settle_it(run_pytest):
    code, out = run_pytest(
        """
import pytest

def answer(task):
    return "forty-two"

def test_default(spanproof):
    spanproof.run(answer, "How many?")

@pytest.mark.spanproof(assert_="groundedness.score == pass")
def test_asserted(spanproof):
    spanproof.run(answer, "How many?")

@pytest.mark.spanproof(open="fail")
def test_failing(spanproof):
    spanproof.run(answer, "How many?")

@pytest.mark.spanproof(open="pass", assert_="groundedness.score == pass")
def test_passing(spanproof):
    spanproof.run(answer, "How many?")
"""
    )
    assert code == 1
    assert "3 failed, 1 passed" in out
    assert "PASSED test_it.py::test_passing" in out
    assert "groundedness is open: no output on the trace to compare the answer with" in out
    assert (
        "inconclusive: groundedness.score == pass for all cases: no case could be judged: 1 open: 1 answer"
        " has no output to be compared with" in out
    )
    assert "open='ignore' in the marker leaves it out" in out
    assert "open counts as passed (--open pass)" in out


def test_pytest_finds_the_plug_in_and_loads_nothing_else_with_it():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    name = project["entry-points"]["pytest11"]["spanproof"]
    assert hasattr(import_module(name), "pytest_configure")
    code = f"import sys, {name}; print(sorted(m for m in sys.modules if m.startswith('spanproof')))"
    loaded = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert loaded.strip() == "['spanproof', 'spanproof.testing', 'spanproof.testing.plugin']"


def test_the_page_names_every_argument_and_its_examples_run(run_pytest, suite, tmp_path):
    from spanproof.testing.session import Plan

    page = (ROOT / "docs" / "how-to" / "pytest.md").read_text()
    missing = [name for name in Plan.__dataclass_fields__ if f"`{name}`" not in page]
    assert not missing, f"document in docs/how-to/pytest.md: {missing}"
    package = tmp_path / "support"
    package.mkdir()
    (package / "agents.py").write_text(HEAD)
    examples = [text.partition("```")[0] for text in page.split("```python\n")[1:]]
    code, out = run_pytest("\n".join(examples).replace("trials=5", "trials=1"))
    assert code == 0, out
    assert "2 passed" in out
