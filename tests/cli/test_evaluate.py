"""`spanproof eval` as a user calls it: files in, lines or a table out."""

from __future__ import annotations

import json

import pytest
from opentelemetry.proto.common.v1.common_pb2 import InstrumentationScope, KeyValue
from opentelemetry.proto.resource.v1.resource_pb2 import Resource
from opentelemetry.proto.trace.v1.trace_pb2 import ResourceSpans, ScopeSpans
from opentelemetry.proto.trace.v1.trace_pb2 import Span as OtlpSpan

from spanproof.cli.app import run
from spanproof.sandbox import Availability, Feature, Sandbox
from spanproof.trace import DEFECT_WORDS, Defect
from spanproof.trace.otlp import ExportTraceServiceRequest, build_any_value, encode_json, encode_protobuf


def attributes(**values):
    return [
        KeyValue(key=key.replace("__", "."), value=build_any_value(value)) for key, value in values.items()
    ]


def span(number, parent, name, start, **values):
    return OtlpSpan(
        trace_id=bytes(15) + b"\x07",
        span_id=number.to_bytes(8, "big"),
        parent_span_id=parent.to_bytes(8, "big") if parent else b"",
        name=name,
        start_time_unix_nano=start,
        end_time_unix_nano=start + 50,
        attributes=attributes(**values),
    )


def request_of(source, logs, answer="Done."):
    spans = [
        span(
            1, 0, "agent", 1000, openinference__span__kind="AGENT", input__value="Do it", output__value=answer
        ),
        span(
            2,
            1,
            "Step 1",
            1010,
            openinference__span__kind="CHAIN",
            spanproof__step__number=1,
            spanproof__code__source=source,
            spanproof__code__language="python",
            spanproof__execution__logs=logs,
        ),
    ]
    scope = InstrumentationScope(name="spanproof.instrumentors.smolagents")
    return ExportTraceServiceRequest(
        resource_spans=[
            ResourceSpans(resource=Resource(), scope_spans=[ScopeSpans(scope=scope, spans=spans)])
        ]
    )


@pytest.fixture
def good(tmp_path):
    file = tmp_path / "good.pb"
    file.write_bytes(encode_protobuf(request_of("print(6 * 7)", "42\n")))
    return file


def lines(text):
    return [json.loads(line) for line in text.splitlines()]


def own(row, layer):
    (run_,) = row["runs"]
    (score,) = [s for s in run_["scores"] if s["name"] == layer and s["span_id"] == run_["span_id"]]
    return score


def test_json_prints_a_line_per_trace_in_the_agreed_form(good, capsys):
    assert run(["eval", "--json", str(good)]) == 0
    (row,) = lines(capsys.readouterr().out)
    assert row.keys() == {"trace_id", "state", "file", "runs", "spans", "code_bearing_span_ids", "defects"}
    assert (row["state"], row["runs"][0]["state"]) == ("open", "open")
    assert (row["trace_id"], row["file"], row["spans"]) == ("00" * 15 + "07", str(good), 2)
    assert row["code_bearing_span_ids"] == ["0000000000000002"]
    assert row["runs"][0].keys() == {"span_id", "name", "state", "cohort", "scores", "snippets"}
    score = own(row, "correctness")
    assert score.keys() == {
        "layer", "name", "span_id", "snippet_id", "outcome", "state", "value", "raw", "unit", "label",
        "explanation", "reason", "cause", "detail",
    }  # fmt: skip
    assert (score["outcome"], score["value"], score["label"], score["reason"]) == (
        "scored",
        1.0,
        "pass",
        None,
    )


def test_a_skipped_score_has_a_reason_and_no_value(good, capsys):
    assert run(["eval", "--json", "--no-replay", str(good)]) == 0
    (row,) = lines(capsys.readouterr().out)
    (skipped,) = [s for s in row["runs"][0]["scores"] if s["name"] == "replay_agrees"]
    assert (skipped["outcome"], skipped["value"], skipped["label"]) == ("skipped", None, None)
    assert "replay is switched off" in skipped["reason"]


