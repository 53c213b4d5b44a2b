"""The sections of the configuration about evaluation: what is judged, by which evaluators, and where."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields
from math import inf
from pathlib import Path
from typing import Annotated, Any, Self

from pydantic import AfterValidator, BeforeValidator, Field, JsonValue, field_validator, model_validator

from spanproof.config.intake import MIB
from spanproof.config.section import Seconds, Section
from spanproof.evaluators.check_kinds import Check
from spanproof.evaluators.groundedness_rules import GroundednessRule
from spanproof.evaluators.judge_bounds import LEAST_PRECISION
from spanproof.evaluators.known_packages import KNOWN_PACKAGES
from spanproof.evaluators.prices import Price, load_prices
from spanproof.evaluators.sampling import SampleBy
from spanproof.sandbox import Limits
from spanproof.trace import Cohort, Layer, SpanKind


def _parse_dimensions(cohort: Mapping[str, str]) -> Mapping[str, str]:
    names = [dimension.name for dimension in fields(Cohort)]
    if unknown := sorted(cohort.keys() - set(names)):
        raise ValueError(f"no dimension of a cohort is named {unknown[0]!r}; known: {', '.join(names)}")
    return cohort


def _parse_price(price: Any) -> Any:
    """Return a price as it is written; raises ValueError with the form that it should have."""
    numbers = price if isinstance(price, list | tuple) and len(price) == 2 else ()
    if not numbers or not all(isinstance(number, int | float) and 0 <= number < inf for number in numbers):
        got = "" if isinstance(price, str | int | float) else f", got {price!r}"
        form = "a price is two numbers, US dollars per million tokens in and out, as in [0.4, 1.6]"
        raise ValueError(f"{form}{got}")
    return price


ModelPrice = Annotated[tuple[float, float], BeforeValidator(_parse_price)]
ModelName = Annotated[str, BeforeValidator(str)]
Cohorted = Annotated[Mapping[str, str], AfterValidator(_parse_dimensions)]


class Sample(Section):
    """A share of the runs to judge; the first entry that matches a layer of a run decides."""

    share: float = Field(ge=0, le=1, description="Share from 0 (none) to 1 (all).")
    layer: Layer | None = Field(default=None, description="Only this layer; null means all.")
    cohort: Cohorted = Field(
        default={}, description="Only runs with these values, by dimension of the cohort."
    )
    by: SampleBy = Field(
        default=SampleBy.TRACE,
        description="`trace` draws whole traces, `layer` draws each layer of a trace separately.",
    )


class GroundednessModel(Section):
    """Your own classifier for the sentences that groundedness leaves open; see docs/judge.md."""

    path: Path | None = Field(
        default=None,
        description="Directory with `model.onnx` and `tokenizer.json`; nothing is downloaded. Needs the"
        " extra `groundedness-model`. At start, a probe rejects a model that does not separate"
        " right from wrong answers.",
    )
    accept: float = Field(
        default=0.9, ge=0.5, le=1, description="At or above this probability a sentence is true."
    )
    reject: float = Field(
        default=0.05, ge=0, lt=0.5, description="At or below this probability a sentence is false."
    )
    max_tokens: int = Field(
        default=4096,
        ge=64,
        le=131_072,
        description="Most tokens per input; longer outputs are read in pieces.",
    )


class Evaluation(Section):
    """How traces are evaluated and their results written."""

    workers: int = Field(
        default=2,
        ge=1,
        le=256,
        description="Processes that evaluate, each one trace at a time; with `evaluation.replay`, no more"
        " than `sandbox.workers`.",
    )
    attempts: int = Field(
        default=3,
        ge=1,
        le=100,
        description="How often to try a trace before its scores are *errored* and it becomes a dead letter.",
    )
    deadline_s: Seconds = Field(
        default=10.0,
        description="Longest time to evaluate one trace; a slower one is tried again without a replay. Time"
        " that the process or its programs wait for a processor does not count, up to six times"
        " the deadline.",
    )
    max_spans: int = Field(
        default=50_000,
        ge=1,
        description="Largest number of spans of a trace that is evaluated; a larger trace is stored, and its"
        " scores are *errored* with the number.",
    )
    layer_budget_s: Seconds = Field(
        default=5.0,
        description="Processor time for one layer of a trace; a layer that takes longer is skipped with that"
        " reason. In `spanproof serve`, its rules are interrupted.",
    )
    replay: bool = Field(
        default=True,
        description="Whether to replay snippets in the sandbox; without it, they are only scanned.",
    )
    fixtures: Path | None = Field(
        default=None,
        description="YAML file with the environment of replays, by cohort: files, a database, recorded HTTP,"
        " packages, seed, clock; see docs/replay.md.",
    )
    packages_from_trace: tuple[str, ...] = Field(
        default=KNOWN_PACKAGES,
        description="Packages that may be built to replay a trace's code, by their names in the index; `*`"
        " allows any, an empty list none; see docs/environments.md.",
    )
    repeat_share: float = Field(
        default=0.0,
        ge=0,
        le=1,
        description="Share of the traces that are replayed a second time under another seed and clock, to"
        " find flaky snippets. If a step disagrees with its record, this is always done.",
    )
    without_code: tuple[Cohorted, ...] = Field(
        default=(),
        description="Cohorts that should contain no code, by dimension: their runs get `boundary.no_code`.",
    )
    lint: bool = Field(
        default=False, description="Whether to lint Python snippets with ruff; its findings are advice."
    )
    structure: bool = Field(
        default=False,
        description="Whether to measure the code that a run leaves: size, complexity, duplication, dead"
        " code, growth and broken APIs; advice.",
    )
    layers: tuple[Layer, ...] = Field(default=tuple(Layer), description="Layers to judge.")
    sampling: tuple[Sample, ...] = Field(
        default=(), description="Which runs to judge, if judging all of them costs too much."
    )
    synonyms: Mapping[str, tuple[str, ...]] = Field(
        default={},
        description="Your own words for a state, by its usual name: `{shipped: [on the truck]}`. In answers"
        " and outputs, they mean the same.",
    )
    groundedness_model: GroundednessModel = Field(
        default=GroundednessModel(),
        description="A local ONNX model for answers that groundedness leaves open.",
    )
    without_rules: tuple[GroundednessRule, ...] = Field(
        default=(),
        description="Rules of groundedness to disable, by the ids in docs/layers/groundedness.md; what only"
        " such a rule decides stays open.",
    )
    store_batch: int = Field(
        default=256, ge=1, description="Largest number of traces written to the store in one batch."
    )
    store_every_s: Seconds = Field(
        default=5.0,
        description="Longest time that spans and an evaluated trace wait for their batch; after a pause of"
        " this length, they are written at once.",
    )


class SandboxLimits(Section):
    """Limits of the code that is replayed, and of the tests of cases."""

    wall_s: float | None = Field(
        default=None,
        gt=0,
        le=3600,
        description="Seconds that a step may take; null: 10, or twice the recorded time of the slowest step,"
        " up to 30. `evaluation.deadline_s` still applies to the trace.",
    )
    memory_bytes: int = Field(
        default=Limits().memory_bytes,
        ge=MIB,
        description="Memory of a program and everything that it starts.",
    )
    processes: int = Field(
        default=Limits().processes,
        ge=1,
        le=32_768,
        description="Processes and threads that a program may have at once.",
    )
    output_bytes: int = Field(
        default=Limits().output_bytes,
        ge=1,
        description="Bytes of stdout that are kept, and as many of stderr.",
    )
    output_kill_bytes: int = Field(
        default=Limits().output_kill_bytes, ge=1, description="Output at which a program is stopped."
    )
    disk_bytes: int = Field(
        default=Limits().disk_bytes, ge=MIB, description="Bytes that a program may write to files."
    )
    open_files: int = Field(
        default=Limits().open_files, ge=16, le=65_536, description="Open files of one process."
    )


class SandboxChoice(Section):
    """Where snippets are replayed."""

    backend: str = Field(
        default="jail",
        min_length=1,
        description="A backend's name; `spanproof doctor` lists those that can run on this machine.",
    )
    workers: int = Field(
        default=2,
        ge=1,
        le=256,
        description="Programs that run at once; `spanproof serve` divides them among its evaluating"
        " processes.",
    )
    settings: dict[str, str] = Field(
        default={}, description="The backend's own settings by name; docs/sandbox.md lists them."
    )
    limits: SandboxLimits = Field(
        default=SandboxLimits(), description="Limits of each program; docs/sandbox.md has the table."
    )


class JudgeChoice(Section):
    """A model that judges what rules leave open; an endpoint and a model are enough."""

    endpoint: str = Field(
        default="",
        description="Address of an OpenAI-compatible server, `http://localhost:11434/v1`; empty:"
        " `OPENAI_BASE_URL`, or OpenAI's own. If the server needs a key, it is `OPENAI_API_KEY`.",
    )
    model: str = Field(
        default="",
        description="A dated snapshot of a model, `gpt-4.1-mini-2025-04-14`; empty: no judge.",
    )
    rubrics: Path | None = Field(
        default=None,
        description="Directory of rubrics (`*.md`) in addition to the shipped ones; a rubric of the same"
        " name replaces the shipped one.",
    )
    timeout_s: Seconds = Field(default=30.0, description="Longest wait for one reply.")
    at_once: int = Field(default=4, ge=1, le=256, description="Concurrent calls of the judge.")
    per_minute: int | None = Field(
        default=None, ge=1, description="Most calls of the judge per minute; null: no limit."
    )
    dollars_per_hour: float | None = Field(default=None, ge=0, description="Budget per hour; null: no limit.")
    dollars_per_hour_and_cohort: float | None = Field(
        default=None, ge=0, description="Budget per hour of one agent of one project; null: no limit."
    )
    dollars_per_day: float | None = Field(
        default=None, ge=0, description="Budget per day (UTC); null: no limit."
    )
    dollars_per_trace: float | None = Field(
        default=None, ge=0, description="Budget per trace; null: no limit."
    )
    prices: Mapping[ModelName, ModelPrice] = Field(
        default={},
        description="US dollars per million input and output tokens, by model (`{NAME: [0.4, 1.6]}`): for"
        " the judge, and for the agents in the metric `trajectory.cost_usd`.",
    )
    price_file: Path | None = Field(
        default=None,
        description="YAML file of prices by provider, which extends the shipped list; `prices` take"
        " precedence.",
    )
    recordings: Path | None = Field(
        default=None,
        description="Directory that caches replies by the content of their prompt, the newest 200,000."
        " Default: `judge/replies` in `wal.directory` for `spanproof serve`; otherwise no cache.",
    )
    shared: Path | None = Field(
        default=None,
        description="Directory that shares the limits between all processes that name it, and across"
        " restarts. Default: `judge` in `wal.directory` for `spanproof serve`; otherwise each"
        " process has its own limits.",
    )
    beside_share: float = Field(
        default=0.0,
        ge=0,
        le=1,
        description="Share of the runs settled by execution that the judge also scores, as advice, for"
        " `spanproof report judge-vs-execution`.",
    )
    verify_passed: float = Field(
        default=0.0,
        ge=0,
        le=1,
        description="Share of the traces in which the judge also rules on checked sentences, of passed"
        " answers and of open ones. The same traces are always chosen.",
    )
    least_precision: float = Field(
        default=LEAST_PRECISION,
        ge=0,
        le=1,
        description="From 30 labelled fails on, a judge fails nothing on a layer while the lower end of its"
        " precision's 95 % interval is below this; see docs/judge.md.",
    )

    @model_validator(mode="after")
    def _check_price_file(self) -> Self:
        self.load_prices()
        return self

    def load_prices(self) -> dict[str, Price | tuple[float, float]]:
        """Return the prices that are configured: those of the file, and `prices` in their place.

        Raises:
            PriceError: the file cannot be read, or is in another form.
        """
        listed = load_prices(self.price_file) if self.price_file is not None else {}
        return {**listed, **self.prices}


class AttachRule(Section):
    """Which spans an evaluator judges; an omitted key matches every span."""

    kind: SpanKind | None = Field(
        default=SpanKind.AGENT, description="Kind of the span; `AGENT` is the run itself. Null: any."
    )
    name: str = Field(
        default="*",
        description="Name of the span, or of its agent or tool; `*` and `?` as in file names.",
    )
    attributes: Mapping[str, str] = Field(
        default={}, description="Required values of attributes, by key; `*` and `?` as in file names."
    )
    cohort: Cohorted = Field(default={}, description="Only runs with these values, by dimension.")
    share: float = Field(default=1.0, ge=0, le=1, description="Share of the matching traces.")
    tags: tuple[str, ...] = Field(
        default=(), description="The span's `spanproof.eval.tags` must contain one of these."
    )


class OwnEvaluator(Section):
    """Your own scoring function, or a built-in check; see docs/evaluators.md."""

    name: str = Field(
        pattern=r"^[a-z][a-z0-9_]{0,63}$", description="Name of its score: lower case, digits and `_`."
    )
    file: Path | None = Field(default=None, description="A `.py`, `.ts` or `.js` file with `main`.")
    source: str = Field(default="", description="The code itself, instead of a file.")
    function: str = Field(
        default="",
        description="`package.module:name`, a function with the decorator `@evaluator`; it runs in the"
        " service's own process.",
    )
    check: Check | None = Field(
        default=None,
        description="A built-in check of the completion against the target, instead of code.",
    )
    grading_criteria: str = Field(
        default="", description="Criteria in your words by which a model grades the spans, instead of code."
    )
    model: str = Field(default="", description="For `grading_criteria`: the model; default: `judge.model`.")
    ignore_case: bool = Field(default=False, description="For a check of text: ignore case.")
    tolerance: float = Field(
        default=0.0, ge=0, description="For the check `numeric`: how far the number may differ."
    )
    language: str = Field(
        default="", description="`python`, `typescript` or `javascript`; default: by the file's suffix."
    )
    packages: tuple[str, ...] = Field(
        default=(), description="Packages that it imports: `name==1.2.3` from pip, `name@1.2.3` from npm."
    )
    range: tuple[float, float] = Field(
        default=(0.0, 1.0),
        description="Its worst score and its best, `[1, 5]` or `[10, 0]`; the value from 0 to 1 is the"
        " position of the score between them.",
    )
    layer: Layer = Field(default=Layer.CORRECTNESS, description="Layer its score belongs to.")
    attach: AttachRule = Field(default=AttachRule(), description="Which spans it judges.")
    target: JsonValue = Field(
        default=None, description="The argument `target`; `attribute:KEY` takes it from the span."
    )
    variables: Mapping[str, JsonValue] = Field(default={}, description="Further keyword arguments.")
    pass_at: float | None = Field(
        default=None, description="Worst score that passes, in the range; null: the score is advice."
    )
    timeout_s: Seconds = Field(default=5.0, description="Longest time for one span.")

    @field_validator("variables")
    @classmethod
    def _check_variables(cls, variables: Mapping[str, JsonValue]) -> Mapping[str, JsonValue]:
        if twice := sorted(variables.keys() & {"completion", "target"}):
            raise ValueError(f"{twice[0]} is given apart: it is no further variable")
        return variables

    @model_validator(mode="after")
    def _check_source(self) -> Self:
        settings = (
            self.file is not None,
            bool(self.source),
            bool(self.function),
            self.check is not None,
            bool(self.grading_criteria),
        )
        if sum(settings) != 1:
            raise ValueError("give one of `file`, `source`, `function`, `check` and `grading_criteria`")
        if self.model and not self.grading_criteria:
            raise ValueError("`model` is that of `grading_criteria`")
        if self.grading_criteria and self.range != (0.0, 1.0):
            raise ValueError("a model grades from 0 to 1: leave out `range`")
        return self

    @model_validator(mode="after")
    def _check_range(self) -> Self:
        low, high = min(self.range), max(self.range)
        if not -inf < low < high < inf:
            raise ValueError(f"range: give two numbers that differ, as in [0, 10], got {list(self.range)}")
        if self.pass_at is not None and not low <= self.pass_at <= high:
            raise ValueError(f"pass_at must be from {low:g} to {high:g}, got {self.pass_at:g}")
        return self
