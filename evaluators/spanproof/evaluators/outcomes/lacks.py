"""Which failures left a run without data: only after these is what code writes down suspect.

In: a run, its calls and how they ended. Out: the steps that were to bring data for the task and brought none.
A failed call of another matter is none of them: an alert that could not be sent, or a look-up that shares no
word with the task where another look-up gave something.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass

from spanproof.evaluators.actions import CODE, REPLY
from spanproof.evaluators.outcomes.calls import MadeCall
from spanproof.evaluators.outcomes.model import BROUGHT_NOTHING, Account, State
from spanproof.evaluators.outcomes.recovery import RecoveryStatus
from spanproof.reading.answer_words import list_topics
from spanproof.reading.doings import changes_something
from spanproof.trace import Run

RUNS_CODE = re.compile(r"python|interpreter|jupyter|execute_code|run_code|bash|shell|terminal")
"""In the names of tools that run code."""

_MAX_ARGUMENTS = 2_000


@dataclass(frozen=True, slots=True)
class DataNeeds:
    """What a run needed for its task.

    Attributes:
        task_topics: topics of the task.
        has_source: some look-up gave something.
    """

    task_topics: frozenset[str]
    has_source: bool

    def concerns(self, tool: str, arguments: str) -> bool:
        """Whether a call may have been to bring data for the task.

        What changes something brings none, unless the task names it and nothing else gave any.
        """
        if tool in (CODE, REPLY) or RUNS_CODE.search(tool.lower()):
            return True
        topics = list_topics(tool) or list_topics(arguments[:_MAX_ARGUMENTS])
        is_related = not topics or not topics.isdisjoint(self.task_topics)
        if changes_something(tool):
            return is_related and not self.has_source
        return is_related or not self.has_source


def build_needs(run: Run, account: Account, calls: Sequence[MadeCall]) -> DataNeeds:
    """Return what a run needed for its task."""
    lookups = [call for call in calls if call.uses_tool and not changes_something(call.call.tool)]
    has_source = any(account.calls[call.key].state is State.OK for call in lookups)
    return DataNeeds(list_topics(run.task or ""), has_source)


def list_lacks(run: Run, account: Account, calls: Sequence[MadeCall]) -> list[int]:
    """Return the numbers of the steps that were to bring data, and whose failure was not recovered."""
    needs = build_needs(run, account, calls)
    lasting = [found for found in account.recoveries if found.status is not RecoveryStatus.RECOVERED]
    failures = [found.failure for found in lasting]
    lacking = [failure.step for failure in failures if needs.concerns(failure.name, failure.text)]
    return lacking + [
        number
        for number in list_fruitless_steps(run, account, calls)
        if account.steps[number].state in (State.EMPTY, State.BLOCKED)
    ]


def list_fruitless_steps(run: Run, account: Account, calls: Sequence[MadeCall]) -> list[int]:
    """Return the numbers of the steps that were to bring data and brought none, recovered or not."""
    needs = build_needs(run, account, calls)
    fruitless = []
    for step in run.steps:
        if account.steps[step.number].state in BROUGHT_NOTHING:
            of_step = [call for call in calls if call.step == step.number and call.uses_tool]
            of_step = [call for call in of_step if account.calls[call.key].state in BROUGHT_NOTHING]
            concerned = [
                needs.concerns(call.call.tool, json.dumps(call.arguments, default=str)) for call in of_step
            ]
            if step.snippets or not concerned or any(concerned):
                fruitless.append(step.number)
    return fruitless
