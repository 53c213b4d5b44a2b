"""Refusals: what a guard, a budget or a framework's guardrail kept from running.

In: spans. Out: the `Refusal` on a span, None where there is none. Only the structure of the record decides:
events of Spanproof's guard, spans of the kind GUARDRAIL and the types of exceptions, never the words of a
message.
"""

from __future__ import annotations

from collections.abc import Iterator

from spanproof.semconv import genai
from spanproof.semconv import spanproof as ours
from spanproof.trace import Event, Refusal, Refuser, Span, SpanError, SpanKind, Trace
from spanproof.trace.codec import MalformedDocument, load_json

_CODE_REFUSED = "CodeRefused"

# The exceptions by which the OpenAI Agents SDK ends a run or a call for a guardrail.
_TRIPWIRES = frozenset(
    f"{guarded}GuardrailTripwireTriggered" for guarded in ("Input", "Output", "ToolInput", "ToolOutput")
)

# The rules of budgets that are used up. The other rule, `budget.tool`, refuses one tool and leaves the rest.
_USED_UP = {"steps": "{:,.0f} steps", "tokens": "{:,.0f} tokens", "cost_usd": "${:,g}"}


def find_refusal(trace: Trace, span: Span) -> Refusal | None:
    """Return why the operation of this span was refused, None where it ran."""
    for event in _iter_blocking_events(span):
        # A tool's refusal on another span is of a call that the code of this span made.
        if span.kind is SpanKind.TOOL or (span.error is not None and genai.TOOL_NAME not in event.attributes):
            return _build_guard_refusal(span, event)
    if span.error is None:
        return None
    for child in trace.children(span.span_id):
        if is_stopping(child) and _ends_with(span.error, child):
            return Refusal(Refuser.GUARDRAIL, child.name)
    return None


def find_ending_refusal(trace: Trace, span: Span) -> Refusal | None:
    """Return the refusal of a call that ended the code on this span, None where none did."""
    if span.error is None or _CODE_REFUSED not in {span.error.type, *span.error.chain}:
        return None
    refusing = [
        (events[-1].time_ns, descendant, events[0])
        for descendant in (span, *trace.descendants(span.span_id))
        if (events := list(_iter_blocking_events(descendant)))
    ]
    if not refusing:
        return None
    # What was refused before was caught: the last refusal is the one that was raised.
    _, last, event = max(refusing, key=lambda found: found[0])
    return _build_guard_refusal(last, event)


def iter_blocking_rules(span: Span) -> Iterator[str]:
    """Yield the rules for which Spanproof's guard stopped what was to run on this span."""
    for event in _iter_blocking_events(span):
        yield str(event.attributes.get(ours.GUARD_RULE) or span.name)


def is_stopping(span: Span) -> bool:
    """Whether this is a guardrail of a framework that stopped something."""
    return span.kind is SpanKind.GUARDRAIL and (span.error is not None or _is_triggered(span))


def is_budget_used_up(refusal: Refusal | None) -> bool:
    """Whether a budget refused a step because it is used up: it then refuses every later one, too."""
    return refusal is not None and _find_used_up_kind(refusal) is not None


def format_refuser(refusal: Refusal) -> str:
    """Return who refused, as a clause: `the guard (py.process.spawn)`, `the budget for 2 steps`."""
    kind = _find_used_up_kind(refusal)
    if kind is not None and refusal.limit is not None:
        amount = _USED_UP[kind].format(refusal.limit)
        return f"the budget for {amount.removesuffix('s') if refusal.limit == 1 else amount}"
    if refusal.by is Refuser.GUARDRAIL:
        return f"the guardrail {refusal.rule}"
    return f"the {refusal.by.value} ({refusal.rule})"


def format_refusal(refusal: Refusal) -> str:
    """Return a refusal as a step's outcome: `refused by the guard: py.process.spawn`."""
    return f"refused by the {refusal.by.value}: {refusal.rule}"


def _iter_blocking_events(span: Span) -> Iterator[Event]:
    for event in span.events:
        if event.name == ours.GUARD_EVENT and event.attributes.get(ours.GUARD_BLOCKED) is True:
            yield event


def _build_guard_refusal(span: Span, event: Event) -> Refusal:
    rule = str(event.attributes.get(ours.GUARD_RULE) or span.name)
    limit = event.attributes.get(ours.GUARD_BUDGET_LIMIT)
    if rule.startswith(ours.GUARD_BUDGET_RULE_PREFIX):
        by = Refuser.BUDGET
    else:
        by = Refuser.GUARD
    return Refusal(by, rule, float(limit) if isinstance(limit, int | float) else None)


def _find_used_up_kind(refusal: Refusal) -> str | None:
    kind = refusal.rule.removeprefix(ours.GUARD_BUDGET_RULE_PREFIX)
    if refusal.by is Refuser.BUDGET and kind in _USED_UP:
        return kind
    return None


def _ends_with(error: SpanError, guardrail: Span) -> bool:
    """Whether a span ended with the exception of this guardrail."""
    if not _TRIPWIRES.isdisjoint({error.type, *error.chain}):
        return True
    own = guardrail.error
    return own is not None and own.type is not None and own.type == error.type


def _is_triggered(span: Span) -> bool:
    """Whether a framework's guardrail reports a hit, as the OpenAI Agents SDK writes it."""
    if span.output is None:
        return False
    try:
        output = load_json(span.output.text)
    except (MalformedDocument, RecursionError):
        return False
    return isinstance(output, dict) and output.get("triggered") is True
