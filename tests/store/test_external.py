"""Scores from elsewhere in the store, embedded and on a server."""

from __future__ import annotations

from dataclasses import replace

from spanproof.store import ExternalScore, open_store
from spanproof.store.external import is_external
from spanproof.trace import Label, Layer, Scored

GIVEN = ExternalScore(
    "f" * 32,
    None,
    Layer.BOUNDARY,
    "x",
    "human",
    1.0,
    None,
    "é \ud800",
    7.0,
    "stars",
    1_700_000_000_000_000_000,
)


def test_a_score_is_joined_whether_it_comes_before_its_trace_or_after(store, evaluation) -> None:
    first, second = evaluation(1), evaluation(2)
    early, late = replace(GIVEN, trace_id=f"{1:032x}"), replace(GIVEN, trace_id=f"{2:032x}")
    assert store.write_external([early]) == 0
    store.write([first, second])
    assert store.write_external([late]) == 1
    found = {each.trace_id: each for each in store.scores() if is_external(each)}
    assert set(found) == {f"{1:032x}", f"{2:032x}"}
    for score in found.values():
        assert score.outcome == Scored(1.0, None, "é \ufffd", (), 7.0, "stars")
    assert [
        len([s for s in each.scores if is_external(s)])
        for each in store.evaluations([f"{1:032x}", f"{2:032x}"])
    ] == [1, 1]


def test_writing_again_in_any_order_ends_in_the_same_scores(store, evaluation) -> None:
    stored = evaluation(3)
    given = replace(GIVEN, trace_id=f"{3:032x}")
    for _ in range(2):
        store.write([stored])
        store.write_external([replace(given, label=Label.FAIL, value=0.0)])
        store.write([stored])
        store.write_external([given])
    (score,) = [each for each in store.scores(trace_id=f"{3:032x}") if is_external(each)]
    assert score.outcome.label is None
    assert score.run_span_id == stored.runs[0].run.span_id


def test_an_older_store_is_brought_up_to_date(tmp_path) -> None:
    with open_store(tmp_path / "store") as store, store._connections.lease() as client:
        database = store._database
        client.command(f"DROP TABLE {database}.external_scores SYNC")
        client.command(
            f"ALTER TABLE {database}.migrations DELETE WHERE version >= 6 SETTINGS mutations_sync = 1"
        )
    with open_store(tmp_path / "store") as store:
        assert store.write_external([GIVEN]) == 0
