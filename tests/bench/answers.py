"""Measure groundedness on sets of answers whose writers saw neither the code nor the documentation.

    python tests/bench/answers.py [FOLDER]

In: a folder of `SET.json` files; `answer_sets/README.md` has their form. Each answer becomes a trace of its
own, which the engine evaluates without a replay; nothing of a set is executed.

Out: per set the shares of right answers that pass and fail, and of wrong ones that fail, pass and stay open.
The last line is what a simple check gives: an answer passes where an output has each of its numbers.
"""

from __future__ import annotations

import json
import re
import sys
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from spanproof.evaluators.engine import Engine
from spanproof.sandbox.scanners.pipeline import Pipeline
from spanproof.trace import (
    ExecutedCode,
    Layer,
    Payload,
    Span,
    SpanKind,
    State,
    ToolCall,
    Trace,
    get_state,
    trace_of,
)

SETS: Final = Path(__file__).parent / "answer_sets"
_LANGUAGES: Final = {"python": "python", "sql": "sql", "shell": "bash"}
_START_NS: Final = 1_780_000_000_000_000_000
_STEP_NS: Final = 1_000_000_000
_NUMBER: Final = re.compile(r"\d[\d,.]*\d|\d")


@dataclass
class Tally:
    """The states of the right and of the wrong answers of a set."""

    right: Counter[State] = field(default_factory=Counter)
    wrong: Counter[State] = field(default_factory=Counter)

    def __str__(self) -> str:
        right, wrong = self.right.total(), self.wrong.total()
        accepted, accused = self.right[State.PASS] / right, self.right[State.FAIL] / right
        rejected, passed = self.wrong[State.FAIL] / wrong, self.wrong[State.PASS] / wrong
        of_right = f"right {right:4}: accepted {accepted:.3f} accused {accused:.3f}"
        return f"{of_right} | wrong {wrong:4}: rejected {rejected:.3f} passed {passed:.3f}"

    def count(self, *, is_right: bool, state: State) -> None:
        """Count one answer."""
        (self.right if is_right else self.wrong)[state] += 1


def iter_answers(path: Path) -> Iterator[tuple[dict[str, Any], dict[str, Any]]]:
    """Yield each answer of a set with its situation."""
    for situation in json.loads(path.read_text(encoding="utf-8")):
        for answer in situation["answers"]:
            yield situation, answer


def build_trace(situation: dict[str, Any], answer: str) -> Trace:
    """Return a trace of the turns before, and of a run that took the situation's steps and answered so."""
    spans: list[Span] = []
    turns = situation.get("earlier") or []
    for number, turn in enumerate(turns):
        spans += _build_run(number, turn["user"], [], turn["assistant"])
    return trace_of([*spans, *_build_run(len(turns), situation["task"], situation["steps"], answer)])


def _build_run(number: int, task: str, steps: list[dict[str, Any]], answer: str) -> list[Span]:
    run_id, began = f"{(number + 1) << 32:016x}", _START_NS + number * 1_000 * _STEP_NS
    agent = Span(
        "b" * 32, run_id, None, "agent", SpanKind.AGENT, began, began + (len(steps) + 2) * _STEP_NS,
        agent="agent", input=Payload(task, task), output=Payload(answer, answer),
    )  # fmt: skip
    return [agent, *(_build_step(run_id, place, began, step) for place, step in enumerate(steps, 1))]


def _build_step(run_id: str, place: int, began: int, step: dict[str, Any]) -> Span:
    start, text = began + place * _STEP_NS, step.get("output") or ""
    span_id = f"{int(run_id, 16) + place:016x}"
    language = next((name for name in _LANGUAGES if name in step), None)
    if language is None:
        code, call = None, ToolCall(step["tool"], step.get("arguments") or {})
    else:
        code = ExecutedCode(step[language], "code", _LANGUAGES[language], logs=text)
        call = ToolCall(f"run_{language}", {"code": step[language]})
    return Span(
        "b" * 32, span_id, run_id, call.name, SpanKind.TOOL, start, start + _STEP_NS // 2,
        tool=call, code=code, output=Payload(text, text),
    )  # fmt: skip


def has_all_numbers(situation: dict[str, Any], answer: str) -> bool:
    """Return whether an output has each number of the answer."""
    outputs = " ".join(step.get("output") or "" for step in situation["steps"]).replace(",", "")
    return all(number.replace(",", "") in outputs for number in _NUMBER.findall(answer))


def main() -> None:
    """Judge each answer of each set; print a line a set, one of all, and one of the simple check."""
    engine = Engine(pipeline=Pipeline(), sandbox=None, layers=(Layer.GROUNDEDNESS,))
    everything, simple, seconds = Tally(), Tally(), 0.0
    for path in sorted(Path(sys.argv[1] if len(sys.argv) > 1 else SETS).glob("*.json")):
        of_set = Tally()
        for situation, answer in iter_answers(path):
            trace = build_trace(situation, answer["answer"])
            began = time.thread_time()
            state = get_state(engine.evaluate(trace).runs[-1].layers[Layer.GROUNDEDNESS])
            seconds += time.thread_time() - began
            by_numbers = State.PASS if has_all_numbers(situation, answer["answer"]) else State.FAIL
            of_set.count(is_right=answer["right"], state=state)
            everything.count(is_right=answer["right"], state=state)
            simple.count(is_right=answer["right"], state=by_numbers)
        print(f"{path.stem:8} {of_set}", flush=True)
    judged = everything.right.total() + everything.wrong.total()
    print(f"{'all':8} {everything}\n{'numbers':8} {simple}\nCPU an answer: {1000 * seconds / judged:.1f} ms")


if __name__ == "__main__":
    main()
