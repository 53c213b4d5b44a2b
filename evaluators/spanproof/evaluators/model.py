"""What the evaluators share: the evidence about one run, and what a replay found.

A layer is a function from `RunEvidence` to judgements. It reads; it never runs, stores or sends anything.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from spanproof.evaluators.groundedness_rules import GroundednessRule
from spanproof.evaluators.outcomes.model import Account
from spanproof.evaluators.prices import OwnPrices
from spanproof.evaluators.run_state import select_layer_outcomes
from spanproof.sandbox import Execution, JsonValue
from spanproof.sandbox.policy import Policy
from spanproof.sandbox.scanners.model import Scan
from spanproof.trace import (
    Cohort,
    Errored,
    Layer,
    Outcome,
    Run,
    Score,
    Scored,
    Skipped,
    Snippet,
    State,
    Trace,
    fold_outcomes,
    fold_states,
    get_state,
)
from spanproof.trace.html_tables import format_html_table
from spanproof.trace.project import TraceKey, get_stored_project


class DivergenceReason(StrEnum):
    """Why the tape has no answer for a call; `exhausted`: it had, and all were used up."""

    UNKNOWN_TOOL = "unknown_tool"
    UNKNOWN_ARGUMENTS = "unknown_arguments"
    EXHAUSTED = "exhausted"


@dataclass(frozen=True, slots=True)
class Divergence:
    """A tool call of a replay that the tape does not know."""

    tool: str
    args: tuple[JsonValue, ...]
    kwargs: Mapping[str, JsonValue]
    reason: DivergenceReason


@dataclass(frozen=True, slots=True)
class ReplayedStep:
    """One snippet's replay: what became of it, the tool calls off the tape, whether the output agreed.

    Attributes:
        agrees: whether output and class are those recorded; None where the two cannot be compared: nothing
            is on record, the replay lacked what the run had, or the recorded executor has rules of its own.
        difference: the first difference, in words; with `agrees` None, why the two are not comparable.
        flaky: it came out otherwise under another seed and clock; `agrees` is None then.
    """

    snippet: Snippet
    execution: Execution
    divergences: tuple[Divergence, ...] = ()
    agrees: bool | None = None
    difference: str | None = None
    flaky: bool = False


class ReplayBreak(StrEnum):
    """What a snippet's code did that left its replay without an end, so that it says nothing of the code."""

    ENDED_SANDBOX = "ended_sandbox"
    """It ended the sandbox it ran in, twice, where a harmless program runs."""
    SILENCED_SANDBOX = "silenced_sandbox"
    """The sandbox did not answer while it ran, twice; a machine that is too busy looks the same."""
    NOT_REBUILT = "not_rebuilt"
    """The steps before it, run again after one was stopped, did not end as they had."""
    SPENT_TIME = "spent_time"
    """The steps before it used up the time of the replay."""


@dataclass(frozen=True, slots=True)
class Replay:
    """All executed snippets of one run, in order, in one session per language.

    Attributes:
        unreplayed: why a snippet was not replayed (cut source, hidden tape, language without a backend, or
            state that one of these left undefined), by snippet id.
        breaks: of the unreplayed, those whose code chose so, by snippet id: they are never passed.
        repeated: it was replayed again under another seed and clock, so that flaky steps are known.
    """

    run_span_id: str
    backend: str
    steps: tuple[ReplayedStep, ...] = ()
    unreplayed: Mapping[str, str] = field(default_factory=dict)
    breaks: Mapping[str, ReplayBreak] = field(default_factory=dict)
    repeated: bool = False

    @property
    def first_divergence(self) -> tuple[int, ReplayedStep] | None:
        """The first step that left the record, with its number among the replayed ones, from 1.

        A step leaves the record when it makes a tool call that the tape does not know, or disagrees.
        """
        return next(
            (
                (number, step)
                for number, step in enumerate(self.steps, 1)
                if step.divergences or step.agrees is False
            ),
            None,
        )

    def find_step(self, snippet_id: str) -> ReplayedStep | None:
        """Return the replay of this snippet, None where it was not replayed."""
        return next((step for step in self.steps if step.snippet.id == snippet_id), None)


