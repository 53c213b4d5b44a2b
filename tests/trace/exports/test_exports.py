"""Exports of other products hold the same run as OTLP does."""

from __future__ import annotations

import importlib.util
import json
from pathlib import Path

import pyarrow as arrow
import pyarrow.parquet as parquet
import pytest

from spanproof.evaluators.detect import list_snippets
from spanproof.evaluators.runs import list_runs
from spanproof.trace import trace_of
from spanproof.trace.dialects import normalise_request
from spanproof.trace.exports import read_file
from spanproof.trace.otlp import MalformedOtlp, encode_json

GOLDEN = Path(__file__).parents[2] / "golden" / "exports"

_spec = importlib.util.spec_from_file_location("export_story", Path(__file__).parent / "story.py")
story = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(story)


def run_of(path: Path):
    requests, malformed = read_file(path)
    assert not malformed
    trace = trace_of([span for request in requests for span in normalise_request(request)])
    (run,) = list_runs(trace, list_snippets(trace))
    return run


def assert_story(run) -> None:
    assert story.TASK in run.task
    assert run.answer.text == story.ANSWER
    calls = {call.tool: call for step in run.steps for call in step.calls}
    assert dict(calls["run_python"].kwargs) == {"code": story.CODE}
    assert str(calls["run_python"].result.value) == "36"
    assert dict(calls["stock_of"].kwargs) == {"shelf": 9}
    assert "no shelf 9" in calls["stock_of"].error.message
    snippets = [snippet for step in run.steps for snippet in step.snippets]
    assert [(each.language, each.source, each.executed) for each in snippets] == [
        ("python", story.CODE, True)
    ]
    assert (run.usage.input_tokens, run.usage.output_tokens) in {(30, 12)}
    assert run.cohort.model == "m-1"


@pytest.mark.parametrize("name", story.PRODUCTS)
@pytest.mark.parametrize("form", ["document", "lines"])
def test_an_export_holds_the_run(tmp_path, name, form):
    exported = story.PRODUCTS[name]()
    rows = exported if isinstance(exported, list) else [exported]
    if form == "lines":
        path = tmp_path / "export.jsonl"
        path.write_text("\n".join(map(json.dumps, rows)) + "\n")
    else:
        path = tmp_path / "export.json"
        path.write_text(json.dumps(exported, indent=1))
    assert_story(run_of(path))


def test_a_trace_of_mlflow_holds_the_run():
    assert_story(run_of(GOLDEN / "mlflow.json"))


def test_the_format_of_mlflow_2_is_read(tmp_path):
    span = {
        "name": "clerk",
        "context": {"span_id": "0x00000000000000a1", "trace_id": "0x000000000000000000000000000000b2"},
        "parent_id": None,
        "start_time": 1_767_323_040_500_000_000,
        "end_time": 1_767_323_040_600_000_000,
        "status_code": "OK",
        "status_message": "",
        "attributes": {
            "mlflow.spanType": '"AGENT"',
            "mlflow.spanInputs": json.dumps(story.TASK),
            "mlflow.spanOutputs": json.dumps(story.ANSWER),
        },
        "events": [],
    }
    path = tmp_path / "trace.json"
    path.write_text(json.dumps({"info": {"request_id": "r"}, "data": {"spans": [span]}}))
    run = run_of(path)
    assert (run.trace_id, run.span_id) == ("000000000000000000000000000000b2", "00000000000000a1")
    assert (run.task, run.answer.text) == (story.TASK, story.ANSWER)


def test_mlflow_s_list_of_traces_is_read(tmp_path):
    trace = json.loads((GOLDEN / "mlflow.json").read_text())
    path = tmp_path / "traces.json"
    path.write_text(json.dumps({"traces": [trace]}))
    assert_story(run_of(path))


def test_spans_of_phoenix_s_otlp_api_are_read(tmp_path):
    value = {"stringValue": None, "intValue": "7", "boolValue": None}
    span = {
        "trace_id": "0" * 30 + "63",
        "span_id": "00000000000000a1",
        "parent_span_id": None,
        "name": "clerk",
        "start_time_unix_nano": 1_767_323_040_500_000_000,
        "end_time_unix_nano": 1_767_323_040_600_000_000,
        "attributes": [
            {"key": "openinference.span.kind", "value": {"string_value": "AGENT", "int_value": None}},
            {"key": "some.count", "value": value},
        ],
        "status": {"code": 2, "message": "out of stock"},
    }
    path = tmp_path / "spans.json"
    path.write_text(json.dumps({"data": [span], "next_cursor": None}))
    (request,), malformed = read_file(path)
    (read,) = normalise_request(request)
    assert not malformed
    assert (read.kind, read.attributes["some.count"]) == ("AGENT", 7)
    assert read.error is not None
    assert read.error.message == "out of stock"


def test_langsmith_s_bulk_export_is_read(tmp_path):
    rows = [
        {
            "prompt_tokens": None,
            "completion_tokens": None,
            **{key: json.dumps(value) if isinstance(value, dict) else value for key, value in row.items()},
        }
        for row in story.langsmith()
    ]
    path = tmp_path / "runs.parquet"
    parquet.write_table(arrow.Table.from_pylist(rows), path)
    assert_story(run_of(path))


