"""A user's function as an evaluator: attached by rule, run in the sandbox; its failure is never a score of 0.

What the function is given for a span: as `completion` the output of the span (for a run, its answer), as
`target` what the configuration names, and as variables `input`, `task`, `answer`, `code` (snippets with their
outcome), `outputs` (what executions returned), `attributes`, and those of the configuration.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from spanproof.evaluators.custom.attach import Attach
from spanproof.evaluators.custom.checks import BuiltIn
from spanproof.evaluators.custom.function import UNIT, Call, Function, Returned, evaluate, normalise_number
from spanproof.evaluators.custom.in_process import InProcess
from spanproof.evaluators.evaluator import Cost, Evaluator, Needs, get_replay_need
from spanproof.evaluators.model import RunEvidence
from spanproof.evaluators.returned import read_outputs
from spanproof.evaluators.runs import list_run_spans
from spanproof.sandbox import (
    JsonValue,
    Sandbox,
    SandboxBroken,
    SandboxUnavailable,
    UnsupportedFixtures,
    UnsupportedLanguage,
)
from spanproof.trace import Cause, Errored, Judgement, Label, Layer, Outcome, Run, Scored, Skipped, Span

log = logging.getLogger(__name__)

CUSTOM = "custom:"
"""What the names of these evaluators start with."""

VARIABLES = frozenset(("input", "task", "answer", "code", "outputs", "attributes"))
"""What a function is given beside `completion` and `target`, by name; see docs/evaluators.md."""

MAX_SPANS = 200
"""Spans of one run that are judged at most: the rest is skipped."""


@dataclass(frozen=True, slots=True)
class Wiring:
    """How a function is attached, and what becomes of its score.

    Attributes:
        target: what the completion is held against; a text that starts with `attribute:` takes that attribute
            of the span, or of its run.
        pass_at: the worst score that passes, in the function's range; None gives advice without a verdict.
    """

    layer: Layer = Layer.CORRECTNESS
    attach: Attach = field(default_factory=Attach)
    target: JsonValue = None
    variables: Mapping[str, JsonValue] = field(default_factory=dict)
    pass_at: float | None = None


class CustomEvaluator(Evaluator):
    """One function of the user's. Its scores bear its name."""

    cost = Cost.SANDBOX

    def __init__(
        self, function: Function | BuiltIn | InProcess, sandbox: Sandbox | None, wiring: Wiring = Wiring()
    ) -> None:
        """Attach a function, or a built-in check or a function of this process, which need no sandbox.

        Raises:
            EvaluatorError: it cannot be called, or the target is nothing to compare with.
        """
        function.check(VARIABLES | wiring.variables.keys())
        if isinstance(function, BuiltIn):
            function.check_target(wiring.target)
            self.cost = Cost.RULES
        self.name = f"{CUSTOM}{function.name}"
        self.version = function.version
        self.layer = wiring.layer
        self._function = function
        self._sandbox = sandbox
        self._wiring = wiring
        self._warned: set[str] = set()

    def judge(self, evidence: RunEvidence, so_far: Sequence[Judgement]) -> list[Judgement]:
        """Judge the spans of this run that the rule fits."""
        attach, run = self._wiring.attach, evidence.run
        if not attach.takes(run, self.name):
            return []
        spans = [span for span in list_run_spans(evidence.trace, run) if attach.fits(span, run)]
        judged, rest = spans[:MAX_SPANS], spans[MAX_SPANS:]
        outcomes: list[Outcome] = [*self._evaluate_spans(evidence, judged)]
        outcomes += [
            Skipped(f"only the first {MAX_SPANS} spans of a run are judged", Cause.TOO_MANY_SPANS)
        ] * len(rest)
        return [
            Judgement(self.layer, self._function.name, span.span_id, outcome, self.name, self.version)
            for span, outcome in zip(spans, outcomes, strict=True)
        ]

    def needs(self, run: Run) -> Needs:
        """Return what it needs: a function, the outcome of the code; a built-in check, nothing."""
        if isinstance(self._function, BuiltIn):
            return Needs.NOTHING
        if self._wiring.attach.takes(run, self.name):
            return get_replay_need(run)
        return Needs.NOTHING

    def _evaluate_spans(self, evidence: RunEvidence, spans: Sequence[Span]) -> list[Outcome]:
        function = self._function
        calls = [self._build_call(evidence, span) for span in spans]
        if not isinstance(function, Function):
            return [self._to_outcome(function.evaluate(call)) for call in calls]
        if self._sandbox is None:
            return [Skipped("there is no sandbox to run the evaluator in", Cause.NOT_CONFIGURED)] * len(spans)
        try:
            returned = _evaluate_with_retry(function, calls, self._sandbox)
        except (SandboxUnavailable, UnsupportedLanguage, UnsupportedFixtures) as reason:
            self._record_warning(str(reason))
            return [Skipped(f"the evaluator cannot run: {reason}", Cause.NOT_CONFIGURED)] * len(spans)
        except SandboxBroken as failure:
            return [Errored("SandboxBroken", str(failure))] * len(spans)
        return [self._to_outcome(answer) for answer in returned]

    def _record_warning(self, reason: str) -> None:
        """Log once what every score of this evaluator will say."""
        if reason not in self._warned:
            self._warned.add(reason)
            log.warning("evaluator %r cannot run, its scores are skipped: %s", self._function.name, reason)

    def _to_outcome(self, returned: Returned) -> Outcome:
        if returned.skipped:
            return Skipped(returned.skipped)
        if returned.score is None:
            return Errored(returned.error_type or "Error", returned.message)
        label = None
        if self._wiring.pass_at is not None:
            if isinstance(self._function, BuiltIn):
                bounds = UNIT
            else:
                bounds = self._function.range
            enough = normalise_number(self._wiring.pass_at, bounds)
            label = Label.PASS if returned.score >= enough else Label.FAIL
        explanation = returned.explanation or f"{self._function.name} says so"
        return Scored(returned.score, label, explanation, raw=returned.raw)

    def _build_call(self, evidence: RunEvidence, span: Span) -> Call:
        run = evidence.run
        answer = run.answer.value if run.answer else None
        is_run = span.span_id == run.span_id
        output = span.output.value if span.output else span.observation
        outputs: list[JsonValue] = [own.text for own in read_outputs(evidence).own]
        attributes = {key: _to_json(value) for key, value in span.attributes.items()}
        variables: dict[str, JsonValue] = {
            "input": span.input.value if span.input else None,
            "task": run.task,
            "answer": answer,
            "code": _list_snippets(evidence, None if is_run else span.span_id),
            "outputs": outputs,
            "attributes": attributes,
        }
        assert variables.keys() == VARIABLES
        completion = answer if is_run and answer is not None else output
        return Call(completion, self._get_target(evidence, span), variables | dict(self._wiring.variables))

    def _get_target(self, evidence: RunEvidence, span: Span) -> JsonValue:
        target = self._wiring.target
        if not (isinstance(target, str) and target.startswith("attribute:")):
            return target
        key = target.removeprefix("attribute:")
        run = evidence.trace.by_id[evidence.run.span_id]
        return _to_json(span.attributes.get(key, run.attributes.get(key)))


def _evaluate_with_retry(function: Function, calls: Sequence[Call], sandbox: Sandbox) -> list[Returned]:
    """Evaluate the calls, and once more where the sandbox itself failed."""
    try:
        return evaluate(function, calls, sandbox)
    except SandboxBroken:
        return evaluate(function, calls, sandbox)


def _list_snippets(evidence: RunEvidence, span_id: str | None) -> list[JsonValue]:
    """Return the snippets of a span, or of the whole run."""
    return [
        {
            "language": snippet.language.value,
            "source": snippet.source,
            "executed": snippet.executed,
            "outcome": str(evidence.account.get_snippet_outcome(snippet).failure_class)
            if snippet.executed
            else None,
        }
        for snippet in evidence.run.snippets
        if span_id in (None, snippet.span_id)
    ]


def _to_json(value: object) -> JsonValue:
    """Return an attribute as JSON: bytes and the like as their text."""
    if isinstance(value, tuple | list):
        return [_to_json(item) for item in value]
    if isinstance(value, bool | int | float | str | None):
        return value
    return str(value)