class NoReplayCause(StrEnum):
    """Why a run was not replayed.

    `failed` is a failure of ours; `building` passes, when the run's environment is there; the others are how
    things are set up.
    """

    NOT_NEEDED = "not_needed"
    SWITCHED_OFF = "switched_off"
    UNAVAILABLE = "unavailable"
    FAILED = "failed"
    BUILDING = "building"


@dataclass(frozen=True, slots=True)
class NoReplay:
    """A run that was not replayed.

    Attributes:
        reason: the cause as a clause for people.
        error_type: of a failed replay, the class of what failed.
    """

    reason: str
    cause: NoReplayCause = NoReplayCause.UNAVAILABLE
    error_type: str | None = None

    @property
    def wanted(self) -> bool:
        """Whether a score needs the replay."""
        return self.cause is not NoReplayCause.NOT_NEEDED


@dataclass(frozen=True, slots=True)
class MissingName:
    """A module or attribute a snippet uses and the runtime does not have; `line` from 1."""

    name: str
    line: int
    is_module: bool


@dataclass(frozen=True, slots=True)
class ApiReport:
    """What a snippet takes from modules, looked up in the sandbox's runtime without running the snippet.

    Attributes:
        checked: dotted names that were looked up.
        missing: those that do not exist although their package does.
        not_installed: packages the runtime does not have, so that nothing can be said about them.
        modules: those of `checked` that are modules, which the snippet imports.
        failed: the type and message of what failed on our side; empty where nothing did.
    """

    checked: tuple[str, ...] = ()
    missing: tuple[MissingName, ...] = ()
    not_installed: tuple[str, ...] = ()
    modules: tuple[str, ...] = ()
    failed: str = ""


@dataclass(frozen=True, slots=True)
class Budget:
    """What a case allows its code in the replay: seconds of all steps together, memory of the largest."""

    wall_s: float | None = None
    memory_mb: float | None = None


class UnrunCause(StrEnum):
    """Why the tests of a case could not be run; the value is the type of the error in a score.

    `WORK_MISSING` alone is the agent's doing, and fails it. The others are ours or the suite's.
    """

    WORK_MISSING = "WorkMissing"
    NOT_COLLECTED = "TestsNotCollected"
    NOT_REPORTED = "TestsNotReported"
    DEPENDENCY_MISSING = "DependencyMissing"
    RECORD_INCOMPLETE = "RecordIncomplete"
    SANDBOX_UNAVAILABLE = "SandboxUnavailable"
    SANDBOX_BROKEN = "SandboxBroken"
    NOT_APART = "TestsNotApart"


@dataclass(frozen=True, slots=True)
class TestReport:
    """What became of a case's tests: names and counts only, so that no expected value travels with a score.

    Attributes:
        results: whether each passed, by its name, in order.
        changed_inputs: names of pairs and properties whose code changed an argument it was given.
        inputs_must_stay: whether the case demands that none does; one that did has failed then.
        unrun: why they could not be run, as a clause; `results` is empty then.
        unrun_cause: what kind of reason that is.
        why: of the first that did not pass, the inputs that falsify a property, or what stopped it.
        skipped: names of tests that their author had skipped: they count neither way.
        apart: whether the code under test had no part in any result; see `Execution.tests_apart`.
    """

    results: tuple[tuple[str, bool], ...] = ()
    changed_inputs: tuple[str, ...] = ()
    inputs_must_stay: bool = False
    unrun: str | None = None
    unrun_cause: UnrunCause = UnrunCause.SANDBOX_UNAVAILABLE
    budget: Budget | None = None
    why: str | None = None
    skipped: tuple[str, ...] = ()
    apart: bool = True

    __test__ = False

    @property
    def passed(self) -> int:
        """How many passed."""
        return sum(passed for _, passed in self.results)

    @property
    def first_failure(self) -> str | None:
        """The name of the first test that did not pass."""
        return next((name for name, passed in self.results if not passed), None)


