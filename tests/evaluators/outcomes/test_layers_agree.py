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
from spanproof.trace.exports.files import read_file

GOLDEN = Path(__file__).parents[2] / "golden"


def traces() -> Iterator[tuple[str, Trace]]:
    """Every golden and recorded trace: cases of three layers, dialects, real frameworks, exports."""
    for layer in ("correctness", "boundary", "execution"):
        for path in sorted((GOLDEN / layer).glob("*.yaml")):
            for case in yaml.safe_load_all(path.read_text(encoding="utf-8")):
                yield f"{path.stem}: {case['case']}", trace_in_short(case)
    for folder in ("dialects", "frameworks", "exports"):
        for path in sorted((GOLDEN / folder).glob("*.json")):
            by_trace = defaultdict(list)
            for request in read_file(path)[0]:
                for span in normalise(request):
                    by_trace[span.trace_id].append(span)
            assert by_trace, f"no trace in {path}"
            for spans in by_trace.values():
                yield f"{folder}: {path.stem}", trace_of(spans)


@pytest.mark.parametrize("trace", [pytest.param(trace, id=name) for name, trace in traces()])
def test_no_two_layers_contradict_each_other(trace):
    found = list(contradictions(Engine(pipeline=Pipeline(), sandbox=None).evaluate(trace)))
    assert not found, found
