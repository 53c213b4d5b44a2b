"""The answers of the API. The OpenAPI description, and the console's types, are made from these."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field

from spanproof.failures import ClusterState
from spanproof.trace import Cause, ClaimVerdict, Layer, State


class Answer(BaseModel):
    """A part of an answer."""

    model_config = ConfigDict(frozen=True, extra="forbid")


Nanoseconds = Annotated[int, Field(ge=0, description="Unix time in nanoseconds.")]


class Problem(Answer):
    """An error, as RFC 9457 has it."""

    type: str = "about:blank"
    title: str
    status: int
    detail: str = Field(description="What is wrong with which input, and what to do.")


class Rate(Answer):
    """Verdicts, counted. The rate is of those that were judged; what is open has not passed or failed."""

    state: State = Field(description="The gravest of what was counted: `pass` where nothing is worse.")
    judged: int = Field(description="Passed or failed.")
    passed: int
    failed: int
    open: int = Field(description="Judged in part: neither passed nor failed.")
    errored: int
    skipped: int
    advice: int = Field(description="Of scores that have no verdict, such as metrics.")
    rate: float | None = Field(
        description="Share of the verdicts that are fail; null where nothing was judged."
    )
    low: float | None = Field(description="Lower end of the rate's 95 % Wilson interval.")
    high: float | None = Field(description="Upper end of the rate's 95 % Wilson interval.")
    open_rate: float | None = Field(
        description="Share that is open of those that passed, failed or are open; null where there is none."
    )
    words: str = Field(description="The rate in words: `fails 2 of 143, 57 open`.")


class Bucket(Answer):
    """The verdicts of one layer in one stretch of time."""

    layer: Layer
    start_ns: Nanoseconds
    rate: Rate


class Reason(Answer):
    """Why outcomes of a layer have no verdict."""

    layer: Layer
    outcome: Literal["open", "skipped", "errored"]
    cause: Cause | None = Field(description="Null of errors, and of outcomes that an earlier version stored.")
    reason: str = Field(description="The cause without its count.")
    cause_words: str = Field(description="The cause with its count: `57 answers hold a value that …`.")
    times: int
    share: float = Field(description="Of all outcomes of all layers.")
    detail: str = Field(description="Of the newest: what its cause is about, else its explanation.")
    trace_id: str = Field(description="Of the newest.")


class NewRelease(Answer):
    """A release whose first run is in the window."""

    release: str
    first_ns: Nanoseconds = Field(description="Start of the stretch of time with its first run.")


class Overview(Answer):
    """Whether anything is wrong now."""

    state: State = Field(description="The gravest of all layers; `open` before `pass`.")
    sentence: str = Field(description="Whether anything is wrong: which layer fails most, or what is open.")
    start_ns: Nanoseconds
    end_ns: Nanoseconds
    bucket_ns: int
    layers: dict[Layer, Rate]
    timeline: list[Bucket]
    starts_ns: list[int] = Field(description="Of the stretches of the window, in order of time.")
    rates: dict[Layer, list[Rate | None]] = Field(
        description="Of each stretch; null where the layer has no outcome."
    )
    run_counts: list[int] = Field(description="Runs in each stretch.")
    runs: int
    releases: list[NewRelease] = Field(description="In order of time; not those that the window begins with.")
    not_judged: list[Reason]


class UsagePoint(Answer):
    """The traces that began in a stretch of time."""

    start_ns: Nanoseconds
    traces: int
    failed: int
    errored: int
    open: int
    passed: int
    p50_s: float = Field(description="Of their latency.")
    p95_s: float
    tokens: int
    cost_usd: float | None = Field(description="Of those whose price is known; null where none is.")


class UsageShare(Answer):
    """The runs of an agent with a model."""

    agent: str
    model: str
    runs: int
    tokens: int
    cost_usd: float | None = Field(description="Null where no price is known.")


class Usage(Answer):
    """States, latency, tokens and cost over time, and tokens and cost by agent and model."""

    start_ns: Nanoseconds
    end_ns: Nanoseconds
    bucket_ns: int
    points: list[UsagePoint] = Field(description="In order of time; stretches without a trace are left out.")
    shares: list[UsageShare] = Field(description="The most tokens first.")


class Projects(Answer):
    """The projects that a reader's token reads."""

    projects: list[str]
    every: bool = Field(description="Whether the token reads all of them at once.")


class Values(Answer):
    """The commonest values of a dimension."""

    dimension: str
    values: list[str]


class Measured(Answer):
    """One score over one stretch of time and one group of values."""

    values: list[str] = Field(description="Of the dimensions it is split by, in their order.")
    start_ns: Nanoseconds
    rate: Rate
    mean: float | None
    raw_mean: float | None
    raw_p50: float | None
    raw_p95: float | None
    unit: str


class Timeline(Answer):
    """One score over time."""

    layer: Layer
    score: str
    by: list[str]
    bucket_ns: int
    points: list[Measured]