@pytest.mark.parametrize("suffix", [".json", ".jsonl"])
def test_otlp_json_is_read_too(tmp_path, capsys, suffix):
    file = tmp_path / f"trace{suffix}"
    file.write_bytes(encode_json(request_of("print(6 * 7)", "54\n")))
    assert run(["eval", "--json", str(file)]) == 0
    (row,) = lines(capsys.readouterr().out)
    assert own(row, "correctness")["label"] == "fail"
    assert "recorded '54', replayed '42'" in own(row, "correctness")["explanation"]


def test_an_export_of_another_product_is_evaluated(tmp_path, capsys):
    trace_id, code = "0" * 30 + "63", "print(2 + 2)"
    shared = {"traceId": trace_id, "startTime": "2026-01-02T03:04:05Z", "endTime": "2026-01-02T03:04:06Z"}
    root = {**shared, "id": "00000000000000a1", "type": "AGENT", "name": "clerk", "input": "Two and two?"}
    call = {"id": "00000000000000a2", "type": "TOOL", "name": "run_python", "input": {"code": code}}
    call |= {**shared, "parentObservationId": root["id"], "output": "4"}
    path = tmp_path / "langfuse.json"
    path.write_text(json.dumps({"data": [root, call]}))
    assert run(["eval", "--json", "--no-replay", str(path)]) == 0
    row = json.loads(capsys.readouterr().out)
    assert (row["trace_id"], row["code_bearing_span_ids"]) == (trace_id, ["00000000000000a2"])


def test_a_document_of_no_product_is_refused_with_those_that_are_read(tmp_path, capsys):
    path = tmp_path / "some.json"
    path.write_text('{"orders": []}')
    assert run(["eval", str(path)]) == 2
    shown = capsys.readouterr().err
    assert not [name for name in ("some.json", "OTLP", "Jaeger", "LangSmith", "Phoenix") if name not in shown]


def test_people_get_a_table_with_the_reason(tmp_path, capsys):
    file = tmp_path / "trace.pb"
    file.write_bytes(encode_protobuf(request_of("open('/etc/shadow').read()", "")))
    assert run(["eval", str(file)]) == 0
    out = capsys.readouterr().out
    assert "FAIL 0.00" in out
    assert "boundary:" in out


def test_open_runs_are_no_failure_of_the_command_and_are_counted_by_cause(tmp_path, capsys):
    files = [tmp_path / "one.pb", tmp_path / "two.pb"]
    for file in files:
        file.write_bytes(
            encode_protobuf(request_of("print(6 * 7, 5)", "42 5\n", answer="It is 77.31 degrees."))
        )
    assert run(["eval", *map(str, files)]) == 0
    lines = [line.rstrip() for line in capsys.readouterr().out.splitlines()]
    assert sum(line.startswith("OPEN") for line in lines) == 2
    assert lines[-2:] == ["2 runs: 2 open", "  2 answers hold a value that no source has"]


def test_own_evaluators_that_fail_or_err_are_below_their_run(good, tmp_path, capsys):
    config = tmp_path / "spanproof.yaml"
    config.write_text(
        "evaluators:\n"
        "  - {name: strict, pass_at: 1.0, source: 'def main(c, t, **v): return {\"score\": 0.5}'}\n"
        "  - {name: broken, source: 'def main(c, t, **v): return 9'}\n"
        "  - {name: content, pass_at: 0.0, source: 'def main(c, t, **v): return 1'}\n"
    )
    assert run(["eval", "--config", str(config), str(good)]) == 0
    out = capsys.readouterr().out
    assert "strict FAIL 0.50" in out
    assert "broken error: BadScore" in out
    assert "content" not in out


def test_an_own_evaluator_that_judges_nothing_is_reported_with_its_rule(good, tmp_path, capsys):
    config = tmp_path / "spanproof.yaml"
    config.write_text(
        "evaluation: {layers: [correctness, boundary]}\n"
        "evaluators:\n"
        "- {name: fits, source: 'def main(c, t, **v): return 1'}\n"
        "- {name: elsewhere, source: 'def main(c, t, **v): return 1', attach: {kind: TOOL, name: serch}}\n"
        "- {name: idle, source: 'def main(c, t, **v): return 1', layer: trajectory}\n"
    )
    assert run(["eval", "--json", "--config", str(config), str(good)]) == 0
    reported = " ".join(capsys.readouterr().err.split())
    assert (
        "the evaluator 'elsewhere' gave no score: nothing here fits `attach` (kind: TOOL, name: serch)"
        in reported
    )
    assert (
        "the evaluator 'idle' gave no score: its layer, trajectory, is not judged (evaluation.layers)"
        in reported
    )
    assert "'fits'" not in reported


