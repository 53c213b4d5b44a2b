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


def _check_dimensions(cohort: Mapping[str, str]) -> Mapping[str, str]:
    known = [dimension.name for dimension in fields(Cohort)]
    if unknown := sorted(cohort.keys() - set(known)):
        raise ValueError(f"no dimension of a cohort is named {unknown[0]!r}; known: {', '.join(known)}")
    return cohort


def _check_price(price: Any) -> Any:
    """Return a price as it is written; raises ValueError with the form that it should have."""
    numbers = price if isinstance(price, list | tuple) and len(price) == 2 else ()
    if not numbers or not all(isinstance(each, int | float) and 0 <= each < inf for each in numbers):
        got = "" if isinstance(price, str | int | float) else f", got {price!r}"
        form = "a price is two numbers, US dollars per million tokens in and out, as in [0.4, 1.6]"
        raise ValueError(f"{form}{got}")
    return price


ModelPrice = Annotated[tuple[float, float], BeforeValidator(_check_price)]
ModelName = Annotated[str, BeforeValidator(str)]
Cohorted = Annotated[Mapping[str, str], AfterValidator(_check_dimensions)]


class Sample(Section):
    """A share of the runs that are judged; the first entry that concerns a layer of a run decides."""

    share: float = Field(ge=0, le=1, description="From 0 (nothing) to 1 (all).")
    layer: Layer | None = Field(default=None, description="Only this layer; none means all.")
    cohort: Cohorted = Field(
        default={}, description="Only runs with these values, by dimension of the cohort."
    )
    by: SampleBy = Field(
        default=SampleBy.TRACE,
        description="`trace` draws whole traces, `layer` each layer of a trace for itself.",
    )


class GroundednessModel(Section):
    """A classifier of your own for the sentences that groundedness leaves open; see docs/judge.md."""

    path: Path | None = Field(
        default=None,
        description="A directory with `model.onnx` and `tokenizer.json`; nothing is downloaded. Needs the"
        " extra `groundedness-model`. At start a probe refuses a model that is of no use.",
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
        description="Most tokens it reads at once; longer outputs are read in pieces.",
    )


class Evaluation(Section):
    """How traces are evaluated and their results written."""

    workers: int = Field(
        default=2,
        ge=1,
        le=256,
        description="Processes that evaluate, each one trace at a time; with `evaluation.replay` no more than"
        " `sandbox.workers`.",
    )
    attempts: int = Field(
        default=3,
        ge=1,
        le=100,
        description="How often a trace is tried before its scores are errored and it becomes a dead letter.",
    )
    deadline_s: Seconds = Field(
        default=10.0,
        description="Longest time to evaluate one trace; what takes longer is tried again without a replay."
        " Time for which the process or its programs wait for a processor does not count, up to 6 times as"
        " much.",
    )
    max_spans: int = Field(
        default=50_000,
        ge=1,
        description="Most spans of a trace that is evaluated; one with more is stored, and its scores are"
        " *errored* with their number.",
    )
    layer_budget_s: Seconds = Field(
        default=5.0,
        description="Processor time for judging one layer of a trace; what is over it is skipped with that"
        " reason. Where `spanproof serve` evaluates, rules are interrupted.",
    )
    replay: bool = Field(
        default=True,
        description="Whether to run snippets again in the sandbox; without it they are scanned only.",
    )
    fixtures: Path | None = Field(
        default=None,
        description="A YAML file of what replays find, by cohort: files, a database, recorded HTTP, packages,"
        " seed, clock; see docs/replay.md.",
    )
    packages_from_trace: tuple[str, ...] = Field(
        default=KNOWN_PACKAGES,
        description="Packages that a trace may have built to replay its code in, by their names in the index;"
        " `*` allows any, none switches it off; see docs/environments.md.",
    )
    repeat_share: float = Field(
        default=0.0,
        ge=0,
        le=1,
        description="Share of the traces that are replayed again under another seed and clock, to find flaky"
        " snippets; where a step disagrees with its record, that is done in any case.",
    )
    without_code: tuple[Cohorted, ...] = Field(
        default=(),
        description="Cohorts that should hold no code, by dimension: their runs get `boundary.no_code`.",
    )
    lint: bool = Field(
        default=False, description="Whether to lint Python snippets with ruff; its findings are advice."
    )
    structure: bool = Field(
        default=False,
        description="Whether to measure the code that a run leaves: size, complexity, duplication, dead code,"
        " growth and broken APIs; advice.",
    )
    layers: tuple[Layer, ...] = Field(default=tuple(Layer), description="Layers that are judged.")
    sampling: tuple[Sample, ...] = Field(
        default=(), description="Which runs are judged, where judging all of them costs too much."
    )
    synonyms: Mapping[str, tuple[str, ...]] = Field(
        default={},
        description="Your own words for a state, by its usual name: `{shipped: [on the truck]}`; answers and"
        " outputs that use either are held to mean the same.",
    )
    groundedness_model: GroundednessModel = Field(
        default=GroundednessModel(),
        description="A local ONNX model for answers that groundedness leaves open.",
    )
    without_rules: tuple[GroundednessRule, ...] = Field(
        default=(),
        description="Rules of groundedness that are switched off, by the ids in docs/layers/groundedness.md;"
        " what only such a rule decides stays to the learned choice.",
    )
    store_batch: int = Field(default=256, ge=1, description="Most traces written to the store in one batch.")
    store_every_s: Seconds = Field(
        default=5.0,
        description="Longest time that spans and an evaluated trace wait for their batch; after a pause of so"
        " long they are written at once.",
    )


