"""A case: a task for an agent, what a run of it must do, and the run it was promoted from, if any.

Of a promoted run the trace and the snippets with their recorded tool calls are frozen, with what it was
judged as; the task, the requirements and the notes are for people to read and to edit.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import InitVar, dataclass, field
from enum import StrEnum

from spanproof.evaluators.casetests import CaseTests
from spanproof.evaluators.replay import FixtureBook
from spanproof.suites.requirements import (
    Requirement,
    list_answer_requirements,
    list_failure_requirements,
    list_test_requirements,
)
from spanproof.trace import (
    Cause,
    Cohort,
    Errored,
    JsonValue,
    Label,
    Layer,
    RecordedCall,
    Score,
    Scored,
    Skipped,
    Snippet,
    State,
    Trace,
    digest,
)


@dataclass(frozen=True, slots=True)
class Origin:
    """The run a case was frozen from."""

    trace_id: str
    run_span_id: str
    project: str = "default"


@dataclass(frozen=True, slots=True)
class Expectation:
    """One verdict the case must get again.

    Attributes:
        name: the layer's name for the layer's own value, else the sub-score's.
        span_id: the span judged; the run's own for layer values.
        snippet: number of the snippet judged, from 1; None for scores of steps, answers and runs.
        outcome: `scored`, `skipped` or `errored`.
        label: pass or fail, None where there was no verdict.
        value: from 0 to 1, to four digits, where scored; for the reader, it is not compared.
        explanation: why, in the words of the evaluator; for the reader, it is not compared.
        cause: why it is open or skipped; None of others, and of what an older Spanproof froze.
    """

    layer: Layer
    name: str
    span_id: str
    snippet: int | None
    outcome: str
    label: Label | None
    value: float | None
    explanation: str
    cause: Cause | None = None

    @property
    def key(self) -> tuple[Layer, str, str, int | None]:
        """What it is about; one verdict each."""
        return (self.layer, self.name, self.span_id, self.snippet)

    @property
    def is_of_layer(self) -> bool:
        """Whether it is a layer's own value."""
        return self.name == self.layer.value

    @property
    def verdict(self) -> State:
        """The value that is compared; for advice, `open` means that it was scored."""
        if self.outcome != "scored":
            return State(self.outcome)
        if self.label:
            return State(self.label.value)
        return State.OPEN


class UnknownCalls(StrEnum):
    """What a call over HTTP is that a case has no answer to."""

    FAIL = "fail"
    ALLOW = "allow"


