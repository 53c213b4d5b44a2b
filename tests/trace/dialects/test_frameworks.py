"""Frameworks' own spans, recorded from the real ones by `tests/peers/frameworks/matrix.py`.

Each holds the same story: what the page promises of a framework is what its recording holds.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import takewhile
from pathlib import Path

import pytest
import yaml

from spanproof.evaluators.detect import list_snippets
from spanproof.evaluators.runs import list_runs
from spanproof.trace import Run, Span, SpanError, trace_of
from spanproof.trace.dialects import normalise_request
from spanproof.trace.otlp import read_file

ROOT = Path(__file__).parents[3]
PAGE = (ROOT / "docs" / "frameworks.md").read_text()
GOLDEN = ROOT / "tests" / "golden" / "frameworks"
RECORDINGS = yaml.safe_load((ROOT / "tests/peers/frameworks/frameworks.yaml").read_text())["recordings"]
CODE = "total = 12 * 3\nprint(total)"
LOOK_UP = "print(stock_of(9))"
"""How an agent that writes code calls its tool."""
ANSWERED = "final_answer('Three boxes cost 36 euros.')"
ANSWERING = ("finish", "final_answer")
"""Tools by which a framework's agent answers."""


@dataclass(frozen=True)
class Recorded:
    """The run of a recording that called tools, and the spans of its trace."""

    run: Run
    spans: tuple[Span, ...]

    @property
    def calls(self):
        return [call for step in self.run.steps for call in step.calls]


def read(path: Path) -> Recorded:
    spans: dict[str, list[Span]] = {}
    for request in read_file(path):
        for span in normalise_request(request):
            spans.setdefault(span.trace_id, []).append(span)
    found = []
    for of_trace in spans.values():
        trace = trace_of(of_trace)
        found += [Recorded(run, trace.spans) for run in list_runs(trace, list_snippets(trace)) if run.steps]
    return next((each for each in found if any(call.kwargs for call in each.calls)), found[0])


def ran_the_code(recorded: Recorded) -> bool:
    ran = [each.source for step in recorded.run.steps for each in step.snippets if each.executed]
    return ran in ([CODE], [CODE, LOOK_UP], [CODE, LOOK_UP, ANSWERED])


def has_tool_calls(recorded: Recorded) -> bool:
    calls = {call.tool.rpartition("__")[2]: call for call in recorded.calls if call.tool not in ANSWERING}
    given = {name: dict(call.kwargs) for name, call in calls.items()}
    result = calls["run_python"].result if "run_python" in calls else None
    shown = result is not None and str(result.value) == "36"
    return shown and given == {"run_python": {"code": CODE}, "stock_of": {"shelf": 9}}


def failures_of(recorded: Recorded) -> list[SpanError]:
    """The errors of tool calls, and of code."""
    snippets = [each for step in recorded.run.steps for each in step.snippets if each.executed]
    return [each.error for each in (*recorded.calls, *snippets) if each.error is not None]


def has_failure(recorded: Recorded) -> bool:
    failed = failures_of(recorded)
    # Code that fails by a call of a tool has its error beside that of the call.
    return bool(failed) and all(error.message.removesuffix("']").endswith("no shelf 9") for error in failed)


def has_type_of_failure(recorded: Recorded) -> bool:
    failed = failures_of(recorded)
    return [error for error in failed if "StockError" in (error.type, *error.chain)] == failed


def has_conversation(recorded: Recorded) -> bool:
    calls = [span for span in recorded.spans if span.input_messages and span.output_messages]
    longest = max((span.input_messages for span in calls), key=len, default=())
    return len(calls) >= 3 and any(message.role == "user" for message in longest)


def has_system_prompt(recorded: Recorded) -> bool:
    messages = [message for span in recorded.spans for message in span.input_messages]
    return any(message.role == "system" and "Be exact." in message.text for message in messages)


def has_tokens(recorded: Recorded) -> bool:
    return (recorded.run.usage.input_tokens, recorded.run.usage.output_tokens) == (30, 12)


COLUMNS: dict[str, Callable[[Recorded], bool]] = {
    "task": lambda recorded: recorded.run.task == "What do three boxes cost?",
    "answer": lambda recorded: (
        recorded.run.answer is not None and recorded.run.answer.text.strip() == "Three boxes cost 36 euros."
    ),
    "code": ran_the_code,
    "tool calls": has_tool_calls,
    "failures": has_failure,
    "their type": has_type_of_failure,
    "conversation": has_conversation,
    "system prompt": has_system_prompt,
    "tokens": has_tokens,
}


def table() -> dict[str, dict[str, str]]:
    """Return the cells of the page's table by recording and column."""
    lines = list(takewhile(bool, PAGE[PAGE.index("| framework | version") :].splitlines()))
    head = [cell.strip() for cell in lines[0].strip("|").split("|")]
    rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines[2:]]
    return {row[-1].strip("`"): dict(zip(head, row, strict=True)) for row in rows}


def check_row(name: str, path: Path) -> None:
    """Check that the page says of a recording what is in this file."""
    recorded, row = read(path), table()[name]
    held = {column: "yes" if holds(recorded) else "–" for column, holds in COLUMNS.items()}
    assert {column: row[column] for column in COLUMNS} == held


@pytest.mark.parametrize("name", RECORDINGS)
def test_the_page_says_what_the_recording_holds(name):
    check_row(name, GOLDEN / f"{name}.json")


@pytest.mark.parametrize("name", RECORDINGS)
def test_the_page_names_the_version_that_was_recorded(name):
    needed = RECORDINGS[name]
    version = (needed.get("npm") or needed["packages"])[0].replace("==", "@").rpartition("@")[2]
    row = table()[name]
    assert version in row["version"], row


@pytest.mark.parametrize("name", RECORDINGS)
def test_a_run_is_no_place_of_the_machine_that_recorded_it(name):
    text = (GOLDEN / f"{name}.json").read_text()
    assert not [folder for folder in ("/root/", "/home/", "/tmp/") if folder in text]
