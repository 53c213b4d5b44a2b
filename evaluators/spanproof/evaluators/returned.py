"""What a run's executions returned: what groundedness, judges and custom evaluators hold its answer against.

In: the evidence about a run. Out: `Returned`: each output with the step and span it came from. The answer
itself must not be among them: what `final_answer` was given is left out, but for the parts the final code
computed rather than wrote down; so are lines that code prints from literals of its own. Errors are no
outputs.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass, replace

from spanproof.evaluators.actions import is_answer
from spanproof.evaluators.model import NoReplay, Replay, RunEvidence
from spanproof.evaluators.recorded import shows_outcome
from spanproof.reading.printed_literals import without_echoes
from spanproof.trace import Payload, Snippet, Step

_TOKEN = re.compile(r"\S+")
_EDGES = ".,;:!?\"'()[]{}$€£%*"
_LAST_OUTPUT = re.compile(r"\n?Last output from code snippet:\s*\n.*\Z", re.DOTALL)
# Code that ended with no value: smolagents writes so behind what it printed.
_NO_VALUE = re.compile(r"(?:\A|\n)\s*Last output from code snippet:\s*\nNone\s*\Z")
_VALUE_HEADER = re.compile(r"(?m)^Last output from code snippet:\s*\n")
_LOGS_HEADER = re.compile(r"\A\s*Execution logs:\s*\n")


@dataclass(frozen=True, slots=True)
class ReturnedOutput:
    """One output.

    Attributes:
        replayed: it is the replay's, the record having none.
        turn: counts from 1.
        printed: code printed it; else a tool returned it.
    """

    text: str
    step: int
    span_id: str
    replayed: bool = False
    turn: int = 1
    printed: bool = False


@dataclass(frozen=True, slots=True)
class Returned:
    """All that a run's executions returned, behind what those of the turns before it did.

    Attributes:
        turn: the run's own, from 1.
        failures: how many executions failed, and so returned nothing.
        differences: where the replay returned something else than the record: span id and the difference.
    """

    outputs: tuple[ReturnedOutput, ...]
    failures: int
    turn: int = 1
    differences: tuple[tuple[str, str], ...] = ()

    @property
    def own(self) -> tuple[ReturnedOutput, ...]:
        """The run's own outputs."""
        return tuple(output for output in self.outputs if output.turn == self.turn)


def read_outputs(evidence: RunEvidence) -> Returned:
    """Collect the outputs of a run, and of the turns before it, in the order of their steps."""
    turns = [replace(evidence, run=turn, replay=NoReplay("an earlier turn")) for turn in evidence.earlier]
    outputs = [
        replace(output, turn=number)
        for number, turn in enumerate((*turns, evidence), 1)
        for output in _iter_run_outputs(turn)
    ]
    failures = sum(_count_failures(step) for step in evidence.run.steps)
    return Returned(tuple(outputs), failures, len(turns) + 1, tuple(_iter_differences(evidence)))


def _iter_run_outputs(evidence: RunEvidence) -> Iterator[ReturnedOutput]:
    for step in evidence.run.steps:
        seen: list[str] = []
        for found in _iter_step_outputs(step, evidence):
            if _adds_lines(found, seen):
                seen.append(found.text)
                yield found


def _adds_lines(found: ReturnedOutput, seen: list[str]) -> bool:
    """Whether an output holds a line that those before it do not: an observation repeats its results.

    What code prints is a result of its own where a tool returned more on one line: `0.9` beside `[0.9, 1.2]`.
    """
    whole_lines = {line.strip() for text in seen for line in text.splitlines()}
    for line in map(str.strip, found.text.splitlines()):
        if not line or line in whole_lines:
            continue
        if found.printed or not any(line in text for text in seen):
            return True
    return False


