"""The engine: everything that is found about one trace, from detection to scores.

Takes a `Trace`; gives a `TraceEvaluation`. The order is fixed: every snippet of the trace is scanned before
anything runs, then each run is replayed, then the evaluators judge, the cheapest first. One that raises costs
its own judgement and no other; a sandbox that cannot run costs the replay and is the reason given. The same
trace gives the same scores with the same ids, whenever and wherever it is evaluated.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import asdict, replace
from typing import TYPE_CHECKING, Final

from spanproof.evaluators.budget import BudgetSpent, LayerBudgets
from spanproof.evaluators.detect import list_snippets
from spanproof.evaluators.evaluator import LAYER_RULES, Cost, Evaluator, Needs, list_by_cost
from spanproof.evaluators.model import (
    ApiReport,
    NoReplay,
    NoReplayCause,
    Replay,
    RunEvaluation,
    RunEvidence,
    TraceEvaluation,
    UserHints,
)
from spanproof.evaluators.outcomes.account import build_account
from spanproof.evaluators.outcomes.grounding import list_settled_judgements
from spanproof.evaluators.redact import Redactor
from spanproof.evaluators.replay import FixtureBook
from spanproof.evaluators.replay.limits import DEFAULT_LIMITS, ReplayLimits
from spanproof.evaluators.runner import Runner
from spanproof.evaluators.runs import list_runs
from spanproof.evaluators.sampling import Sampling
from spanproof.evaluators.scoring import build_scores
from spanproof.sandbox import Sandbox
from spanproof.sandbox.policy import Policy
from spanproof.sandbox.scanners.model import Scan
from spanproof.sandbox.scanners.pipeline import Pipeline
from spanproof.semconv.spanproof import SCOPE_PREFIX
from spanproof.trace import (
    OPEN_VALUE,
    Cause,
    Errored,
    Judgement,
    Layer,
    Outcome,
    Run,
    Scored,
    Skipped,
    Snippet,
    Span,
    SpanKind,
    Trace,
    trace_of,
)

if TYPE_CHECKING:
    from spanproof.evaluators.casetests import CaseTests

_NOT_NEEDED: Final = "nothing that is judged of this run needs it"


class Engine:
    """Evaluates traces. Thread-safe, as its sandbox and its pipeline promise to be."""

    def __init__(
        self,
        *,
        pipeline: Pipeline,
        sandbox: Sandbox | None,
        replay_disabled_reason: str = "",
        evaluators: Sequence[Evaluator] = (),
        layers: Collection[Layer] = tuple(Layer),
        sampling: Sampling | None = None,
        hints: UserHints | None = None,
        fixtures: FixtureBook | None = None,
        repeat_share: float = 0.0,
        packages_from_trace: Sequence[str] = (),
        layer_budget_s: float | None = None,
        limits: ReplayLimits = DEFAULT_LIMITS,
    ) -> None:
        """Put an engine together.

        Args:
            pipeline: scans every snippet before anything runs.
            sandbox: where runs are replayed; None evaluates without a replay. The caller closes it.
            replay_disabled_reason: why there is no sandbox, as users will read it.
            evaluators: those beside the built-in layers; they run in the order of their cost.
            layers: those to judge; of the others nothing is said.
            sampling: which runs of them; None is all.
            hints: what the user says beside the traces: synonyms, prices.
            fixtures: what replays find, by cohort.
            repeat_share: share of the traces that are replayed twice, to find what is flaky.
            packages_from_trace: names of packages that a trace may have built to be replayed in.
            layer_budget_s: processor time for judging each layer of a trace; None is no limit. What is over
                it is skipped with that reason.
            limits: bounds of the code that is run.
        """
        self._pipeline = pipeline
        self._runner = Runner(
            sandbox,
            replay_disabled_reason,
            repeat_share,
            packages_from_trace=packages_from_trace,
            limits=limits,
        )
        self._evaluators = list_by_cost(
            evaluator for evaluator in (*LAYER_RULES, *evaluators) if evaluator.layer in layers
        )
        self._sampling = sampling or Sampling()
        self._hints = hints or UserHints()
        self._fixtures = fixtures or FixtureBook()
        self._layer_budget_s = layer_budget_s

    @property
    def sandbox(self) -> Sandbox | None:
        """Where runs are replayed and tests run; None evaluates without."""
        return self._runner.sandbox

    def start_background_builds(self) -> None:
        """Let runs not wait for the environment that their trace names: the caller evaluates them again."""
        if self._runner.environments is not None:
            self._runner.environments.in_background = True

    def evaluate(
        self,
        trace: Trace,
        tests: Mapping[str, CaseTests] | None = None,
        fixtures: FixtureBook | None = None,
        seed: int = 0,
    ) -> TraceEvaluation:
        """Return everything found about this trace. Spans of our own evaluators are not evaluated.

        Args:
            trace: a whole one.
            tests: of the cases its runs are, by the run's span id; they run after everything else.
            fixtures: what its replays find, in place of the engine's own.
            seed: of everything random in its replays, where the fixtures fix none.
        """
        others = _list_own_spans(trace)
        if not others:
            return TraceEvaluation(trace, (), ())
        judged = trace if len(others) == len(trace.spans) else trace_of(others)
        snippets = list_snippets(judged)
        found = list_runs(judged, snippets)
        scans, policies = self._run_scans(judged, found)
        of_cases, book = tests or {}, replace(fixtures or self._fixtures, seed=seed)
        budgets = LayerBudgets(self._layer_budget_s)
        runs = tuple(
            self._evaluate_run(
                judged,
                run,
                _list_earlier_runs(run, found),
                _list_called_runs(run, found),
                scans,
                policies,
                of_cases.get(run.span_id),
                book,
                budgets,
            )
            for run in found
        )
        bearing = {snippet.span_id for snippet in snippets}
        return TraceEvaluation(
            judged, runs, tuple(span.span_id for span in judged.spans if span.span_id in bearing)
        )

    def evaluate_altered(self, trace: Trace, altered: Run) -> RunEvaluation:
        """Return everything found about a run of a trace that is not as its spans have it.

        Args:
            trace: a whole one.
            altered: the run that takes the place of the one with its span.
        """
        runs = list_runs(trace, list_snippets(trace))
        found = tuple(altered if run.span_id == altered.span_id else run for run in runs)
        scans, policies = self._run_scans(trace, found)
        return self._evaluate_run(
            trace,
            altered,
            _list_earlier_runs(altered, found),
            _list_called_runs(altered, found),
            scans,
            policies,
            None,
            self._fixtures,
            LayerBudgets(self._layer_budget_s),
        )

    def _run_scans(self, trace: Trace, runs: Sequence[Run]) -> tuple[dict[str, Scan], dict[str, Policy]]:
        """Return what the scanners say of each snippet, and the policy that holds for it, by its id."""
        gates = {
            snippet.id: self._pipeline.with_subject(build_subject(trace, run, snippet))
            for run in runs
            for snippet in run.snippets
        }
        scans = {
            snippet.id: gates[snippet.id].scan(snippet.language.value, snippet.source)
            for run in runs
            for snippet in run.snippets
        }
        return scans, {snippet_id: gate.policy for snippet_id, gate in gates.items()}

    def _evaluate_run(
        self,
        trace: Trace,
        run: Run,
        earlier: tuple[Run, ...],
        called: tuple[Run, ...],
        scans: Mapping[str, Scan],
        policies: Mapping[str, Policy],
        tests: CaseTests | None,
        fixtures: FixtureBook,
        budgets: LayerBudgets,
    ) -> RunEvaluation:
        own = {snippet.id: scans[snippet.id] for snippet in run.snippets}
        left_out = self._sampling.get_left_out(run)
        needed = self._get_needs(run, left_out) | (Needs.REPLAY if tests is not None else Needs.NOTHING)
        replay: Replay | NoReplay = NoReplay(_NOT_NEEDED, NoReplayCause.NOT_NEEDED)
        apis: Mapping[str, ApiReport] = {}
        if needed and (reason := self._runner.find_weakness(run, policies)) is not None:
            replay = NoReplay(reason)
        elif Needs.REPLAY in needed:
            replay, apis = self._runner.run_replay(trace, run, own, fixtures, with_apis=Needs.APIS in needed)
        tested = self._runner.run_case_tests(run, tests, replay, fixtures) if tests is not None else None
        account = build_account(trace, run, own, replay)
        evidence = RunEvidence(
            trace, run, own, replay, apis, policies, tested, self._hints, earlier, account, called
        )
        quoted = [snippet for turn in (*earlier, run) for snippet in turn.snippets]
        redactor = Redactor(quoted, {snippet.id: scans[snippet.id] for snippet in quoted})
        judgements = [
            _with_outcome(judgement, redactor.build_masked_outcome(_with_awaited_root(evidence, judgement)))
            for judgement in self._list_judgements(evidence, left_out, budgets)
        ]
        return RunEvaluation(run, own, replay, build_scores(evidence, judgements))

    def _get_needs(self, run: Run, left_out: Mapping[Layer, str]) -> Needs:
        """Return what the evaluators that judge this run need."""
        needed = Needs.NOTHING
        for evaluator in self._evaluators:
            if evaluator.layer not in left_out:
                needed |= evaluator.needs(run)
        return needed

    def _list_judgements(
        self, evidence: RunEvidence, left_out: Mapping[Layer, str], budgets: LayerBudgets
    ) -> list[Judgement]:
        """Return what every evaluator says; of two judgements about the same, the costlier one's."""
        found: dict[tuple[Layer, str, str, str | None], Judgement] = {}
        for evaluator in self._evaluators:
            reason = left_out.get(evaluator.layer)
            if reason is None:
                judgements = _run_within_budget(evaluator, evidence, tuple(found.values()), budgets)
            elif evaluator in LAYER_RULES:
                judgements = [
                    _build_judgement(
                        evaluator, evaluator.layer.value, evidence.run, Skipped(reason, Cause.NOT_SAMPLED)
                    )
                ]
            else:
                judgements = []
            found |= {
                (judgement.layer, judgement.name, judgement.span_id, judgement.snippet_id): judgement
                for judgement in judgements
            }
        return list(found.values())


