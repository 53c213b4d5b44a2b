"""From a failing production run to a gate that lets the mended agent through, as the guide writes it."""

from __future__ import annotations

import json
import shutil
import signal
import subprocess
import sys
import xml.etree.ElementTree as ET
from pathlib import Path

import pytest
from waiting import wait_until

from .test_how_to_guides import blocks, run
from .test_serve import cli, run_agent, serving, stored, wait_evaluated

FIND, FREEZE, EDIT, BEFORE, AFTER = blocks("mend-a-failing-run.md", "sh")

CLERK = '''
import time
from smolagents import ChatMessage, CodeAgent, MessageRole, Model, tool


@tool
def refund_lines(order_id: str) -> list:
    """The refunds of an order, one entry per item.

    Args:
        order_id: Number of the order, like "A-17".
    """
    raise ConnectionError("no test reaches the shop")


class Scripted(Model):
    def __init__(self, answer):
        super().__init__(model_id="scripted-2026-01-01")
        self.turns = [
            "Thought: I look.\\n<code>\\nlines = refund_lines(order_id='A-17')\\nprint(lines)\\n</code>",
            "Thought: I add.\\n<code>\\nprint(sum(line['cents'] for line in lines) / 100)\\n</code>",
            f"Thought: Done.\\n<code>\\nfinal_answer('The refund of order A-17 is ${answer}.')\\n</code>",
        ]

    def generate(self, messages, **options):
        return ChatMessage(role=MessageRole.ASSISTANT, content=self.turns.pop(0))


def bad():
    return CodeAgent(tools=[refund_lines], model=Scripted("54.00"), verbosity_level=0)


def mended():
    return CodeAgent(tools=[refund_lines], model=Scripted("45.00"), verbosity_level=0)


def slow():
    time.sleep(1)
    return mended()
'''


