"""Blocks: how often a guardrail stopped something in a run.

In: the run's spans. Out: an advisory metric of the boundary layer. A guardrail leaves its mark whether it
stops anything or not: a run without one has no such metric.
"""

from __future__ import annotations

from collections.abc import Iterator

from spanproof.evaluators.layers.common import format_count
from spanproof.evaluators.model import RunEvidence
from spanproof.evaluators.refusals import find_blocking_rules, is_stopping
from spanproof.evaluators.runs import list_run_spans
from spanproof.evaluators.scores import Unit
from spanproof.semconv import spanproof as ours
from spanproof.trace import Scored, SpanKind

BLOCKS_AT_HALF = 1
"""Where `blocks_score` is 0.5."""


def evaluate_blocks(evidence: RunEvidence) -> Scored | None:
    """Return on how many of the run's spans a guardrail stopped something; None of a run without one."""
    found = list(_iter_checks(evidence))
    if not found:
        return None
    blocked = [name for name, stopped in found if stopped]
    sentence = f"{format_count(len(found), 'check')} of guardrails stopped nothing"
    if blocked:
        names = ", ".join(list(dict.fromkeys(blocked))[:3])
        sentence = f"{format_count(len(blocked), 'block')} of {format_count(len(found), 'check')}: {names}"
    value = BLOCKS_AT_HALF / (BLOCKS_AT_HALF + len(blocked))
    return Scored(value, None, sentence, raw=float(len(blocked)), unit=Unit.BLOCKS)


def _iter_checks(evidence: RunEvidence) -> Iterator[tuple[str, bool]]:
    """Yield what each check was of, and whether it stopped that."""
    for span in list_run_spans(evidence.trace, evidence.run):
        if ours.GUARD_VERDICT in span.attributes:
            yield next(((rule, True) for rule in find_blocking_rules(span)), (span.name, False))
        elif span.kind is SpanKind.GUARDRAIL:
            yield span.name, is_stopping(span)