def test_a_bad_file_is_reported_by_itself_and_the_others_are_evaluated(good, tmp_path, capsys):
    broken = tmp_path / "broken.pb"
    broken.write_bytes(b"\xff\xff\xff")
    assert run(["eval", "--json", str(broken), str(good), str(tmp_path / "absent.pb")]) == 2
    captured = capsys.readouterr()
    assert len(lines(captured.out)) == 1
    assert "broken.pb" in captured.err
    assert "absent.pb" in captured.err
    assert "remedy" in captured.err


def test_a_file_without_spans_says_so(tmp_path, capsys):
    empty = tmp_path / "empty.json"
    empty.write_bytes(b"{}")
    assert run(["eval", str(empty)]) == 0
    assert "no spans" in capsys.readouterr().err


def test_a_policy_changes_the_verdict(good, tmp_path, capsys):
    file = tmp_path / "trace.pb"
    file.write_bytes(encode_protobuf(request_of("import os\nprint(os.environ['TOKEN'])", "x\n")))
    policy = tmp_path / "policy.yaml"
    policy.write_text("environment: [TOKEN]\n")
    run(["eval", "--json", str(file)])
    run(["eval", "--json", "--policy", str(policy), str(file)])
    before, after = lines(capsys.readouterr().out)
    assert (own(before, "boundary")["label"], own(after, "boundary")["label"]) == ("fail", "pass")


@pytest.mark.parametrize(
    ("arguments", "reported"),
    [(["--backend", "nonsense"], "nonsense"), (["--policy", "/no/such/policy.yaml"], "/no/such/policy.yaml")],
)
def test_misuse_is_one_message_with_a_remedy(good, capsys, arguments, reported):
    assert run(["eval", str(good), *arguments]) == 2
    err = capsys.readouterr().err
    assert reported in err
    assert "Traceback" not in err


class Absent(Sandbox):
    """A backend that cannot run on this machine."""

    name, languages = "jail", frozenset({"python"})

    def availability(self):
        return Availability(
            "jail", (Feature("namespaces", False, True, "no user namespaces", "enable them"),)
        )

    def run(self, program):
        raise AssertionError("must not run")

    def session(self, spec, answer):
        raise AssertionError("must not run")

    def close(self):
        return None


def test_without_a_usable_sandbox_the_record_judges_and_the_remedy_is_reported(good, capsys, monkeypatch):
    monkeypatch.setattr("spanproof.cli.engine.open_backend", lambda backend, settings, workers: Absent())
    assert run(["eval", "--json", str(good)]) == 0
    captured = capsys.readouterr()
    (row,) = lines(captured.out)
    assert own(row, "execution")["label"] == "pass"
    assert "no user namespaces" in captured.err
    assert "enable them" in captured.err


def test_the_configurations_sandbox_holds_unless_another_is_named(good, tmp_path, capsys):
    file = tmp_path / "spanproof.yaml"
    file.write_text("sandbox: {settings: {tier: velvet}}\n", encoding="utf-8")
    assert run(["eval", "--config", str(file), str(good)]) == 2
    assert "'velvet'" in capsys.readouterr().err
    assert run(["eval", "--json", "--config", str(file), "--set", "tier=reduced", str(good)]) == 0
    file.write_text("evaluation: {replay: false}\n", encoding="utf-8")
    assert run(["eval", "--json", "--config", str(file), str(good)]) == 0
    _, recorded = lines(capsys.readouterr().out)
    assert "replay is switched off" in str(recorded)


def list_run_spans(request):
    return request.resource_spans[0].scope_spans[0].spans


def orphan(spans):
    spans[0].parent_span_id = b"\x99" * 8


def cycle(spans):
    spans[0].parent_span_id = spans[1].span_id


def two_roots(spans):
    spans[1].ClearField("parent_span_id")


def equal_ids(spans):
    spans[1].span_id = spans[0].span_id