def _with_outcome(judgement: Judgement, outcome: Outcome) -> Judgement:
    return judgement if outcome is judgement.outcome else replace(judgement, outcome=outcome)


def _with_awaited_root(evidence: RunEvidence, judgement: Judgement) -> Outcome:
    """Return the outcome; open, not skipped, where the answer may be on a root that has not come."""
    outcome, run = judgement.outcome, evidence.run
    waits = run.span_id in evidence.trace.orphans and judgement.name == Layer.GROUNDEDNESS.value
    if waits and isinstance(outcome, Skipped) and outcome.cause is Cause.NO_ANSWER:
        sentence = "the root of this trace has not come: the answer may be on it"
        return Scored(OPEN_VALUE, None, sentence, cause=Cause.ROOT_MISSING)
    return outcome


def build_subject(trace: Trace, run: Run, snippet: Snippet) -> dict[str, str]:
    """Return what policy overrides are matched by: the cohort, the agent, the tool that took the code."""
    return {
        **asdict(run.cohort),
        "agent": run.cohort.agent or run.name,
        "language": snippet.language.value,
        "tool": _get_tool(trace, run, snippet),
    }


def _get_tool(trace: Trace, run: Run, snippet: Snippet) -> str:
    """Return the tool that ran the code or was called for it; empty where the agent itself runs it."""
    request = _REQUESTED.match(snippet.path)
    span = trace.by_id.get(snippet.span_id)
    if span is not None and span.tool is None and request is not None:
        calls = [message.tool_calls for message in span.output_messages[int(request[1]) :][:1]]
        return next((call.name for listed in calls for call in listed[int(request[2]) :][:1]), "")
    while span is not None and span.span_id != run.span_id:
        if span.tool is not None:
            return span.tool.name
        span = trace.by_id.get(trace.parents[span.span_id] or "")
    return ""