@dataclass(frozen=True, slots=True)
class Case:
    """One case of a suite.

    Attributes:
        id: its folder's name; the same each time the same run is promoted. Empty of one that is to be added.
        origin, trace: of the frozen run; None of a case that people wrote.
        task: the task that the agent is given.
        expectations: what the frozen run was judged as; those of layers first, in the order of the layers.
        snippets: of the frozen run, in order; their tapes ride on them.
        notes: for people.
        requirements: what a run of the agent must do; empty where people wrote none.
        inputs: arguments for an agent that takes more than a task.
        files: what lies in the agent's work directory, by relative path.
        recorded: tool calls with their results that people wrote; they come before those of the frozen run.
        tags: for people and for selecting cases.
        tests: what its code must do beside, None where people wrote none; never part of the trace.
        source: where a case that was imported is from: the form, its id there, its metadata.
        fixtures: what its replay finds, in place of the configuration's; None where the case holds none.
        requires: the layers that must not fail; None where the case leaves that out, which is all of them.
        unknown_calls: whether an agent may call endpoints of recorded hosts that the case has no answer to.
        expected: of one that is made in Python, the answer: a text that it contains, a number that is in it,
            or other JSON that it equals. It becomes a requirement.
    """

    id: str = ""
    origin: Origin | None = None
    agent: str = ""
    task: str | None = None
    cohort: Cohort = field(default_factory=Cohort)
    expectations: tuple[Expectation, ...] = ()
    snippets: tuple[Snippet, ...] = ()
    trace: Trace | None = None
    notes: str = ""
    requirements: tuple[Requirement, ...] = ()
    inputs: Mapping[str, JsonValue] = field(default_factory=dict)
    files: Mapping[str, str] = field(default_factory=dict)
    recorded: tuple[RecordedCall, ...] = ()
    tags: tuple[str, ...] = ()
    source: Mapping[str, JsonValue] = field(default_factory=dict)
    tests: CaseTests | None = None
    fixtures: FixtureBook | None = None
    requires: tuple[Layer, ...] | None = None
    unknown_calls: UnknownCalls = UnknownCalls.FAIL
    expected: InitVar[JsonValue] = None

    def __post_init__(self, expected: JsonValue) -> None:
        if expected is not None:
            stated = list_answer_requirements(expected)
            object.__setattr__(self, "requirements", (*self.requirements, *stated))

    @property
    def required_layers(self) -> tuple[Layer, ...]:
        """The layers that must not fail."""
        if self.requires is None:
            return tuple(Layer)
        return self.requires

    @property
    def required(self) -> tuple[Requirement, ...]:
        """The requirements for a run of the agent: those of the case, and that no layer fails or is open.

        Requirements and tests of the case's own judge the work: a layer may then be open, as that of an
        answer in words alone is. A layer that an own requirement is about is required as that states it.
        """
        if self.tests is not None and self.tests.demands_tests:
            of_tests = list_test_requirements()
        else:
            of_tests = ()
        if self.requirements:
            stated = {requirement.layer for requirement in self.requirements}
            layers = [layer for layer in self.required_layers if layer not in stated]
            of_layers = list_failure_requirements(layers=layers, open_allowed=True, trace_needed=False)
            return (*self.requirements, *of_layers, *of_tests)
        failed_before = [
            expectation.layer
            for expectation in self.expectations
            if expectation.is_of_layer and expectation.label is Label.FAIL
        ]
        of_layers = list_failure_requirements(
            failed_before, layers=self.required_layers, open_allowed=bool(of_tests)
        )
        return (*of_layers, *of_tests)


def build_case_id(agent: str, origin: Origin) -> str:
    """Return a readable id that follows from the run alone: `pricing-agent-1f0c2a9be417`."""
    slug = re.sub(r"[^a-z0-9]+", "-", agent.lower()).strip("-")[:40].strip("-") or "run"
    # Without the default project, so that ids of before, which had none, stay what they are.
    project = () if origin.project == Cohort().project else (origin.project,)
    return f"{slug}-{digest('case', origin.trace_id, origin.run_span_id, *project)[:12]}"


def to_expectation(score: Score, snippets: tuple[Snippet, ...]) -> Expectation:
    """Return a score as an expectation."""
    numbers = {snippet.id: number for number, snippet in enumerate(snippets, start=1)}
    label: Label | None = None
    value: float | None = None
    cause: Cause | None = None
    match score.outcome:
        case Scored():
            outcome, explanation, cause = "scored", score.outcome.explanation, score.outcome.cause
            label, value = score.outcome.label, round(score.outcome.value, 4)
        case Skipped(reason, cause):
            outcome, explanation = "skipped", reason
        case Errored(error_type, message):
            outcome, explanation = "errored", f"{error_type}: {message}"
    return Expectation(
        score.layer,
        score.name,
        score.span_id,
        numbers.get(score.snippet_id) if score.snippet_id else None,
        outcome,
        label,
        value,
        explanation,
        cause,
    )


def select_expectations(scores: tuple[Score, ...], snippets: tuple[Snippet, ...]) -> tuple[Expectation, ...]:
    """Return the expectations of a run: the layers' own values, then the sub-scores with a verdict.

    A sub-score that was skipped or is advisory has no verdict to compare.
    """
    layers = list(Layer)
    found = [to_expectation(score, snippets) for score in scores]
    compared = [
        expectation for expectation in found if expectation.is_of_layer or expectation.label is not None
    ]
    compared.sort(key=lambda expectation: (not expectation.is_of_layer, layers.index(expectation.layer)))
    return tuple(compared)
