"""No two layers contradict each other: on every golden trace, all of them speak of one account."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

import pytest
from contradictions import contradictions
from golden_traces import trace_in_short
from golden_yaml import iter_golden

from spanproof.evaluators.engine import Engine
from spanproof.sandbox.scanners.pipeline import Pipeline
from spanproof.trace import Trace, trace_of
from spanproof.trace.dialects import normalise_request
from spanproof.trace.exports.files import read_file

GOLDEN = Path(__file__).parents[2] / "golden"


FILES = [
    path
    for folder in ("correctness", "boundary", "execution", "dialects", "frameworks", "exports")
    for path in sorted((GOLDEN / folder).iterdir())
    if path.suffix in (".yaml", ".json")
]


def iter_traces(path: Path) -> Iterator[tuple[str, Trace]]:
    """Every golden or recorded trace of a file: cases of a layer, a dialect, a real framework, an export."""
    if path.suffix == ".yaml":
        for case in iter_golden(path):
            yield case["case"], trace_in_short(case)
        return
    by_trace = defaultdict(list)
    for request in read_file(path)[0]:
        for span in normalise_request(request):
            by_trace[span.trace_id].append(span)
    for trace_id, spans in by_trace.items():
        yield str(trace_id), trace_of(spans)


@pytest.mark.parametrize("path", FILES, ids=lambda path: f"{path.parent.name}-{path.stem}")
def test_no_two_layers_contradict_each_other(path):
    engine = Engine(pipeline=Pipeline(), sandbox=None)
    judged = {name: list(contradictions(engine.evaluate(trace))) for name, trace in iter_traces(path)}
    assert judged, f"no trace in {path}"
    assert not {name: found for name, found in judged.items() if found}
