"""Hand-overs between the agents of a trace, and what was lost in them.

A receiver has read its own task and the messages of its first model call. What the giver's task names and
neither holds is lost. That is a mistake only where the receiver then worked on another identifier of the same
form that no source holds; what a receiver never needed may be left out.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

import orjson

from spanproof.evaluators.runs import list_run_spans
from spanproof.evaluators.sessions.facts import derive_shape, extract_facts, is_identifier
from spanproof.evaluators.sessions.model import HandOver, Replaced
from spanproof.trace import Payload, Run, SpanKind, Step, Trace


def find_hand_overs(
    trace: Trace, runs: Sequence[Run], turns: Mapping[str, int], earlier: Iterable[str]
) -> list[HandOver]:
    """Return the hand-overs of a trace in order of time.

    Args:
        trace: the trace.
        runs: its runs.
        turns: the number of each run's turn in the session.
        earlier: texts of the turns before, which every agent may know.
    """
    by_id = {run.span_id: run for run in runs}
    facts = list(earlier)
    found = []
    for run in runs:
        giver = by_id.get(run.parent_span_id) if run.parent_span_id is not None else None
        if giver is not None:
            missing = _find_lost(trace, giver, run)
            found.append(
                HandOver(
                    turns[run.span_id], trace.trace_id, giver.name, run.name, run.span_id, run.start_ns,
                    tuple(missing.values()), tuple(_find_replaced(missing, giver, run, facts)),
                )
            )  # fmt: skip
    return found


def find_unread(trace: Trace, run: Run, earlier: Iterable[str]) -> list[Replaced]:
    """Return identifiers of a run's own task that it never used, each with one that it used in its place.

    The other is of the same form, and nothing that the run was given or got back names it. It may still be
    meant: the order after A-17 is A-18.
    """
    if run.task is None or run.hidden:
        return []
    used = set(extract_facts("\n".join(_join_uses(step) for step in run.steps)))
    unused = {
        fact: written
        for fact, written in extract_facts(run.task).items()
        if is_identifier(fact) and fact not in used
    }
    if not unused:
        return []
    facts = set(extract_facts("\n".join([run.task, *earlier, *_read_first_messages(trace, run)])))
    return list(_pair_by_shape(unused, _find_unsourced(run, facts)))


def _pair_by_shape(missing: dict[str, str], others: dict[str, str]) -> Iterator[Replaced]:
    for fact, written in missing.items():
        other = next(
            (name for used, name in others.items() if derive_shape(used) == derive_shape(fact)), None
        )
        if other is not None:
            yield Replaced(written, other)


def _find_lost(trace: Trace, giver: Run, receiver: Run) -> dict[str, str]:
    if not giver.task or receiver.task is None or receiver.hidden:
        return {}
    received = extract_facts("\n".join([receiver.task, *_read_first_messages(trace, receiver)]))
    return {fact: written for fact, written in extract_facts(giver.task).items() if fact not in received}


def _read_first_messages(trace: Trace, run: Run) -> Iterator[str]:
    calls = [span for span in list_run_spans(trace, run) if span.kind is SpanKind.LLM]
    for call in calls[:1]:
        yield from (message.text for message in call.input_messages)


def _find_replaced(
    missing: dict[str, str], giver: Run, receiver: Run, earlier: list[str]
) -> Iterator[Replaced]:
    identifiers = {fact: written for fact, written in missing.items() if is_identifier(fact)}
    if not identifiers:
        return
    facts = set(extract_facts("\n".join([giver.task or "", *earlier, *_collect_results(giver, receiver)])))
    yield from _pair_by_shape(identifiers, _find_unsourced(receiver, facts))


def _collect_results(giver: Run, receiver: Run) -> Iterator[str]:
    """Yield what had come back to the giver; of the step that hands over, its other calls."""
    for step in giver.steps:
        if step.end_ns <= receiver.start_ns:
            yield _join_results(step)
        elif step.start_ns <= receiver.start_ns:
            yield from (_read_text(call.result) for call in step.calls if call.tool != receiver.name)


def _find_unsourced(run: Run, facts: set[str]) -> dict[str, str]:
    """Return identifiers that an agent works on before anything it was given or got back holds them."""
    found: dict[str, str] = {}
    uses = [(run.task or "", ""), *((_join_uses(step), _join_results(step)) for step in run.steps)]
    for use, result in uses:
        for fact, written in extract_facts(use).items():
            if is_identifier(fact) and fact not in facts:
                found.setdefault(fact, written)
        facts |= extract_facts(result).keys()
    return found


def _join_uses(step: Step) -> str:
    calls = [orjson.dumps([call.args, dict(call.kwargs)], default=str).decode() for call in step.calls]
    return "\n".join([*calls, *(snippet.source for snippet in step.snippets)])


def _join_results(step: Step) -> str:
    """Return what came back to an agent from its tools and its code."""
    results = [step.observation or "", *(_read_text(call.result) for call in step.calls)]
    for snippet in step.snippets:
        results += [snippet.observation or "", snippet.logs or "", _read_text(snippet.output)]
    return "\n".join(results)


def _read_text(payload: Payload | None) -> str:
    return payload.text if payload is not None else ""
