"""What one test does with agents: it runs them here or on a suite, judges the runs, and checks assertions."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import Any, Final

from opentelemetry import trace
from opentelemetry.exporter.otlp.proto.common.trace_encoder import encode_spans
from opentelemetry.sdk.trace import ReadableSpan, TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor, SpanExporter, SpanExportResult

from spanproof.agent_process.child import build_agent, run_agent
from spanproof.evaluators.model import TraceEvaluation
from spanproof.experiments import (
    CaseStatus,
    Experiment,
    ExperimentError,
    Settings,
    Tools,
    build_module_agent,
    run_experiment,
)
from spanproof.experiments.notebook import get_new_folder, open_engine
from spanproof.gate import (
    CaseTrials,
    GateError,
    GateReport,
    OpenPolicy,
    Verdict,
    evaluate_assertions,
    parse_assertion,
    parse_open_policy,
)
from spanproof.instrumentors import (
    instrument_langchain,
    instrument_openai_agents,
    instrument_smolagents,
    uninstrument,
)
from spanproof.instrumentors.spans.ids import UnseededIdGenerator
from spanproof.semconv import openinference
from spanproof.suites import SuiteError
from spanproof.suites.requirements import Attempt, Finding, list_failure_requirements
from spanproof.trace import Score
from spanproof.trace.dialects import read_traces
from spanproof.trace.otlp import decode_protobuf

_HOW_TO_SETTLE: Final = (
    "what is open has not passed; a judge (docs/judge.md) or a review settles it, and open='ignore' in the"
    " marker leaves it out"
)


@dataclass(frozen=True, slots=True)
class Plan:
    """What the marker of a test says.

    Attributes:
        suite: folder of the suite that the agent is run on; empty where the test runs the agent itself.
        agent: `package.module:name`; it may be given to `AgentSession.run_suite` instead.
        assert_: assertions of the gate; without any no layer may fail or be open, or every case must pass.
        open: what open verdicts count as, as of `--open`.
        trials, tools, jobs, seed, timeout_s: of a suite, see `spanproof.experiments.run`.
        folder: where the results of a suite are written; empty: a new one below `.spanproof/experiments`.
        backend: the sandbox in which code is replayed; where it cannot run, nothing is replayed.
    """

    suite: str | Path = ""
    agent: str = ""
    assert_: tuple[str, ...] = ()
    open: str = OpenPolicy.NOT_PASSED
    trials: int = 1
    tools: str = Tools.LIVE
    jobs: int = 2
    seed: int = 0
    timeout_s: float = 120.0
    folder: str | Path = ""
    backend: str = "jail"

    @property
    def open_policy(self) -> OpenPolicy:
        """What open verdicts count as."""
        return OpenPolicy(self.open)


def read_marker(arguments: Mapping[str, Any]) -> Plan:
    """Return what the arguments of a marker say.

    Raises:
        ValueError: an argument is unknown or not what it must be; names it.
    """
    names = [field.name for field in fields(Plan)]
    if unknown := sorted(set(arguments) - set(names)):
        raise ValueError(f"no argument {unknown[0]!r} is known; known are {', '.join(names)}")
    asserted = arguments.get("assert_") or ()
    if isinstance(asserted, str):
        texts = (asserted,)
    else:
        texts = tuple(asserted)
    plan = Plan(**{**arguments, "assert_": tuple(_format_assertion(text) for text in texts)})
    if plan.agent and not plan.suite:
        raise ValueError("agent goes with suite; without a suite the test itself runs the agent")
    try:
        Tools(plan.tools)
        parse_open_policy("the marker", plan.open)
        for text in plan.assert_:
            parse_assertion(text)
    except GateError as problem:
        raise ValueError(str(problem)) from problem
    return plan


class AgentSession:
    """The fixture `spanproof`: the agents that one test runs."""

    def __init__(self, plan: Plan) -> None:
        """Begin a session in which nothing is run yet."""
        self.plan = plan
        self.experiment: Experiment | None = None
        self._spans: list[ReadableSpan] = []
        self._judged: tuple[TraceEvaluation, ...] | None = None

    @contextmanager
    def tracing(self) -> Iterator[None]:
        """Trace every framework for as long as the context is open."""
        provider = _get_provider()
        _exporter.receivers.append(self._add_spans)
        for instrument in (instrument_smolagents, instrument_langchain, instrument_openai_agents):
            with suppress(ImportError):
                instrument(provider)
        try:
            yield
        finally:
            uninstrument()
            _exporter.receivers.remove(self._add_spans)

    def run(self, agent: Any, task: str, **inputs: Any) -> Any:
        """Run an agent here and return its answer.

        Args:
            agent: a factory, an agent of a framework, or a function that takes the task.
            task: what it is given.
            inputs: further arguments by name.
        """
        before = len(self._spans)
        answer = run_agent(build_agent(agent), task, inputs)
        if len(self._spans) == before:
            _write_run_span(task, answer)
        return answer

    def run_suite(self, agent: str = "", **changes: Any) -> Experiment:
        """Run an agent on the suite of the marker, in processes of its own, and return the experiment.

        Args:
            agent: `package.module:name`; else that of the marker.
            changes: other fields of `Plan`.

        Raises:
            ExperimentError, SuiteError: the agent or the suite cannot be used.
        """
        plan = replace(self.plan, **{**changes, "agent": agent or self.plan.agent})
        if not plan.suite:
            raise ExperimentError("name a suite: @pytest.mark.spanproof(suite=…)")
        settings = Settings(plan.trials, plan.jobs, plan.seed, plan.timeout_s, Tools(plan.tools))
        folder = Path(plan.folder) if plan.folder else get_new_folder()
        target = build_module_agent(plan.agent)
        with open_engine(plan.backend) as engine:
            found = run_experiment(target, Path(plan.suite), folder, engine, settings)
        self.experiment = replace(found, open_policy=plan.open_policy)
        return self.experiment

    @property
    def evaluations(self) -> tuple[TraceEvaluation, ...]:
        """The runs of this test so far, judged by all layers."""
        if self._judged is None:
            self._judged = self._evaluate_runs()
        return self._judged

    @property
    def scores(self) -> tuple[Score, ...]:
        """All scores of the runs so far."""
        return tuple(score for evaluation in self.evaluations for score in evaluation.scores)

    def describe_problem(self) -> str:
        """Return why the test does not hold; empty where it does.

        A suite whose agent is named and that the test did not run is run first.
        """
        if self.plan.suite and self.experiment is None:
            try:
                self.run_suite()
            except (ExperimentError, SuiteError) as problem:
                return str(problem)
        if self.experiment is not None:
            return self._describe_experiment_problem(self.experiment)
        if self.plan.assert_:
            return self._describe_assertion_problem(self.scores)
        return self._describe_layer_problem()

    def describe_runs(self) -> str:
        """Return what was found, for the report of the test."""
        if self.experiment is not None:
            table = self.experiment.to_table()
            rows = (f"{row.verdict.value:12} {row.name}  {row.reason}".rstrip() for row in table.rows)
            facts = (f"{name}: {value}" for name, value in table.all_facts)
            return "\n".join([table.headline, *facts, *rows, f"results: {self.experiment.folder}"])
        runs = [(evaluation, run) for evaluation in self.evaluations for run in evaluation.runs]
        lines = [
            f"{run.run.name}  trace {evaluation.trace.trace_id}: {_format_verdicts(run.scores)}"
            for evaluation, run in runs
        ]
        return "\n".join(filter(None, [*lines, self.plan.open_policy.remark]))

    def _describe_experiment_problem(self, experiment: Experiment) -> str:
        if self.plan.assert_:
            from spanproof.experiments.scores import list_scores

            return self._describe_assertion_problem(list_scores(experiment))
        failing = [f"{row.name}: {row.reason}" for row in experiment.to_table().failing]
        stopped = [experiment.stopped] if experiment.stopped else []
        how = [_HOW_TO_SETTLE] if experiment.count(CaseStatus.OPEN) else []
        if not experiment.passed:
            return "\n".join([*stopped, *failing, *how])
        return ""

    def _describe_assertion_problem(self, scores: Sequence[Score | CaseTrials]) -> str:
        report: GateReport = evaluate_assertions(
            [parse_assertion(text) for text in self.plan.assert_], scores, open_policy=self.plan.open_policy
        )
        lines: list[str] = []
        is_open = False
        for assertion in report.assertions:
            if assertion.verdict is not Verdict.PASSED:
                lines.append(f"{assertion.verdict.value}: {assertion.assertion}: {assertion.reason}")
                lines += [f"  {case.agent}: {case.explanation}" for case in assertion.failing[:5]]
                is_open |= assertion.open > 0
        return "\n".join([*lines, *([_HOW_TO_SETTLE] if is_open else [])])

    def _describe_layer_problem(self) -> str:
        """Return which layers fail, are open or errored; a test that ran no agent does not hold."""
        runs = [run for evaluation in self.evaluations for run in evaluation.runs]
        if not runs:
            return "no agent left a run: nothing was judged"
        found = [
            requirement.evaluate(Attempt(run)) for run in runs for requirement in list_failure_requirements()
        ]
        if self.plan.open_policy in (OpenPolicy.PASS, OpenPolicy.IGNORE):
            found = [finding for finding in found if not finding.is_open]
        missed = [finding for finding in found if finding.holds is not True]
        lines = [_format_finding(finding) for finding in missed]
        return "\n".join([*lines, *([_HOW_TO_SETTLE] if any(finding.is_open for finding in missed) else [])])

    def _add_spans(self, spans: Sequence[ReadableSpan]) -> None:
        self._spans += spans
        self._judged = None

    def _evaluate_runs(self) -> tuple[TraceEvaluation, ...]:
        if not self._spans:
            return ()
        request = decode_protobuf(encode_spans(self._spans).SerializeToString())
        with open_engine(self.plan.backend) as engine:
            return tuple(map(engine.evaluate, read_traces([request])))


def _format_finding(finding: Finding) -> str:
    """Return a layer with why it does not hold: it fails, it is open, or it was not judged."""
    if finding.layer:
        layer = finding.layer.value
    else:
        layer = finding.requirement
    if finding.holds is False:
        return f"{layer}: {finding.reason}"
    return f"{layer} is {'open' if finding.is_open else 'not judged'}: {finding.reason}"


class _Exporter(SpanExporter):
    """Gives finished spans to the tests that run."""

    def __init__(self) -> None:
        self.receivers: list[Any] = []

    def export(self, spans: Sequence[ReadableSpan]) -> SpanExportResult:
        for receive in self.receivers:
            receive(spans)
        return SpanExportResult.SUCCESS


_exporter = _Exporter()
_joined: list[TracerProvider] = []


def _get_provider() -> TracerProvider:
    """Return the process's provider with our exporter: agents that trace themselves use it, too."""
    current = trace.get_tracer_provider()
    if not isinstance(current, TracerProvider):
        current = TracerProvider(id_generator=UnseededIdGenerator())
        trace.set_tracer_provider(current)
    if current not in _joined:
        _joined.append(current)
        current.add_span_processor(SimpleSpanProcessor(_exporter))
    return current


def _write_run_span(task: str, answer: object) -> None:
    """Record the run of a function that traced nothing itself, so that its answer can be judged."""
    attributes = {
        openinference.SPAN_KIND: "AGENT",
        openinference.INPUT_VALUE: task,
        openinference.OUTPUT_VALUE: str(answer),
    }
    _get_provider().get_tracer("spanproof.testing").start_span("agent", attributes=attributes).end()


def _format_assertion(text: str) -> str:
    """Return an assertion; one over cases without a quantifier is over all of them."""
    head = text.partition(" where ")[0]
    is_aggregate = "(" in head or head.startswith(("sandbox_pass_rate", "code_presence"))
    if is_aggregate or " for " in head:
        return text
    return text.replace(head, f"{head} for all cases", 1)


def _format_verdicts(scores: Sequence[Score]) -> str:
    from spanproof.gate.query import get_label

    return ", ".join(
        f"{score.layer.value} {get_label(score)}" for score in scores if score.name == score.layer.value
    )
