"""What the trace itself shows of a step's outcome.

In: a run, a step or a snippet. Out: facts of the record; nothing is replayed and nothing is judged.
"""

from __future__ import annotations

import re

from spanproof.evaluators.actions import is_answer
from spanproof.evaluators.replay.record import read_record
from spanproof.trace import Language, Run, Snippet, Step

PROGRAMS = frozenset({Language.PYTHON, Language.BASH, Language.SQL, Language.JAVASCRIPT, Language.TYPESCRIPT})
"""Languages whose snippets do something; the rest are documents."""

_LAST_OUTPUT = re.compile(r"\n?Last output from code snippet:\s*\n.*\Z", re.DOTALL)


def is_silent(run: Run) -> bool:
    """Whether the trace lacks the outcome of some program that ran, so that a replay is needed."""
    return any(
        read_record(snippet).failure_class is None or not shows_outcome(step, snippet)
        for step in run.steps
        for snippet in step.snippets
        if snippet.executed and snippet.language in PROGRAMS
    )


def shows_outcome(step: Step, snippet: Snippet, *, own: bool = False) -> bool:
    """Whether the trace shows anything of a snippet's outcome; with `own`, on the snippet itself."""
    shown = snippet.logs or snippet.output or snippet.observation or (None if own else step.observation)
    return bool(shown or snippet.error)


def read_unseen_output(step: Step) -> str:
    """Return what a step printed whose code and calls are not on the trace; empty for nothing."""
    worked = any(not is_answer(call) for call in step.calls)
    if step.error is not None or worked or not step.observation:
        return ""
    return _LAST_OUTPUT.sub("", step.observation).partition("Execution logs:")[2].strip()