@pytest.mark.parametrize(
    ("spoil", "defects"),
    [
        (orphan, ["missing_parent", "no_root"]),
        (cycle, ["no_root", "parent_cycle"]),
        (two_roots, ["several_roots"]),
        (equal_ids, ["duplicate_span_ids", "no_root", "parent_cycle"]),
    ],
)
def test_a_trace_of_a_bad_shape_is_marked_and_still_evaluated(tmp_path, capsys, spoil, defects):
    request = request_of("print(6 * 7)", "42\n")
    spoil(list_run_spans(request))
    file = tmp_path / "odd.pb"
    file.write_bytes(encode_protobuf(request))
    assert run(["eval", "--json", "--no-replay", str(file)]) == 0
    assert run(["eval", "--no-replay", str(file)]) == 0
    json_row, *people = capsys.readouterr().out.splitlines()
    row = json.loads(json_row)
    assert row["defects"] == defects
    own = [score for run in row["runs"] for score in run["scores"] if score["name"] == "correctness"]
    assert [score["outcome"] for score in own].count("scored") == 1
    assert any(DEFECT_WORDS[Defect(defects[0])] in words for words in people)


def test_a_bad_line_amid_good_ones_is_reported_with_its_number_and_the_others_are_evaluated(tmp_path, capsys):
    first, last = request_of("print(1)", "1\n"), request_of("print(2)", "2\n")
    for each in list_run_spans(last):
        each.trace_id = bytes(15) + b"\x08"
    file = tmp_path / "mixed.jsonl"
    file.write_bytes(b"\n".join([encode_json(first), b"{broken", encode_json(last)]))
    assert run(["eval", "--json", "--no-replay", str(file)]) == 2
    captured = capsys.readouterr()
    assert [row["trace_id"][-1] for row in lines(captured.out)] == ["7", "8"]
    assert "mixed.jsonl:2: not JSON" in captured.err


def test_ids_in_base64_are_read_in_a_file_and_others_are_refused_with_their_place(tmp_path, capsys):
    file, body = tmp_path / "ids.json", encode_json(request_of("1", ""))
    hexadecimal = b"0" * 31 + b"7"
    file.write_bytes(body.replace(hexadecimal, b"AAAAAAAAAAAAAAAAAAAABw=="))
    assert run(["eval", "--json", "--no-replay", str(file)]) == 0
    assert [row["trace_id"] for row in lines(capsys.readouterr().out)] == [hexadecimal.decode()]
    file.write_bytes(body.replace(hexadecimal, b"AAAAAAAAAAAAAAAA"))
    assert run(["eval", "--json", "--no-replay", str(file)]) == 2
    captured = capsys.readouterr()
    assert captured.out == ""
    assert "spans[0].traceId must be 32 hexadecimal digits" in captured.err


def test_a_truncated_protobuf_is_refused_with_its_place(good, capsys):
    good.write_bytes(good.read_bytes()[:-20])
    assert run(["eval", "--json", "--no-replay", str(good)]) == 2
    captured = capsys.readouterr()
    assert captured.out == ""
    assert "spans[1]" in captured.err


def agents_request(tool_name):
    """Two agents that run the same code, one itself and one by a tool."""
    code = "import requests\nrequests.get('https://billing.example/x')"
    spans = [
        span(1, 0, "billing-eu", 1000, openinference__span__kind="AGENT", agent__name="billing-eu"),
        span(2, 1, "Step 1", 1010, openinference__span__kind="CHAIN", spanproof__step__number=1,
             spanproof__code__source=code, spanproof__code__language="python"),
        span(3, 1, "research", 1020, openinference__span__kind="AGENT", agent__name="research"),
        span(4, 3, tool_name, 1030, openinference__span__kind="TOOL", tool__name=tool_name,
             input__value=json.dumps({"code": code}), input__mime_type="application/json"),
    ]  # fmt: skip
    scope = InstrumentationScope(name="spanproof.instrumentors.smolagents")
    return ExportTraceServiceRequest(
        resource_spans=[
            ResourceSpans(
                resource=Resource(attributes=attributes(service__name="shop")),
                scope_spans=[ScopeSpans(scope=scope, spans=spans)],
            )
        ]
    )