# How detection names the place of a tool call that a model requested.
_REQUESTED: Final = re.compile(r"output_messages\[(\d{1,6})\]\.tool_calls\[(\d{1,6})\]")


def _run_within_budget(
    evaluator: Evaluator, evidence: RunEvidence, so_far: Sequence[Judgement], budgets: LayerBudgets
) -> list[Judgement]:
    """Return the judgements of one evaluator, or the one that its layer's budget is spent."""
    layer = evaluator.layer
    reason = budgets.find_exhaustion(layer)
    if reason is None:
        try:
            with budgets.charge(layer, interrupt=evaluator.cost is Cost.RULES):
                return run_evaluator(evaluator, evidence, so_far)
        except BudgetSpent:
            reason = budgets.find_exhaustion(layer)
    return [
        _build_judgement(
            evaluator, _get_score_name(evaluator), evidence.run, Skipped(reason or "", Cause.BUDGET_SPENT)
        )
    ]


def run_evaluator(
    evaluator: Evaluator, evidence: RunEvidence, so_far: Sequence[Judgement]
) -> list[Judgement]:
    """Return the judgements of one evaluator; what it raises becomes its `Errored` judgement."""
    try:
        judgements = evaluator.judge(evidence, so_far)
        if evaluator in LAYER_RULES and evaluator.layer is Layer.GROUNDEDNESS:
            judgements = list_settled_judgements(evidence.account, judgements)
    except Exception as failure:  # noqa: BLE001 - one evaluator's trouble must not take the others along
        outcome = Errored(type(failure).__name__, str(failure) or "no message")
        return [_build_judgement(evaluator, _get_score_name(evaluator), evidence.run, outcome)]
    return judgements