@dataclass(frozen=True, slots=True)
class UserHints:
    """What the user knows beside the trace.

    Attributes:
        synonyms: other words for a state, by the word it is usually called (`{"shipped": ["on the truck"]}`).
        prices: by model; they come before the shipped list.
        without_rules: rules of groundedness that are switched off.
    """

    synonyms: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    prices: OwnPrices = field(default_factory=dict)
    without_rules: frozenset[GroundednessRule] = frozenset()


@dataclass(frozen=True, slots=True)
class RunEvidence:
    """All a layer may look at.

    Attributes:
        scans: by snippet id; every snippet of the run has one.
        apis: by snippet id, for Python snippets that could be looked up.
        tests: what became of the tests of the case this run is, None where it has none.
        policies: by snippet id, the boundary its scan was made by; the default one where there is none.
        hints: what the user says beside the trace.
        earlier: the turns before this run: runs of the trace beside it that ended before it began, in order.
        account: what happened, decided once: outcomes, recoveries, origins of the answer's values.
        called: the runs that this run called, at any depth: its sub-agents.
    """

    trace: Trace
    run: Run
    scans: Mapping[str, Scan]
    replay: Replay | NoReplay
    apis: Mapping[str, ApiReport] = field(default_factory=dict)
    policies: Mapping[str, Policy] = field(default_factory=dict)
    tests: TestReport | None = None
    hints: UserHints = UserHints()
    earlier: tuple[Run, ...] = ()
    account: Account = field(default_factory=Account)
    called: tuple[Run, ...] = ()

    def get_policy(self, snippet_id: str) -> Policy:
        """Return the boundary of one snippet."""
        return self.policies.get(snippet_id) or Policy()


@dataclass(frozen=True, slots=True)
class RunEvaluation:
    """One run with everything found about it."""

    run: Run
    scans: Mapping[str, Scan]
    replay: Replay | NoReplay
    scores: tuple[Score, ...]

    @property
    def layers(self) -> dict[Layer, Outcome]:
        """The outcome of each layer that judged it, a person's verdict in its place where there is one."""
        return select_layer_outcomes(self.run.span_id, self.scores)

    @property
    def state(self) -> State:
        """What its layers are together."""
        return fold_outcomes(self.layers.values())

    def _repr_html_(self) -> str:
        rows = [
            (layer, get_state(outcome), _describe_outcome(outcome)) for layer, outcome in self.layers.items()
        ]
        return format_html_table(f"{self.run.name}: {self.state}", ("layer", "state", "why"), rows)


@dataclass(frozen=True, slots=True)
class TraceEvaluation:
    """What the engine makes of a trace. `code_bearing_span_ids` in the order of the trace's spans."""

    trace: Trace
    runs: tuple[RunEvaluation, ...]
    code_bearing_span_ids: tuple[str, ...]

    @property
    def key(self) -> TraceKey:
        """What identifies the trace: its project, which is that of its first run, and its id."""
        if self.runs:
            return TraceKey(self.runs[0].run.cohort.project, self.trace.trace_id)
        resource = self.trace.spans[0].resource if self.trace.spans else {}
        return TraceKey(get_stored_project(resource, Cohort().project), self.trace.trace_id)

    @property
    def scores(self) -> tuple[Score, ...]:
        """Every score of every run."""
        return tuple(score for run in self.runs for score in run.scores)

    @property
    def state(self) -> State:
        """What its runs are together."""
        return fold_states(run.state for run in self.runs)

    def _repr_html_(self) -> str:
        rows = [
            (run.run.name, *(get_state(run.layers.get(layer)) for layer in Layer), run.state)
            for run in self.runs
        ]
        return format_html_table(f"trace {self.trace.trace_id}: {self.state}", ("run", *Layer, "all"), rows)


def _describe_outcome(outcome: Outcome) -> str:
    """Return why a layer is what it is."""
    match outcome:
        case Scored(explanation=explanation):
            return explanation
        case Skipped(reason):
            return reason
        case Errored(error_type, message):
            return f"{error_type}: {message}"
