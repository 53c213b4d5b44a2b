"""Deletion of traces leaves nothing of them on disk, and everything else as it was."""

from __future__ import annotations

import json

import pytest

from spanproof.semconv import spanproof as ours
from spanproof.store import DeadLetter, ExternalScore, Store, open_store
from spanproof.store.connection import _open_server
from spanproof.store.dimensions import SUBJECT_KEYS
from spanproof.store.schema import TABLES
from spanproof.trace import Label, Layer
from spanproof.trace.dimensions import Subject

from .test_store import request_of

SECRET = "my name is Ada"


def write_trace(store: Store, evaluation, number: int, **attributes: str) -> str:
    made = evaluation(number, source=f"print('{SECRET} {number}')")
    trace_id = made.trace.trace_id
    request = request_of((f"{SECRET} {number}", number, made.trace.spans[0].start_ns))
    (span,) = request.resource_spans[0].scope_spans[0].spans
    span.trace_id = bytes.fromhex(trace_id)
    del span.links[:]
    for key, value in attributes.items():
        span.attributes.add(key=key).value.string_value = value
    store.write_spans([request])
    store.write([made])
    store.write_dead_letters([DeadLetter(trace_id, "evaluate", "ValueError", SECRET, 1, b"", 10**18)])
    store.write_external(
        [
            ExternalScore(
                trace_id, None, Layer.GROUNDEDNESS, "ours", "other", 0.0, Label.FAIL, SECRET, None, "", 1
            )
        ]
    )
    rating = request_of(("feedback", 10_000 + number, 10**18))
    (rated,) = rating.resource_spans[0].scope_spans[0].spans
    rated.trace_id = (10_000 + number).to_bytes(16, "big")
    del rated.links[:]
    rated.attributes.add(key=ours.FEEDBACK_TRACE_ID).value.string_value = trace_id
    store.write_spans([rating])
    return trace_id


def rows_about(store: Store, trace_id: str) -> dict[str, int]:
    """How many rows of each table name the trace anywhere; all versions, deleted ones too."""
    found = {}
    with store._connections.lease() as client:
        for table in TABLES:
            whole = [f"toString(`{name}`)" for name, kind in table.columns if "Nullable" not in kind]
            text = "concat(" + ", '|', ".join(whole) + ")"
            rows = client.query(
                f"SELECT countIf(position({text}, {{id:String}}) > 0) FROM {store._database}.{table.name}",
                parameters={"id": trace_id},
            ).result_rows
            found[table.name] = rows[0][0]
    return {name: count for name, count in found.items() if count}


def test_nothing_of_a_deleted_trace_is_left(store, evaluation):
    gone, kept = write_trace(store, evaluation, 1), write_trace(store, evaluation, 2)
    before = rows_about(store, kept)
    held = {"scores", "otel_traces", "traces", "snippets", "dead_letters", "external_scores"}
    assert held <= before.keys()
    while store.refresh_rollups():
        pass
    assert store.erase_traces([gone, "f" * 32]) == 1
    assert rows_about(store, gone) == {}
    assert rows_about(store, kept) == before
    assert store.evaluation(gone) is None
    assert store.fail_rate(Layer.GROUNDEDNESS, failing=0, start_ns=0, end_ns=2**62).failed == 1
    while store.refresh_rollups():
        pass
    assert store.fail_rate(Layer.GROUNDEDNESS, failing=0, start_ns=0, end_ns=2**62).failed == 1
    assert store.erase_traces([gone]) == 0


@pytest.mark.parametrize("subject", Subject)
def test_traces_of_a_session_or_user_are_found_in_every_convention(store, evaluation, subject):
    ids = [
        write_trace(store, evaluation, number, **{key: "it's them"})
        for number, key in enumerate(SUBJECT_KEYS[subject], 1)
    ]
    write_trace(store, evaluation, 90, **{SUBJECT_KEYS[subject][0]: "another"})
    assert store.traces_of(subject, "it's them") == sorted(ids)
    assert store.traces_of(subject, "nobody") == []


def test_traces_are_deleted_beside_a_running_server(tmp_path, evaluation):
    with open_store(tmp_path, share=True) as holder:
        gone = write_trace(holder, evaluation, 1)
        url = json.loads((tmp_path / "lock").read_text())["write_url"]
        with Store(_open_server(url, "http")) as other:
            assert other.erase_traces([gone]) == 1
        assert rows_about(holder, gone) == {}
