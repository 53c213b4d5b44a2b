"""A trace heals: with any pieces, pauses and restarts its verdicts are those of the whole.

Real spans of every dialect and framework go through the front of a collector, its log, workers and store.
"""

from __future__ import annotations

import random
import time
from collections.abc import Iterable, Iterator
from hashlib import md5
from pathlib import Path

from waiting import wait_until

from spanproof.collector.stages.fragments import remove_project
from spanproof.store import Store, open_store
from spanproof.trace import Outcome
from spanproof.trace.otlp import ExportTraceServiceRequest, read_file

from .collectors import post, running

GOLDEN = Path(__file__).parents[1] / "golden"
FILES = sorted([*GOLDEN.glob("dialects/*.json"), *GOLDEN.glob("frameworks/*.json")])
SEED = 1
"""Of the order of spans and of the requests they come in: the same in every run."""

LIVES = 2
"""How often the collector of the split traces is started."""

QUICK = {"assembly__quiet_s": "0.2", "assembly__orphan_quiet_s": "0.3"}
PAUSE_S = 0.8
"""Longer than either wait: what came before it is evaluated, and out of memory with `reopen_s` below it."""


def read_spans(file: Path) -> Iterator[ExportTraceServiceRequest]:
    """Yield the spans of a file, a request each, in traces whose ids are of this file alone.

    They name no project: spans of two projects are two traces.
    """
    for request in read_file(file):
        for resource in request.resource_spans:
            for scope in resource.scope_spans:
                for span in scope.spans:
                    one = ExportTraceServiceRequest()
                    of_resource = one.resource_spans.add(resource=resource.resource)
                    of_resource.scope_spans.add(scope=scope.scope).spans.append(span)
                    copied = of_resource.scope_spans[0].spans[0]
                    named = f"{file.parent.name} {file.name} {span.trace_id.hex()}".encode()
                    copied.trace_id = md5(named, usedforsecurity=False).digest()
                    remove_project(copied)
                    yield one


def merge_requests(requests: Iterable[ExportTraceServiceRequest]) -> ExportTraceServiceRequest:
    whole = ExportTraceServiceRequest()
    for request in requests:
        whole.MergeFrom(request)
    return whole


def count_spans(requests: Iterable[ExportTraceServiceRequest]) -> dict[str, int]:
    """Return the number of spans by trace."""
    counts: dict[str, int] = {}
    for request in requests:
        for resource in request.resource_spans:
            for scope in resource.scope_spans:
                for span in scope.spans:
                    counts[span.trace_id.hex()] = counts.get(span.trace_id.hex(), 0) + 1
    return counts


def wait_for_all(store: Store, counts: dict[str, int]) -> None:
    """Return once each trace is evaluated with all of its spans."""

    def is_stored() -> bool:
        stored = {each.trace.trace_id: len(each.trace.spans) for each in store.evaluations(list(counts))}
        return stored == counts

    wait_until(is_stored, what="every trace is evaluated with all of its spans", within_s=240, pause_s=0.5)


def collect_verdicts(store: Store) -> dict[str, Outcome]:
    """Return the outcomes that count, by the score's id, which names trace, run, span and evaluator."""
    return {score.id: score.outcome for score in store.scores()}


def test_a_trace_in_any_pieces_with_pauses_and_restarts_has_the_verdicts_of_the_whole(tmp_path) -> None:
    spans = [span for file in FILES for span in read_spans(file)]
    counts = count_spans(spans)
    with running(tmp_path / "whole", **QUICK) as collector:
        post(collector, merge_requests(spans).SerializeToString())
        wait_for_all(collector.store, counts)
        at_once = {each.trace.trace_id: each.trace for each in collector.store.evaluations(list(counts))}
        expected = collect_verdicts(collector.store)
    drawn = random.Random(SEED)
    pieces = drawn.sample(spans, len(spans))
    pieces += drawn.sample(spans, len(spans) // 10)  # exporters repeat what was not acknowledged
    share = len(pieces) // LIVES + 1
    for life in range(LIVES):
        with running(tmp_path / "pieces", assembly__reopen_s="0.1", **QUICK) as collector:
            of_life = pieces[life * share : (life + 1) * share]
            for half in (of_life[: share // 2], of_life[share // 2 :]):
                for _ in range(3):
                    post(collector, merge_requests(drawn.sample(half, len(half) // 3)).SerializeToString())
                post(collector, merge_requests(half).SerializeToString())
                if life < LIVES - 1:
                    time.sleep(PAUSE_S)
            if life == LIVES - 1:
                wait_for_all(collector.store, counts)
    with open_store(tmp_path / "pieces" / "store", read_only=True) as store:
        healed = {each.trace.trace_id: each.trace for each in store.evaluations(list(counts))}
        verdicts = collect_verdicts(store)
    assert healed == at_once
    assert verdicts == expected
