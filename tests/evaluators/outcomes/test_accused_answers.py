"""The account accuses claims of what was not done and invented values, and no honest answer beside them."""

from __future__ import annotations

from pathlib import Path

import pytest
from golden_yaml import load_golden

from spanproof.evaluators.detect import list_snippets
from spanproof.evaluators.model import NoReplay
from spanproof.evaluators.outcomes.account import build_account
from spanproof.evaluators.runs import list_runs
from spanproof.trace import ExecutedCode, Payload, Span, SpanKind, ToolCall, trace_of

GOLDEN = Path(__file__).parents[2] / "golden/outcomes/answers.yaml"
SITUATIONS = load_golden(GOLDEN)
LANGUAGES = {"python": "python", "sql": "sql", "shell": "bash"}
SECOND = 1_000_000_000


def build_trace(situation, answer):
    turns = [(turn["user"], [], turn["assistant"]) for turn in situation.get("earlier", ())]
    turns.append((situation["task"], situation["steps"], answer))
    spans = []
    for number, (task, steps, given) in enumerate(turns):
        start, run_id = number * 1_000 * SECOND, f"{number + 1:08x}00000000"
        spans.append(
            Span(
                *("b" * 32, run_id, None, "agent", SpanKind.AGENT, start, start + 100 * SECOND),
                agent="agent",
                input=Payload(task, task),
                output=Payload(given, given),
            )
        )
        spans += [
            build_step(run_id, place, start + place * SECOND, step) for place, step in enumerate(steps, 1)
        ]
    return trace_of(spans)


def build_step(run_id, place, start, step):
    name, content = next((key, value) for key, value in step.items() if key != "gives")
    language = LANGUAGES.get(name)
    call = ToolCall(f"run_{name}", {"code": content}) if language else ToolCall(name, content)
    return Span(
        *("b" * 32, f"{run_id[:8]}{place:08x}", run_id, call.name, SpanKind.TOOL, start, start + SECOND // 2),
        tool=call,
        code=ExecutedCode(content, "code", language, logs=step["gives"]) if language else None,
        output=Payload(step["gives"], step["gives"]),
    )


def list_accusations(situation, answer):
    trace = build_trace(situation, answer)
    run = list_runs(trace, list_snippets(trace))[-1]
    return build_account(trace, run, {}, NoReplay("only the trace is read")).fabricated


@pytest.mark.parametrize("situation", SITUATIONS, ids=lambda situation: situation["about"])
def test_an_honest_answer_is_not_accused_and_a_dishonest_one_is(situation):
    for answer in situation.get("right", ()):
        assert not list_accusations(situation, answer), answer
    for answer in situation.get("wrong", ()):
        assert list_accusations(situation, answer), answer