class SandboxLimits(Section):
    """Bounds of the code that is run again, and of the tests of cases."""

    wall_s: float | None = Field(
        default=None,
        gt=0,
        le=3600,
        description="Seconds that a step may take; none: 10, or twice what the slowest step took on record,"
        " up to 30. A trace still has `evaluation.deadline_s`.",
    )
    memory_bytes: int = Field(
        default=Limits().memory_bytes, ge=MIB, description="Memory of a program and all that it starts."
    )
    processes: int = Field(
        default=Limits().processes,
        ge=1,
        le=32_768,
        description="Processes and threads that a program may have at once.",
    )
    output_bytes: int = Field(
        default=Limits().output_bytes, ge=1, description="What is kept of stdout and of stderr each."
    )
    output_kill_bytes: int = Field(
        default=Limits().output_kill_bytes, ge=1, description="A program that prints more is stopped."
    )
    disk_bytes: int = Field(
        default=Limits().disk_bytes, ge=MIB, description="What a program may write into files."
    )
    open_files: int = Field(
        default=Limits().open_files, ge=16, le=65_536, description="Open files of one process."
    )


class SandboxChoice(Section):
    """Where snippets run again."""

    backend: str = Field(
        default="jail",
        min_length=1,
        description="A backend's name; `spanproof doctor` lists which can run here.",
    )
    workers: int = Field(
        default=2,
        ge=1,
        le=256,
        description="Programs run at once; `spanproof serve` shares them out to its evaluating processes.",
    )
    settings: dict[str, str] = Field(
        default={}, description="The backend's own settings by name; docs/sandbox.md lists them."
    )
    limits: SandboxLimits = Field(
        default=SandboxLimits(), description="Bounds of each program; docs/sandbox.md has the table."
    )