def test_runs_of_langsmith_may_hold_their_children(tmp_path):
    root, *children = story.langsmith()
    path = tmp_path / "run.json"
    path.write_text(json.dumps(root | {"child_runs": children}))
    assert_story(run_of(path))


def test_langfuse_s_download_of_a_trace_is_read(tmp_path):
    path = tmp_path / "trace.json"
    path.write_text(
        json.dumps({"trace": {"id": "t", "name": "x"}, "observations": story.langfuse(), "scores": []})
    )
    assert_story(run_of(path))


def test_the_api_of_jaeger_2_gives_otlp(tmp_path, small_request):
    path = tmp_path / "trace.json"
    path.write_text(json.dumps({"result": json.loads(encode_json(small_request))}))
    assert read_file(path) == ([small_request], [])


def test_otlp_is_read_as_before(tmp_path, small_request):
    path = tmp_path / "trace.json"
    path.write_bytes(encode_json(small_request))
    assert read_file(path) == ([small_request], [])


@pytest.mark.parametrize("body", ["[]", '{"a": 1}', "[1, 2]", '{"data": []}', "3", "null"])
def test_a_file_of_no_product_is_refused_with_those_that_are_read(tmp_path, body):
    path = tmp_path / "some.json"
    path.write_text(body)
    requests, malformed = read_file(path)
    assert requests == []
    assert all(name in str(malformed[0]) for name in ("OTLP", "Langfuse", "Weave", "some.json"))


def test_a_row_that_cannot_be_read_costs_no_other(tmp_path):
    rows = story.langfuse()
    rows.append(rows[-1] | {"id": "other", "startTime": "yesterday"})
    rows.append(rows[-1] | {"id": None})
    path = tmp_path / "export.json"
    path.write_text(json.dumps(rows))
    requests, malformed = read_file(path)
    assert sum(len(request.resource_spans) for request in requests) == len(rows) - 2
    assert [f"row {len(rows) - 1} of Langfuse" in str(malformed[0]), "'yesterday'" in str(malformed[0])] == [
        True,
        True,
    ]


@pytest.mark.parametrize("output", [float("nan"), "\ud800", 10**30, {"a": [[[{"b": None}]]]}])
def test_values_that_no_standard_knows_are_read(tmp_path, output):
    root, *others = story.langfuse()
    path = tmp_path / "export.json"
    path.write_text(json.dumps([root | {"output": output}, *others]))
    requests, malformed = read_file(path)
    assert not malformed
    assert len(requests[0].resource_spans) == 1 + len(others)


@pytest.mark.parametrize("name", [name for name in story.PRODUCTS if name != "jaeger"])
@pytest.mark.parametrize("odd", [7, [1], {"a": 1}, "", "x" * 10, float("inf"), float("nan")])
def test_odd_ids_and_times_cost_only_their_row(tmp_path, name, odd):
    exported = story.PRODUCTS[name]()
    rows = exported if isinstance(exported, list) else exported["data"]
    ids = [key for key in ("trace_id", "traceId", "context.trace_id") if key in rows[-1]]
    rows.append(rows[-1] | dict.fromkeys((*ids, "startTime", "start_time", "started_at"), odd))
    path = tmp_path / "export.json"
    path.write_text(json.dumps(rows))
    requests, malformed = read_file(path)
    assert len(malformed) <= 1
    assert len(requests[0].resource_spans) >= len(rows) - 1


@pytest.mark.parametrize(("name", "field"), [("langsmith", "error"), ("weave", "exception")])
@pytest.mark.parametrize("blank", [" ", "\n\t\n"])
def test_a_blank_error_is_an_error_without_words(tmp_path, name, field, blank):
    rows = story.PRODUCTS[name]()
    rows[-1] |= {field: blank}
    path = tmp_path / "export.json"
    path.write_text(json.dumps(rows))
    requests, malformed = read_file(path)
    assert not malformed
    status = requests[0].resource_spans[-1].scope_spans[0].spans[0].status
    assert (status.code, status.message) == (status.STATUS_CODE_ERROR, "")


def test_an_answer_of_jaeger_2_that_cannot_be_read_costs_no_other(tmp_path, small_request):
    good, bad = json.loads(encode_json(small_request)), {"resourceSpans": 7}
    path = tmp_path / "export.jsonl"
    path.write_text("\n".join(json.dumps({"result": each}) for each in (bad, good)))
    requests, malformed = read_file(path)
    assert requests == [small_request]
    assert str(malformed[0]).startswith(f"{path}:1: ")


def test_a_line_that_is_no_json_is_named(tmp_path):
    path = tmp_path / "export.jsonl"
    path.write_text("\n".join([*map(json.dumps, story.weave()), "{broken"]))
    requests, malformed = read_file(path)
    assert len(requests) == 1
    assert str(malformed[0]).endswith(f"export.jsonl:{len(story.weave()) + 1}: not JSON")


def test_what_is_no_parquet_file_is_refused(tmp_path):
    path = tmp_path / "runs.parquet"
    path.write_text("nothing")
    with pytest.raises(MalformedOtlp, match=r"runs\.parquet: not a Parquet file"):
        read_file(path)
