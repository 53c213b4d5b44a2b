"""No two layers contradict each other: on every golden trace, all of them speak of one account."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml
from contradictions import contradictions
from golden_traces import trace_in_short

from spanproof.evaluators.engine import Engine
from spanproof.sandbox.scanners.pipeline import Pipeline
from spanproof.trace import Trace, trace_of
from spanproof.trace.dialects import normalise
from spanproof.trace.otlp import decode_json

GOLDEN = Path(__file__).parents[2] / "golden"


def traces() -> Iterator[tuple[str, Trace]]:
    """Every golden trace: the cases of three layers, and a story in each dialect."""
    for layer in ("correctness", "boundary", "execution"):
        for path in sorted((GOLDEN / layer).glob("*.yaml")):
            for case in yaml.safe_load_all(path.read_text(encoding="utf-8")):
                yield f"{path.stem}: {case['case']}", trace_in_short(case)
    for path in sorted((GOLDEN / "dialects").glob("*.json")):
        by_trace = defaultdict(list)
        for span in normalise(decode_json(path.read_bytes())):
            by_trace[span.trace_id].append(span)
        for spans in by_trace.values():
            yield path.stem, trace_of(spans)


@pytest.mark.parametrize("trace", [pytest.param(trace, id=name) for name, trace in traces()])
def test_no_two_layers_contradict_each_other(trace):
    found = list(contradictions(Engine(pipeline=Pipeline(), sandbox=None).evaluate(trace)))
    assert not found, found