def _iter_step_outputs(step: Step, evidence: RunEvidence) -> Iterator[ReturnedOutput]:
    for call in step.calls:
        if not is_answer(call) and call.error is None and call.result is not None:
            yield ReturnedOutput(format_payload(call.result), step.number, call.span_id or step.span_id)
    for snippet in step.snippets:
        if snippet.executed:
            yield from _iter_snippet_outputs(snippet, step, evidence)
    only_answers = bool(step.calls) and not step.snippets and all(map(is_answer, step.calls))
    if step.observation and step.error is None and not only_answers:
        text = _get_shown(step, step.observation)
        if text.strip() and text.strip() != _read_answer_text(evidence).strip():
            yield ReturnedOutput(text, step.number, step.span_id, printed=bool(step.snippets))


def _get_shown(step: Step, observation: str) -> str:
    """Return what a step's code showed, without the framework's words, its own source and the answer."""
    if step.is_final or any(snippet.is_final for snippet in step.snippets):
        observation = _LAST_OUTPUT.sub("", observation)
    shown = _without_headers(observation)
    for snippet in step.snippets:
        shown = without_echoes(shown, snippet.source)
    return shown


def _iter_snippet_outputs(snippet: Snippet, step: Step, evidence: RunEvidence) -> Iterator[ReturnedOutput]:
    logs = without_echoes(snippet.logs, snippet.source) if snippet.logs else ""
    if logs.strip():
        yield ReturnedOutput(logs, step.number, snippet.span_id, printed=True)
    if snippet.is_final:
        computed = _get_computed(_read_answer_text(evidence), snippet.source)
        if computed:
            yield ReturnedOutput(computed, step.number, snippet.span_id)
        return
    if snippet.error is None:
        if snippet.output is not None:
            yield ReturnedOutput(format_payload(snippet.output), step.number, snippet.span_id)
        if snippet.observation and snippet.observation != step.observation:
            seen = without_echoes(_without_headers(snippet.observation), snippet.source)
            if seen.strip():
                yield ReturnedOutput(seen, step.number, snippet.span_id, printed=True)
    if not shows_outcome(step, snippet):
        yield from _iter_replayed_outputs(snippet, step, evidence)


def _without_headers(observation: str) -> str:
    """Return what code showed an agent, without the words of the framework around it."""
    return _VALUE_HEADER.sub("", _NO_VALUE.sub("", _LOGS_HEADER.sub("", observation)))


def _iter_replayed_outputs(snippet: Snippet, step: Step, evidence: RunEvidence) -> Iterator[ReturnedOutput]:
    replay = evidence.replay
    again = replay.find_step(snippet.id) if isinstance(replay, Replay) else None
    if again is None or again.execution.raised is not None:
        return
    for text in (again.execution.stdout, again.execution.result_text or ""):
        text = without_echoes(text, snippet.source)
        if text.strip() and text != "None":
            yield ReturnedOutput(text, step.number, snippet.span_id, replayed=True, printed=True)


def _get_computed(answer: str, source: str) -> str:
    """Return the words of an answer that are not in the code that gave it: those the code worked out."""
    kept = [
        token if token.strip(_EDGES) and token.strip(_EDGES) not in source else "…"
        for token in _TOKEN.findall(answer)
    ]
    if any(any(character.isdigit() for character in token) for token in kept):
        return " ".join(kept)
    return ""


def _read_answer_text(evidence: RunEvidence) -> str:
    return evidence.run.answer.text if evidence.run.answer else ""


def _count_failures(step: Step) -> int:
    failed = sum(call.error is not None and not is_answer(call) for call in step.calls) + sum(
        snippet.error is not None for snippet in step.snippets if snippet.executed
    )
    return failed or int(step.error is not None)


def format_payload(payload: Payload) -> str:
    """Return a result as text: a document as JSON."""
    if isinstance(payload.value, dict | list):
        return json.dumps(payload.value, ensure_ascii=False)
    return payload.text


def _iter_differences(evidence: RunEvidence) -> Iterator[tuple[str, str]]:
    if isinstance(evidence.replay, Replay):
        for step in evidence.replay.steps:
            if step.agrees is False:
                yield step.snippet.span_id, step.difference or "the replay returned something else"