class CohortRates(Answer):
    """The verdicts of one value of a dimension."""

    value: str
    state: State = Field(description="What its layers are together.")
    layers: dict[Layer, Rate]


class Cohorts(Answer):
    """Verdicts by the values of one dimension, the commonest values."""

    dimension: str
    values: list[CohortRates]


class FailureCluster(Answer):
    """Failed runs of one cause."""

    id: str
    name: str
    layer: Layer
    state: ClusterState
    note: str
    link: str
    cause: str = Field(description="Suspected cause; empty where no rule explains the failure.")
    fix: str = Field(description="Suggested fix; empty where no rule explains the failure.")
    judge_fix: str = Field(description="Fix that a judge suggests where no rule does; empty without one.")
    judge_model: str = Field(description="Model of the judge that was queried; empty where none was.")
    kind: str = Field(description="Kind of the taxonomy; empty where no rule explains the failure.")
    category: str
    runs: int
    runs_before: int = Field(description="Runs in the window of the same length before.")
    first_seen_ns: Nanoseconds
    last_seen_ns: Nanoseconds
    new_since: str = Field(description="The newest release, where no run failed so before it; else empty.")
    fingerprints: list[str]
    trend: list[int] = Field(description="Runs in each of 24 parts of the window, oldest first.")


class FailureList(Answer):
    """Clusters of failures, those with most runs first."""

    start_ns: Nanoseconds
    end_ns: Nanoseconds
    failures: list[FailureCluster]


class FailureShare(Answer):
    """How many of the runs of one value of a dimension are in a cluster, with the 95 % Wilson interval."""

    value: str
    failing: int
    runs: int
    low: float
    high: float


class FailingRun(Answer):
    """A run of a cluster, with the words of its failure."""

    trace_id: str
    run_span_id: str
    span_id: str
    sample: str
    agent: str
    model: str
    release: str
    failed_ns: Nanoseconds


class FailurePage(Answer):
    """One cluster with its shares by dimension, and runs that represent it."""

    failure: FailureCluster
    rule: str = Field(description="An alert on it, as keys of the configuration.")
    shares: dict[str, list[FailureShare]]
    runs: list[FailingRun]


class Outcome(Answer):
    """A verdict, or why there is none."""

    state: State | None = Field(description="Null of advice and of metrics, which have no verdict.")
    verdict: State = Field(description="The same as `state`; `open` of advice and of metrics as well.")
    value: float | None = Field(description="Null where nothing was scored.")
    explanation: str
    cause: Cause | None = Field(description="Why it is open or skipped; null where it is neither.")
    cause_words: str = Field(description="The cause in words, as of one run; empty where there is none.")
    detail: str = Field(description="What the cause is about: the value, the rule, the step; else empty.")


class RunRow(Answer):
    """One run in a list of traces."""

    span_id: str
    agent: str
    model: str
    task: str = Field(description="The first 500 characters; empty where the trace does not say.")
    answer: str = Field(description="The first 500 characters; empty where the trace does not say.")
    tokens: int | None = Field(description="Null where the trace does not say.")
    cost_usd: float | None = Field(description="Null where tokens or their price are not known.")
    state: State = Field(description="What its layers are together.")
    reason: str = Field(description="Why it is not passed: the gravest layer and what it says; else empty.")
    layers: dict[Layer, Outcome]
    layer_states: dict[Layer, State] = Field(description="The same as states.")


class TraceRow(Answer):
    """One trace in a list."""

    trace_id: str
    state: State = Field(description="What its runs are together.")
    project: str
    start_ns: Nanoseconds
    end_ns: Nanoseconds
    spans: int
    tokens: int | None = Field(description="Of all runs; null where the trace does not say.")
    cost_usd: float | None = Field(description="Of the runs whose price is known; null where none is.")
    feedback: dict[str, int] = Field(description="How many ratings users gave, by their kind.")
    defects: list[str]
    runs: list[RunRow]


class TraceList(Answer):
    """Traces, in the requested order."""

    traces: list[TraceRow]
    next: str | None = Field(
        description="Give it as `cursor` for the rows that follow; null where there are none."
    )
    command: str = Field(description="The command that lists the same.")


class FacetValue(Answer):
    """A value of a dimension, with the traces that have it."""

    value: str
    traces: int


class Facet(Answer):
    """The commonest values of a dimension within a list of traces."""

    dimension: str
    values: list[FacetValue]


class Facets(Answer):
    """How many traces of a list have each state, and each of the commonest values of dimensions."""

    traces: int
    states: dict[State, int]
    facets: list[Facet]


class Claim(Answer):
    """A claim within the answer: its characters are `answer[start:end]`."""

    start: int
    end: int
    verdict: ClaimVerdict
    why: str
    span_id: str | None = Field(description="Of the output it was held against.")
    found: str | None = Field(description="The text there that it was bound to.")
    cell: int | None = Field(description="Where in that output the value begins, in characters.")