@pytest.fixture(scope="module")
def frozen(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with `clerk.py` and a suite with one failing run of production."""
    folder = tmp_path_factory.mktemp("frozen")
    (folder / "clerk.py").write_text(CLERK)
    with serving(folder) as (process, where):
        trace_id = run_agent(where, "http/protobuf", "misquote")
        wait_evaluated(where)
        wait_until(lambda: trace_id in stored(folder))
        process.send_signal(signal.SIGTERM)
        assert process.wait(120) == 0
    store = {"SPANPROOF_STORE": str(folder / "store")}
    found = run(FIND.replace("18f43489", trace_id[:8]), folder, **store)
    assert found.returncode == 0, found.stderr
    assert "FAIL" in found.stdout
    frozen = run(FREEZE.replace("18f43489", trace_id[:8]), folder, **store)
    assert frozen.returncode == 0, frozen.stderr
    suite = folder / "suites" / "refunds"
    (case,) = (suite / "cases").iterdir()
    edited = run(EDIT.replace(EDIT.split()[-1], case.name), folder, EDITOR="true")
    assert edited.returncode == 0, edited.stderr
    return folder


@pytest.fixture
def promoted(frozen: Path, tmp_path: Path) -> Path:
    """The folder of that suite, beside `clerk.py`, for one test."""
    shutil.copy(frozen / "clerk.py", tmp_path)
    shutil.copytree(frozen / "suites", tmp_path / "suites")
    return tmp_path / "suites" / "refunds"


def run_suite(suite: Path, agent: str, *more: str) -> subprocess.CompletedProcess[str]:
    arguments = ["--agent", f"clerk:{agent}", "--tools", "recorded", *more]
    return cli("suite", "run", str(suite), *arguments, cwd=suite.parents[1])


def run_as_written(command: str, suite: Path, agent: str, more: str) -> subprocess.CompletedProcess[str]:
    return run(f"{command.strip().replace('my_agent:make_agent', agent)} {more}", suite.parents[1])


def test_the_bad_agent_fails_and_the_mended_one_passes(promoted: Path) -> None:
    folder = promoted.parents[1]
    bad = run_as_written(BEFORE, promoted, "clerk:bad", "--junit bad.xml")
    assert bad.returncode == 1, bad.stderr
    assert "0 of 1 case passed in every trial" in bad.stdout
    assert "reproduced" in bad.stdout
    report = ET.fromstring((folder / "bad.xml").read_text())
    (case,) = report.iter("testcase")
    assert "54.00" in case.find("failure").get("message")

    mended = run_as_written(AFTER, promoted, "clerk:mended", "--json")
    assert mended.returncode == 0, mended.stdout
    found = json.loads(mended.stdout)
    assert found["pass_at"] == {"1": 1.0, "2": 1.0, "3": 1.0, "5": 1.0}
    assert found["counts"]["fixed"] == 1
    assert found["baseline"]["difference"] == 1.0

    scores = folder / "scores.json"
    scores.write_text(mended.stdout)
    asserted = ["groundedness.score == pass for all cases", "pass@5 >= 0.8", "pass^5 >= 0.8"]
    asserted.append("max(trajectory.consecutive_errors) <= 2")
    gate = cli("gate", "--scores", str(scores), *(word for text in asserted for word in ("--assert", text)))
    assert gate.returncode == 0, gate.stdout + gate.stderr
    assert "pass@5 is 100.0% over 1 case" in gate.stdout
    scores.write_text(run_suite(promoted, "bad", "--json").stdout)
    gate = cli("gate", "--scores", str(scores), "--assert", "groundedness.score == pass for all cases")
    assert gate.returncode == 1, gate.stdout + gate.stderr


GOLDEN = """
task: How much was refunded for order A-17?
must: [groundedness.score == pass]
recorded:
- {tool: refund_lines, args: {order_id: A-17}, result: [{cents: 4500}]}
"""


def test_the_trials_of_a_golden_suite_are_a_cohort_of_a_collector(tmp_path: Path) -> None:
    (tmp_path / "clerk.py").write_text(CLERK)
    suite = tmp_path / "suites" / "golden"
    (suite / "cases" / "refund").mkdir(parents=True)
    (suite / "suite.yaml").write_text("format: 1\n")
    (suite / "cases" / "refund" / "case.yaml").write_text(GOLDEN)
    with serving(tmp_path) as (_, where):
        done = run_suite(suite, "mended", "--trials", "2", "--send-to", where["http"])
        assert done.returncode == 0, done.stdout + done.stderr
        assert "2 trials sent to" in done.stderr
        wait_evaluated(where, 2)
        wait_until(lambda: len(stored(tmp_path)) == 2)
        asserted = "groundedness.score == pass for 2 cases where fixture_set = 'golden'"
        gate = cli("gate", "--store", str(tmp_path / "store"), "--assert", asserted)
        assert gate.returncode == 0, gate.stdout + gate.stderr
    gone = run_suite(suite, "mended", "--send-to", where["http"])
    assert gone.returncode == 2
    assert f"the trials were not sent to {where['http']}" in gone.stderr


def test_an_interrupted_experiment_is_resumed(promoted: Path) -> None:
    folder = promoted.parents[1]
    out = folder / "out"
    command = [
        sys.executable, "-m", "spanproof.cli", "suite", "run", str(promoted), "--agent", "clerk:slow",
        "--tools", "recorded", "--trials", "5", "--jobs", "1", "--out", str(out),
    ]  # fmt: skip
    process = subprocess.Popen(command, cwd=folder, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    wait_until(lambda: done(out), 120)
    process.send_signal(signal.SIGINT)
    assert process.wait(120) == 130
    assert 1 <= done(out) < 5
    resumed = run_suite(promoted, "slow", "--trials", "5", "--jobs", "1", "--out", str(out), "--json")
    assert resumed.returncode == 0, resumed.stderr
    (case,) = json.loads(resumed.stdout)["cases"]
    assert [trial["trial"] for trial in case["trials"]] == [1, 2, 3, 4, 5]
    assert done(out) == 5


def done(folder: Path) -> int:
    """Return how many trials are on record."""
    file = folder / "trials.jsonl"
    return file.read_text(encoding="utf-8").count("\n") if file.exists() else 0
