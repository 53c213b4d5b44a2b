"""Tasks of tau-bench's shape: what a customer wants, the calls that settle it, and what the agent must say.

A task has `actions` [{`name`, `kwargs`}] and `outputs` [text]; a file holds tasks, or results with their task
in `info`. An answer is a trajectory: `traj`, messages in OpenAI's form. Its consequential calls (those that
read nothing but change something) must be the expected ones, in any order.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from spanproof.benchmarks.errors import BenchmarkError
from spanproof.benchmarks.files import get_list, iter_rows
from spanproof.benchmarks.formats.sources import Source
from spanproof.benchmarks.formats.tool_calls import Call, find_calls
from spanproof.benchmarks.model import PASSED, Answer, Graded, GradingSetup, Problem, Row, build_failed_grade

_READS: Final = re.compile(r"(?:get|list|search|find|calculate|lookup|read|think|check|fetch|show)(?:_|$)")
# How a result of a call begins that changed nothing, in tau-bench's environments.
_FAILED: Final = "Error"


def iter_tau(source: Source) -> Iterator[Problem]:
    """Yield the tasks.

    Raises:
        BenchmarkError: an entry has no actions.
    """
    seen: set[str] = set()
    for number, (location, row) in enumerate(iter_rows(source.problems)):
        task = _read_task(row)
        identity = str(row.get("task_id", row.get("id", number)))
        if identity in seen:
            continue  # another trial of the same task
        seen.add(identity)
        actions = [_parse_action(location, action) for action in get_list(location, task, "actions")]
        outputs = task.get("outputs") or ()
        yield TauProblem(
            id=identity,
            prompt=str(task.get("instruction") or ""),
            language="calls",
            wanted=tuple(action for action in actions if not _READS.match(action.name)),
            outputs=tuple(map(str, outputs)),
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class TauProblem(Problem):
    """A task with the calls that settle it and the texts that the customer must read."""

    wanted: tuple[Call, ...]
    outputs: tuple[str, ...]

    @property
    def test_sets(self) -> tuple[str, ...]:
        """The whole task first."""
        return ("task", "calls", "outputs")

    def evaluate(self, answer: Answer, setup: GradingSetup) -> Mapping[str, Graded]:
        """Return whether the calls and the words of a trajectory settle the task."""
        if answer.error:
            return dict.fromkeys(self.test_sets, build_failed_grade(answer.error))
        try:
            messages = json.loads(answer.text)
        except ValueError:
            messages = None
        if not isinstance(messages, list) or not all(isinstance(message, dict) for message in messages):
            return dict.fromkeys(self.test_sets, build_failed_grade("the answer is no list of messages"))
        calls, outputs = self._evaluate_calls(messages), self._evaluate_outputs(messages)
        return {"task": calls if not calls.passed else outputs, "calls": calls, "outputs": outputs}

    def _evaluate_calls(self, messages: Sequence[Row]) -> Graded:
        made = Counter(map(_format_call, list_consequential_calls(messages)))
        wanted = Counter(map(_format_call, self.wanted))
        for missing in wanted - made:
            return build_failed_grade(f"not called: {missing:.200}")
        for extra in made - wanted:
            return build_failed_grade(f"called, and not expected: {extra:.200}")
        return PASSED

    def _evaluate_outputs(self, messages: Sequence[Row]) -> Graded:
        answer = " ".join(
            str(message.get("content") or "") for message in messages if message.get("role") == "assistant"
        )
        plain = answer.lower().replace(",", "")
        for wanted in self.outputs:
            if wanted.lower().replace(",", "") not in plain:
                return build_failed_grade(f"the answer to the customer lacks {wanted!r:.80}")
        return PASSED


def list_consequential_calls(messages: Sequence[Row]) -> list[Call]:
    """Return the calls of a trajectory that changed something: no reads, and none that failed."""
    results = {
        str(message.get("tool_call_id")): str(message.get("content") or "")
        for message in messages
        if message.get("role") == "tool"
    }
    found = []
    for message in messages:
        for entry in message.get("tool_calls") or ():
            calls = find_calls(entry)
            if calls is None or results.get(str(entry.get("id")), "").startswith(_FAILED):
                continue
            found += [call for call in calls if not _READS.match(call.name)]
    return found


def _read_task(row: Row) -> Row:
    info = row.get("info")
    task = info.get("task") if isinstance(info, dict) else None
    return task if isinstance(task, dict) else row


def _parse_action(location: str, entry: Any) -> Call:
    calls = find_calls([entry])
    if not calls:
        raise BenchmarkError(
            f"{location}: an action is an object with 'name' and 'kwargs', got {entry!r:.80}"
        )
    return calls[0]


def _format_call(call: Call) -> str:
    return f"{call.name}({json.dumps(call.arguments, sort_keys=True, ensure_ascii=False)})"