class Fact(Answer):
    """One fact behind a verdict."""

    what: str
    claim: ClaimVerdict | None = Field(
        description="Of a claim of the answer, what the outputs say of it; `uncertain` is open."
    )
    span_id: str | None
    recorded: str | None
    replayed: str | None


class Score(Answer):
    """One score with its evidence."""

    layer: Layer
    name: str
    span_id: str
    outcome: Outcome = Field(description="What counts: a person's verdict, where one settled it.")
    settled_by: str = Field(description="Whose verdict it is, where a person settled it; else empty.")
    settled: Outcome | None = Field(description="What the evaluators say, where a person settled it.")
    raw: float | None
    unit: str
    evidence: list[Fact]


class VersionedScore(Score):
    """A score with where it came from."""

    id: str
    evaluator: str
    version: str


class ScoreList(Answer):
    """Scores of a trace, in order of time."""

    scores: list[VersionedScore]


class ScanVerdict(StrEnum):
    """What the scanners decide about code before it runs."""

    ALLOW = "allow"
    REVIEW = "review"
    DENY = "deny"


class CodeRow(Answer):
    """A snippet in a list."""

    trace_id: str
    run_span_id: str
    snippet_id: str
    started_ns: Nanoseconds
    language: str
    source: str = Field(description="The first 2,000 characters.")
    executed: bool
    verdict: str
    rules: list[str]


class CodeList(Answer):
    """Snippets, newest first."""

    snippets: list[CodeRow]
    next: str | None


class ReplayRow(Answer):
    """A replayed snippet in a list."""

    trace_id: str
    run_span_id: str
    snippet_id: str
    started_ns: Nanoseconds
    ended: str
    agrees: bool | None = Field(description="With the record; null where nothing could be compared.")
    difference: str
    wall_s: float
    peak_memory_bytes: int


class ReplayList(Answer):
    """Replayed snippets, newest first."""

    replays: list[ReplayRow]
    next: str | None


class Finding(Answer):
    """What a scanner says of a line."""

    rule: str
    severity: str
    verdict: str
    line: int
    message: str
    remedy: str


class Attempt(Answer):
    """Something the code tried that concerns its boundary, as the kernel saw it."""

    kind: str
    target: str
    allowed: bool
    count: int


class Recorded(Answer):
    """What the trace has of a snippet's run."""

    ended: str | None = Field(description="The failure class; null where the trace does not say.")
    printed: str | None
    value: str | None
    error: str | None


class Replayed(Answer):
    """What running the snippet again gave."""

    ended: str
    printed: str
    value: str | None
    error: str | None
    agrees: bool | None
    difference: str | None
    flaky: bool
    wall_s: float
    peak_memory_bytes: int
    attempts: list[Attempt]
    files: dict[str, int]


_REFUSED = "By which guard, budget or guardrail it was refused, and by which rule; null where it was not."


class Call(Answer):
    """A tool call."""

    span_id: str | None
    tool: str
    arguments: str
    result: str | None
    error: str | None
    refused: str | None = Field(description=_REFUSED)


class Snippet(Answer):
    """A piece of code of a step."""

    id: str
    span_id: str
    language: str
    executed: bool
    lines: list[str] = Field(description="The source, line by line, as HTML that is coloured and escaped.")
    cut: bool
    scan: str
    findings: list[Finding]
    recorded: Recorded | None
    replayed: Replayed | None
    not_replayed: str | None
    refused: str | None = Field(description=_REFUSED)


class Step(Answer):
    """One turn of the agent."""

    number: int
    kind: str
    span_id: str
    start_ns: int
    end_ns: int
    thought: str
    snippets: list[Snippet]
    calls: list[Call]
    error: str | None
    refused: str | None = Field(description=_REFUSED)


class Run(Answer):
    """One agent at work."""

    span_id: str
    agent: str
    task: str | None
    answer: str | None
    ending: str
    start_ns: int
    end_ns: int
    cohort: dict[str, str]
    tokens: int | None
    state: State = Field(description="What its layers are together.")
    sentence: str = Field(description="Why it is in this state, as a person would say it.")
    reason_layer: Layer | None = Field(
        description="The layer that the sentence is about; null where it passed."
    )
    verdict: State = Field(description="The same as `state`, under its earlier name.")
    replay: str = Field(description="How the replay went, in one sentence.")
    layers: list[Score]
    scores: list[Score]
    claims: list[Claim]
    steps: list[Step] = Field(description="In order of time; of a long run some.")
    step_count: int = Field(description="How many steps the run has.")
    step_of_span: dict[str, int] = Field(
        description="Number of the step of each span that a fact or a claim names."
    )


class SpanRow(Answer):
    """One span of the tree, without its attributes."""

    span_id: str
    parent_id: str | None
    name: str
    kind: str
    start_ns: int
    end_ns: int
    error: str | None
