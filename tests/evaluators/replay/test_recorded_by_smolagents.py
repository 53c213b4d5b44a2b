"""Runs that smolagents 1.26's own interpreter recorded, beside their replay in plain Python.

Each line of the golden file is a run: its steps with what the agent was shown, the error, the tool calls, and
whether the replay agrees: true, false (that interpreter reads the code otherwise than Python does), or null
(not comparable).
"""

from __future__ import annotations

import json
import re
from dataclasses import replace
from pathlib import Path

import pytest

from spanproof.evaluators.replay import replay_run
from spanproof.evaluators.replay.compare import ends_in_expression
from spanproof.sandbox.scanners.model import Scan, Verdict
from spanproof.trace import Payload, RecordedCall, SpanError

GOLDEN = Path(__file__).parents[2] / "golden" / "replay" / "recorded_by_smolagents.jsonl"
RUNS = [json.loads(line)["steps"] for line in GOLDEN.read_text().splitlines()]


def snippets_of(build, steps):
    return [
        build.snippet(
            step["source"],
            observation=step["observation"],
            error=SpanError("AgentExecutionError", step["error"]) if step["error"] else None,
            is_final=step["is_final"],
            tape=tuple(call_of(call) for call in step["calls"]),
        )
        for step in steps
    ]


def call_of(call):
    if call["error"]:
        return RecordedCall(call["tool"], (), call["kwargs"], error=SpanError(*call["error"]))
    result = Payload(str(call["result"]), call["result"], typed=True)
    return RecordedCall(call["tool"], (), call["kwargs"], result)


def replayed(build, jail, snippets):
    scans = {snippet.id: Scan(Verdict.ALLOW, ()) for snippet in snippets}
    return replay_run(build.run(snippets), scans, jail)


@pytest.mark.parametrize("steps", RUNS, ids=lambda steps: steps[0]["source"][:20])
def test_the_replay_agrees_where_the_golden_file_says(build, jail, steps):
    replay = replayed(build, jail, snippets_of(build, steps))
    found = {step.snippet.source: (step.agrees, step.difference) for step in replay.steps}
    expected = {step["source"]: step["agrees"] for step in steps}
    wrong = {source: found[source] for source, agrees in expected.items() if found[source][0] is not agrees}
    assert wrong == {}


@pytest.mark.parametrize("steps", RUNS, ids=lambda steps: steps[0]["source"][:20])
def test_another_number_in_a_record_that_agreed_is_seen(build, jail, steps):
    snippets = snippets_of(build, steps)
    shown = re.compile(r"(?<![\w.])\d(?=\d*\.?\d*(?![\w.]))")
    changed = {
        snippet.id: re.sub(shown, lambda digit: str((int(digit[0]) + 1) % 10), snippet.observation)
        for snippet, step in zip(snippets, steps, strict=True)
        if step["agrees"]
        and not step["error"]
        and shown.search(snippet.observation or "")
        # That interpreter gives an assignment a value, Python does not: nothing to compare.
        and ends_in_expression(step["source"])
    }
    tampered = [replace(s, observation=changed.get(s.id, s.observation)) for s in snippets]
    replay = replayed(build, jail, tampered)
    unseen = [step.snippet.source for step in replay.steps if step.snippet.id in changed and step.agrees]
    assert unseen == []


def test_nearly_all_of_what_can_be_compared_agrees():
    agreed = [step["agrees"] for steps in RUNS for step in steps]
    assert agreed.count(True) > 200
    assert agreed.count(False) <= 3
