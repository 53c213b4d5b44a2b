"""What the outcome stage gives: one outcome per step, tool call and snippet, and what followed each failure.

Values only. `Account` is built once per run by `account.py`; layers, the command line and alerts read it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from spanproof.evaluators.actions import Action
from spanproof.evaluators.outcomes.recovery import Recovery, RecoveryStatus
from spanproof.evaluators.refusals import format_refusal
from spanproof.reading.envelopes.model import Envelope
from spanproof.reading.sql_schema import Schema
from spanproof.sandbox import FailureClass
from spanproof.trace import Refusal, Snippet, Step


class State(StrEnum):
    """How something ended.

    `empty`: it worked and gave nothing; `refused`: by what it ran in; `stopped`: by a limit or a signal;
    `blocked`: a guard, a budget or a guardrail refused it, so that it neither worked nor failed.
    """

    OK = "ok"
    FAILED = "failed"
    EMPTY = "empty"
    REFUSED = "refused"
    STOPPED = "stopped"
    BLOCKED = "blocked"
    UNKNOWN = "unknown"


class KnownBy(StrEnum):
    """The evidence an outcome rests on, the strongest first."""

    REFUSAL = "refusal"
    RAISED = "raised"
    SPAN_STATUS = "span_status"
    STRUCTURED_RESULT = "structured_result"
    EXIT_STATUS = "exit_status"
    ERROR_TEXT = "error_text"
    PRINTED_EXCEPTION = "printed_exception"
    SWALLOWED = "swallowed_exception"
    RESULT = "result"
    REPLAY = "replay"
    NOTHING = "nothing"


WORKED = frozenset({State.OK, State.EMPTY})
FAILING = frozenset({State.FAILED, State.REFUSED, State.STOPPED})
NOT_DONE = FAILING | {State.BLOCKED}
"""It did not give what it was to give: an answer cannot rest on it, even where a guard is the cause."""
BROUGHT_NOTHING = NOT_DONE | {State.EMPTY}


@dataclass(frozen=True, slots=True)
class StepOutcome:
    """How one step, tool call or snippet ended.

    Attributes:
        failure_class: None where the state is unknown.
        error_type: the exception's name, where known.
        quote: the words that say so, as recorded; empty where no words do.
        recorded, replayed: the classes of both sides, None where that side is not known.
        refusal: where it is blocked, what refused it.
        batch: what of several items was done and what was not, where the result says so.
    """

    state: State
    failure_class: FailureClass | None
    known_by: KnownBy
    error_type: str | None = None
    quote: str = ""
    recorded: FailureClass | None = None
    replayed: FailureClass | None = None
    refusal: Refusal | None = None
    batch: Envelope | None = None

    @property
    def ok(self) -> bool | None:
        """Whether it ended well, None where that is unknown or it was refused."""
        if self.state in (State.UNKNOWN, State.BLOCKED):
            return None
        return self.state in WORKED

    @property
    def words(self) -> str:
        """The class, with its exception: `exception (KeyError)`; or the refusal."""
        if self.refusal is not None:
            return format_refusal(self.refusal)
        name = f" ({self.error_type})" if self.error_type is not None else ""
        return f"{self.failure_class}{name}"

    @property
    def cause(self) -> str:
        """The exception's name, else the class: `KeyError`, `timeout`; or the refusal."""
        if self.refusal is not None:
            return format_refusal(self.refusal)
        return self.error_type or str(self.failure_class)


UNKNOWN = StepOutcome(State.UNKNOWN, None, KnownBy.NOTHING)


def build_blocked_outcome(refusal: Refusal) -> StepOutcome:
    """Return the outcome of what was refused."""
    return StepOutcome(State.BLOCKED, None, KnownBy.REFUSAL, quote=format_refusal(refusal), refusal=refusal)


