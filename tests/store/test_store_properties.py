"""Whatever is written in whatever order, the store says what the latest evaluations say."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import count
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from spanproof.evaluators.model import TraceEvaluation
from spanproof.store import Store, open_store
from spanproof.trace import Cohort, Label, Layer, Scored

HOUR = 3600 * 10**9
fresh = count(1_000)

evaluations = st.fixed_dictionaries(
    {
        "trace": st.integers(0, 2),
        "version": st.sampled_from("12"),
        "source": st.sampled_from(["x = 1", "y = 2"]),
        "sub_score": st.sampled_from(["", "compiles"]),
        "project": st.sampled_from(["shop", "depot"]),
        "hour": st.integers(0, 30),
        "layers": st.sets(st.sampled_from(list(Layer)), min_size=1),
    }
)


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Store]:
    directory: Path = tmp_path_factory.mktemp("store")
    with open_store(directory) as store:
        yield store


@pytest.mark.load
@given(
    batches=st.lists(st.lists(evaluations, min_size=1, max_size=3), min_size=1, max_size=4),
    again=st.booleans(),
)
@settings(
    max_examples=25,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
def test_the_latest_evaluation_of_each_trace_is_what_the_store_says(shared, evaluation, batches, again):
    first = next(fresh) * 10
    latest: dict[tuple[int, str], TraceEvaluation] = {}
    for batch in batches:
        made = []
        for drawn in batch:
            found = evaluation(
                first + drawn["trace"],
                version=drawn["version"],
                source=drawn["source"],
                sub_score=drawn["sub_score"],
                cohort=Cohort(project=drawn["project"], agent="a"),
                start_ns=1_790_000_000_000_000_000 + drawn["hour"] * HOUR,
                verdicts={layer: Scored(0.5, Label.FAIL, "no") for layer in sorted(drawn["layers"])},
            )
            latest[first + drawn["trace"], drawn["project"]] = found
            made.append(found)
        for _ in range(1 + again):
            shared.write(made)
    for (number, project), expected in latest.items():
        trace_id = f"{number:032x}"
        assert shared.evaluation(trace_id, project) == expected
        own = [score for score in shared.scores(trace_id=trace_id) if score.cohort.project == project]
        stored = sorted(own, key=lambda score: (score.layer, score.name))
        assert stored == sorted(expected.scores, key=lambda score: (score.layer, score.name))
        rows = [row for row in shared.traces(limit=10_000) if row.trace_id == trace_id]
        assert [row.project for row in rows].count(project) == 1
        assert _snippets(shared, project, trace_id) == [
            snippet.id for snippet in expected.runs[0].run.snippets
        ]


def _snippets(store: Store, project: str, trace_id: str) -> list[str]:
    with store._connections.lease() as client:
        rows = client.query(
            "SELECT snippet_id FROM spanproof.snippets FINAL"
            " WHERE project = {project:String} AND trace_id = {id:String}",
            parameters={"project": project, "id": trace_id},
        ).result_rows
    return [row[0] for row in rows]