class JudgeChoice(Section):
    """A model that judges what rules leave open: an endpoint and a model are enough."""

    endpoint: str = Field(
        default="",
        description="Address of an OpenAI-compatible server, `http://localhost:11434/v1`; empty:"
        " `OPENAI_BASE_URL`, or OpenAI's own. `OPENAI_API_KEY` is the key, where the server needs one.",
    )
    model: str = Field(
        default="",
        description="A dated snapshot of a model, `gpt-4.1-mini-2025-04-14`; empty: no judge.",
    )
    rubrics: Path | None = Field(
        default=None,
        description="Directory of rubrics (`*.md`) beside the shipped ones, or in their place by name.",
    )
    timeout_s: Seconds = Field(default=30.0, description="Longest wait for one reply.")
    at_once: int = Field(default=4, ge=1, le=256, description="Questions at once.")
    per_minute: int | None = Field(default=None, ge=1, description="Most questions a minute; none: no limit.")
    dollars_per_hour: float | None = Field(default=None, ge=0, description="Budget; none means no limit.")
    dollars_per_hour_and_cohort: float | None = Field(
        default=None, ge=0, description="Budget of one agent of one project; none means no limit."
    )
    dollars_per_day: float | None = Field(
        default=None, ge=0, description="Budget of a day (UTC); none means no limit."
    )
    dollars_per_trace: float | None = Field(
        default=None, ge=0, description="Budget of one trace; none means no limit."
    )
    prices: Mapping[ModelName, ModelPrice] = Field(
        default={},
        description="US dollars per million tokens, by model, in and out (`{NAME: [0.4, 1.6]}`): of the"
        " judge, and of the agents, for the metric `trajectory.cost_usd`.",
    )
    price_file: Path | None = Field(
        default=None,
        description="A YAML file of prices by provider, which extends the shipped list; `prices` come first.",
    )
    recordings: Path | None = Field(
        default=None,
        description="Directory that keeps replies by the content of their prompt, the newest 200,000. None:"
        " `judge/replies` in `wal.directory` for `spanproof serve`, else none are kept.",
    )
    shared: Path | None = Field(
        default=None,
        description="Directory in which the limits are shared: they hold for all processes that name it, and"
        " across restarts. None: `judge` in `wal.directory` for `spanproof serve`, else the process alone.",
    )
    beside_share: float = Field(
        default=0.0,
        ge=0,
        le=1,
        description="Share of the runs settled by execution that the judge scores too, as advice, for"
        " `spanproof report judge-vs-execution`.",
    )
    verify_passed: float = Field(
        default=0.0,
        ge=0,
        le=1,
        description="Share of the traces of which the judge rules on what the sources checked, too: on passed"
        " answers, and on the checked sentences of open ones. Always the same traces.",
    )
    least_precision: float = Field(
        default=LEAST_PRECISION,
        ge=0,
        le=1,
        description="A judge fails nothing on a layer where the lower end of its precision's 95 % interval is"
        " below this, from 30 labelled fails on; see docs/judge.md.",
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
    """Which spans an evaluator judges; what is left out fits every span."""

    kind: SpanKind | None = Field(
        default=SpanKind.AGENT, description="Kind of the span; `AGENT` is the run itself. None: any."
    )
    name: str = Field(
        default="*",
        description="Name of the span, or of the agent or tool it is; `*` and `?` as in file names.",
    )
    attributes: Mapping[str, str] = Field(
        default={}, description="What attributes must be, by key; `*` and `?` as in file names."
    )
    cohort: Cohorted = Field(default={}, description="Only runs with these values, by dimension.")
    share: float = Field(default=1.0, ge=0, le=1, description="Share of the traces that fit.")
    tags: tuple[str, ...] = Field(
        default=(), description="One of these must be among the span's `spanproof.eval.tags`."
    )


class OwnEvaluator(Section):
    """A function of your own that scores, or a built-in check; see docs/evaluators.md."""

    name: str = Field(
        pattern=r"^[a-z][a-z0-9_]{0,63}$", description="Name of its score: lower case, digits and `_`."
    )
    file: Path | None = Field(default=None, description="A `.py`, `.ts` or `.js` file with `main`.")
    source: str = Field(default="", description="The code itself, instead of a file.")
    function: str = Field(
        default="",
        description="`package.module:name`, a function that `@evaluator` marks; it runs in the service's own"
        " process.",
    )
    check: Check | None = Field(
        default=None,
        description="A built-in check of the completion against the target, instead of code.",
    )
    grading_criteria: str = Field(
        default="", description="What a model grades the spans by, in your words, instead of code."
    )
    model: str = Field(default="", description="Of `grading_criteria`: the model; else `judge.model`.")
    ignore_case: bool = Field(default=False, description="Of a check of text: upper and lower case alike.")
    tolerance: float = Field(
        default=0.0, ge=0, description="Of the check `numeric`: how far the number may be off."
    )
    language: str = Field(
        default="", description="`python`, `typescript` or `javascript`; follows from the file's suffix."
    )
    packages: tuple[str, ...] = Field(
        default=(), description="What it imports: `name==1.2.3` from pip, `name@1.2.3` from npm."
    )
    range: tuple[float, float] = Field(
        default=(0.0, 1.0),
        description="Its worst score and its best, `[1, 5]` or `[10, 0]`; the value is where the score is"
        " between them.",
    )
    layer: Layer = Field(default=Layer.CORRECTNESS, description="Layer its score belongs to.")
    attach: AttachRule = Field(default=AttachRule(), description="Which spans it judges.")
    target: JsonValue = Field(
        default=None, description="What is handed in as `target`; `attribute:KEY` takes it from the span."
    )
    variables: Mapping[str, JsonValue] = Field(default={}, description="Further keyword arguments.")
    pass_at: float | None = Field(
        default=None, description="Worst score that passes, in the range; none gives advice."
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
        given = (
            self.file is not None,
            bool(self.source),
            bool(self.function),
            self.check is not None,
            bool(self.grading_criteria),
        )
        if sum(given) != 1:
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