def _get_score_name(evaluator: Evaluator) -> str:
    """Return the name of the score that speaks for all of an evaluator."""
    return evaluator.layer.value if evaluator in LAYER_RULES else evaluator.name


def _build_judgement(evaluator: Evaluator, name: str, run: Run, outcome: Outcome) -> Judgement:
    return Judgement(evaluator.layer, name, run.span_id, outcome, evaluator.name, evaluator.version)


def _list_earlier_runs(run: Run, runs: Sequence[Run]) -> tuple[Run, ...]:
    """Return the turns before a run: those beside it that ended before it began, in order."""
    others = [
        other
        for other in runs
        if other is not run
        and other.parent_span_id == run.parent_span_id
        and 0 < other.end_ns <= run.start_ns
    ]
    return tuple(sorted(others, key=lambda other: other.start_ns))


def _list_called_runs(run: Run, runs: Sequence[Run]) -> tuple[Run, ...]:
    """Return the runs that a run called, at any depth, in the order of the trace."""
    called = {run.span_id}
    remaining = [other for other in runs if other is not run]
    while below := [other for other in remaining if other.parent_span_id in called]:
        called |= {other.span_id for other in below}
        remaining = [other for other in remaining if other not in below]
    return tuple(other for other in runs if other is not run and other.span_id in called)


def _list_own_spans(trace: Trace) -> list[Span]:
    """Return the trace's spans but those of our evaluators and what is below: scores are not scored."""
    own = {
        span.span_id
        for span in trace.spans
        if span.kind is SpanKind.EVALUATOR and span.scope.startswith(SCOPE_PREFIX)
    }
    if own:
        own |= {below.span_id for root in list(own) for below in trace.descendants(root)}
    return [span for span in trace.spans if span.span_id not in own]
