"""What the layers share: which code counts, how an executed snippet ended, and why there is none to judge.

Takes the evidence about a run; gives facts. It judges nothing.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from spanproof.evaluators.model import NoReplay, Replay, ReplayedStep, RunEvidence
from spanproof.evaluators.outcomes.actions import ANSWER_TOOLS
from spanproof.evaluators.replay.record import class_beside, record_of
from spanproof.sandbox import FailureClass
from spanproof.trace import Executor, Language, Run, Snippet, Step

PROGRAMS = frozenset({Language.PYTHON, Language.BASH, Language.SQL, Language.JAVASCRIPT, Language.TYPESCRIPT})
"""Languages whose snippets do something; the rest are documents."""


_LAST_OUTPUT = re.compile(r"\n?Last output from code snippet:\s*\n.*\Z", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Ended:
    """How an executed snippet ended, as recorded and as replayed; None where that side is not known.

    Attributes:
        error_type: the exception's name, of the side that decides.
    """

    recorded: FailureClass | None
    replayed: FailureClass | None
    error_type: str | None = None

    @property
    def failure_class(self) -> FailureClass | None:
        """The record where there is one: the replay may lack what the run had."""
        return self.recorded if self.recorded is not None else self.replayed

    @property
    def words(self) -> str:
        """The class, with the exception behind it: `exception (KeyError)`."""
        name = f" ({self.error_type})" if self.error_type is not None else ""
        return f"{self.failure_class}{name}"

    @property
    def ok(self) -> bool | None:
        """Whether it ended well, None where neither side is known."""
        return None if self.failure_class is None else self.failure_class is FailureClass.OK


def executed(run: Run) -> list[Snippet]:
    """Programs that ran, in order."""
    return [snippet for snippet in run.snippets if snippet.executed and snippet.language in PROGRAMS]


def is_silent(run: Run) -> bool:
    """Whether the trace lacks the outcome of some program that ran, so that a replay is needed."""
    return any(
        record_of(snippet).failure_class is None or not is_told(step, snippet)
        for step in run.steps
        for snippet in step.snippets
        if snippet.executed and snippet.language in PROGRAMS
    )


def is_told(step: Step, snippet: Snippet) -> bool:
    """Whether the trace shows anything of a snippet's outcome: text, a value, or an error."""
    shown = snippet.logs or snippet.output or snippet.observation or step.observation
    return bool(shown or snippet.error)


def ended(evidence: RunEvidence, snippet: Snippet) -> Ended:
    """How this executed snippet ended."""
    step, record = replayed(evidence, snippet), record_of(snippet)
    if step is not None and step.flaky and record.failure_class is None:
        return Ended(None, None)  # another seed or time, another outcome: there is none to speak of
    raised = step.execution.raised if step is not None else None
    replayed_type = raised.type if raised is not None and record.failure_class is None else None
    return Ended(
        recorded=record.failure_class,
        replayed=class_beside(record, step.execution) if step is not None else None,
        error_type=record.error_type or replayed_type,
    )


def replayed(evidence: RunEvidence, snippet: Snippet) -> ReplayedStep | None:
    """The replay of this snippet, None where it was not replayed."""
    return None if isinstance(evidence.replay, NoReplay) else evidence.replay.step(snippet.id)


def first_to_leave(run: Run, replay: Replay | NoReplay) -> tuple[int, ReplayedStep] | None:
    """The first step of the replay that left the record, with its number in the run."""
    first = None if isinstance(replay, NoReplay) else replay.first_divergence
    return None if first is None else (number_in(run, first[1].snippet), first[1])


def number_in(run: Run, snippet: Snippet) -> int:
    """The number of the step that holds the snippet."""
    return next(step.number for step in run.steps if any(snippet.id == each.id for each in step.snippets))


def why_not_replayed(evidence: RunEvidence, snippet: Snippet) -> str:
    """The reason a snippet has no replay, as a clause."""
    if isinstance(evidence.replay, NoReplay):
        return evidence.replay.reason
    if not snippet.executed:
        return "it did not run"
    return evidence.replay.unreplayed.get(snippet.id, "it was not reached")


def why_no_code(run: Run) -> str:
    """The reason to skip a layer that judges code, for a run without any."""
    if run.hidden:
        return "content is hidden: the producer kept inputs and outputs off the trace"
    return "no code on the trace: the agent wrote none, or its instrumentor does not record it"


def unseen_output(step: Step) -> str:
    """What a step printed whose code is not on the trace, nor a tool it called; empty for nothing."""
    worked = any(call.tool not in ANSWER_TOOLS for call in step.calls)
    if step.error is not None or worked or not step.observation:
        return ""
    return _LAST_OUTPUT.sub("", step.observation).partition("Execution logs:")[2].strip()


def place_of(executor: Executor) -> str:
    """What ran the code, with the digest of its image where that is known."""
    image = executor.image_digest or executor.image_name
    if executor.image_digest and executor.image_name and executor.image_digest not in executor.image_name:
        image = f"{executor.image_name}@{executor.image_digest}"
    kind = " ".join(part for part in (executor.type, executor.version) if part)
    return f"{kind} ({image})" if kind and image else kind or image or "an executor that is not on the trace"


def counted(number: int, noun: str) -> str:
    """`1 snippet`, `2 snippets`."""
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"