@pytest.mark.parametrize(
    ("when", "allowed"),
    [
        ("agent: 'billing-*'", {"billing-eu"}),
        ("tool: python_repl", {"research"}),
        ("service: shop", {"billing-eu", "research"}),
        ("service: other", set()),
    ],
)
def test_a_policy_holds_for_the_agents_tools_and_cohorts_it_names(tmp_path, capsys, when, allowed):
    trace, policy = tmp_path / "trace.pb", tmp_path / "policy.yaml"
    trace.write_bytes(encode_protobuf(agents_request("python_repl")))
    policy.write_text(f"overrides:\n  - when: {{{when}}}\n    hosts: [billing.example]\n", encoding="utf-8")
    assert run(["eval", "--json", "--no-replay", "--policy", str(policy), str(trace)]) == 0
    (row,) = lines(capsys.readouterr().out)
    scans = {
        run_["name"]: score["label"]
        for run_ in row["runs"]
        for score in run_["scores"]
        if score["name"] == "scan"
    }
    assert {name for name, label in scans.items() if label == "pass"} == allowed
    assert set(scans) == {"billing-eu", "research"}


def test_a_gate_holds_a_cohort_to_its_security(tmp_path, capsys, monkeypatch):
    trace = tmp_path / "trace.pb"
    trace.write_bytes(encode_protobuf(request_of("import hashlib\nhashlib.md5(b'a')", "")))
    assert run(["eval", "--json", "--no-replay", str(trace)]) == 0
    scores = tmp_path / "scores.jsonl"
    scores.write_text(capsys.readouterr().out, encoding="utf-8")

    def gated(least, project):
        claim = f'boundary.security >= {least} for all cases where project = "{project}"'
        return run(["gate", "--scores", str(scores), "--assert", claim])

    assert [gated(0.8, "default"), gated(0.9, "default"), gated(0.8, "other")] == [0, 1, 1]


def test_structure_is_measured_on_demand_and_compared_with_the_run_before(tmp_path, capsys):
    before, after = tmp_path / "before.pb", tmp_path / "after.pb"
    before.write_bytes(encode_protobuf(request_of("def f(x):\n    return x\nprint(f(1))", "1")))
    after.write_bytes(encode_protobuf(request_of("def f(x, y):\n    return x\nprint(f(1, 2))", "1")))
    assert run(["eval", str(after), "--json", "--no-replay"]) == 0
    assert "code_lines" not in capsys.readouterr().out
    assert run(["eval", str(after), "--json", "--no-replay", "--structure"]) == 0
    alone = _by_name(capsys.readouterr().out)
    assert (alone["code_lines"]["raw"], alone["code_lines"]["label"]) == (3.0, None)
    assert "public_api" not in alone
    assert run(["eval", str(after), "--json", "--no-replay", "--before", str(before)]) == 0
    compared = _by_name(capsys.readouterr().out)
    assert compared["public_api"]["value"] == 0
    assert compared["growth"]["value"] == 1


def _by_name(line):
    (each,) = json.loads(line)["runs"]
    return {score["name"]: score for score in each["scores"]}


def test_a_run_before_that_cannot_be_read_is_misuse(tmp_path, good, capsys):
    assert run(["eval", str(good), "--before", str(tmp_path / "none.pb")]) == 2
    assert "none.pb" in capsys.readouterr().err


def test_parts_of_one_run_are_reported_with_how_to_join_them(tmp_path, capsys):
    of_run = {"gen_ai__conversation__id": "c-7"}
    agent = span(1, 0, "agent", 1000, openinference__span__kind="AGENT", input__value="Do it", **of_run)
    tool = span(2, 0, "kegs", 1010, openinference__span__kind="TOOL", output__value="17", **of_run)
    tool.trace_id = bytes(15) + b"\x08"
    request = ExportTraceServiceRequest(
        resource_spans=[ResourceSpans(scope_spans=[ScopeSpans(spans=[agent, tool])])]
    )
    path = tmp_path / "run.pb"
    path.write_bytes(encode_protobuf(request))
    assert run(["eval", str(path), "--no-replay", "--json"]) == 0
    shown = capsys.readouterr().err
    assert "traces 00000000, 00000000 are parts of one run, conversation c-7" in shown
    assert "One run in several traces" in shown