class OriginKind(StrEnum):
    """Where a value of the answer comes from."""

    SOURCE = "source"
    """A tool result, a file, the task, a prompt, or a value worked out from these."""
    LITERAL = "literal"
    CHANCE = "chance"
    CLOCK = "clock"
    DEFAULT = "default"
    PARTIAL = "partial"
    """Printed by code that was stopped before its end."""
    BROADER = "broader"
    """Given by a query without the condition that the task sets."""
    ABSENCE = "absence"
    """Stated to be absent, where the look-up failed."""
    UNDONE = "undone"
    """Stated to be done, where doing it failed."""
    NOTHING = "nothing"


@dataclass(frozen=True, slots=True)
class Origin:
    """Where one value of the answer comes from.

    Attributes:
        value: as the answer writes it.
        fabricated: it rests on nothing that a source holds, and the run should have looked it up.
        unsettled: it rests on nothing that a source holds; whether it is known by heart or invented is open.
        step: number of the step whose code wrote the value down, None where no code did.
        line: of that code, from 1.
        source: the text of that line; of a claim, the clause that says why it is not so.
    """

    value: str
    kind: OriginKind
    fabricated: bool
    step: int | None = None
    span_id: str | None = None
    line: int | None = None
    source: str = ""
    unsettled: bool = False


@dataclass(frozen=True, slots=True)
class Account:
    """What happened in one run, decided once.

    Attributes:
        snippets: by snippet id, of every program that ran.
        calls: by the step's number and the call's position among the step's calls.
        steps: by number; a step failed when its last part with a known outcome did.
        actions: what the run did, in order.
        recoveries: what followed each failure, in order.
        origins: where the values of the answer come from.
        handed_over: ids of snippets that only hand over or print values written down in them.
        reports_failure: the answer says that the task could not be done, and something failed; or that there
            is no such thing, and a look-up found none.
        reports_absence: it is this second case, and nothing that failed was left as it was.
        schema: the tables of its database that the run was shown.
        nothing_worked: the run did something for its task, and all of it failed or came back empty.
        all_failed: of this, none came back empty either.
        records_all: its calls and its code, and what they gave, are on the trace, or a replay gave it.
    """

    snippets: Mapping[str, StepOutcome] = field(default_factory=dict)
    calls: Mapping[tuple[int, int], StepOutcome] = field(default_factory=dict)
    steps: Mapping[int, StepOutcome] = field(default_factory=dict)
    actions: tuple[Action, ...] = ()
    recoveries: tuple[Recovery, ...] = ()
    origins: tuple[Origin, ...] = ()
    handed_over: frozenset[str] = frozenset()
    reports_failure: bool = False
    reports_absence: bool = False
    nothing_worked: bool = False
    all_failed: bool = False
    records_all: bool = True
    schema: Schema = field(default_factory=Schema)

    def get_snippet_outcome(self, snippet: Snippet) -> StepOutcome:
        """Return the outcome of a snippet; unknown where it was only proposed."""
        if snippet.refusal is not None and not snippet.executed:
            return build_blocked_outcome(snippet.refusal)
        return self.snippets.get(snippet.id, UNKNOWN)

    def get_call_outcome(self, step: Step, position: int) -> StepOutcome:
        """Return the outcome of a step's call."""
        return self.calls.get((step.number, position), UNKNOWN)

    def find_recovery(self, span_id: str) -> Recovery | None:
        """Return what followed the failure of the action on this span, None where it did not fail."""
        return next((recovery for recovery in self.recoveries if recovery.failure.span_id == span_id), None)

    @property
    def refused(self) -> tuple[Action, ...]:
        """The actions that were refused, in order."""
        return tuple(action for action in self.actions if action.refusal is not None)

    @property
    def unrecovered(self) -> Recovery | None:
        """The first failure that nothing recovered."""
        lasting = (found for found in self.recoveries if found.status is RecoveryStatus.UNRECOVERED)
        return next(lasting, None)

    @property
    def fabricated(self) -> tuple[Origin, ...]:
        """The values of the answer that rest on nothing a source holds and should."""
        return tuple(origin for origin in self.origins if origin.fabricated)

    @property
    def unsettled(self) -> tuple[Origin, ...]:
        """The values of the answer that rest on nothing a source holds, and may be known by heart."""
        return tuple(origin for origin in self.origins if origin.unsettled)
