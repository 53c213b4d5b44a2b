from __future__ import annotations

import json
from functools import partial

import httpx
import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st
from opentelemetry.proto.collector.logs.v1.logs_service_pb2 import ExportLogsServiceRequest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from opentelemetry.proto.common.v1.common_pb2 import KeyValue

from spanproof.collector.receive.body import decode_record
from spanproof.collector.receive.redaction import Redactor
from spanproof.collector.wal import file as wal_file
from spanproof.collector.wal.file import Record
from spanproof.config.model import RedactionRules
from spanproof.sandbox.scanners.secret_formats import FORMATS
from spanproof.semconv import spanproof as ours
from spanproof.trace import AttributeValue
from spanproof.trace.otlp import build_any_value, encode_json, get_attributes

PROTOBUF = {"content-type": "application/x-protobuf"}
SECRET = "4111111111111111"
CARD = RedactionRules(patterns=(r"\b\d{16}\b",))
KEYS = RedactionRules(keys=("Password", "iban"))
post = partial(httpx.post, timeout=120)


def redact(rules: RedactionRules, **attributes: AttributeValue) -> dict[str, AttributeValue]:
    request = ExportTraceServiceRequest()
    span = request.resource_spans.add().scope_spans.add().spans.add(trace_id=b"t" * 16, span_id=b"s" * 8)
    span.attributes.extend(
        KeyValue(key=key, value=build_any_value(value)) for key, value in attributes.items()
    )
    Redactor(rules).redact(request)
    return get_attributes(span.attributes)


@pytest.mark.parametrize(
    "value",
    [
        pytest.param(f"pay {SECRET} now", id="text"),
        pytest.param(int(SECRET), id="integer"),
        pytest.param(f'{{"card": {SECRET}}}', id="number in a document"),
        pytest.param('{"card": "\\u0034111111111\\u003111111"}', id="escaped in a document"),
        pytest.param(json.dumps({"a": json.dumps({"b": "\t" + SECRET})}), id="document in a document"),
        pytest.param(["a", SECRET], id="array"),
        pytest.param({"deep": {"deeper": [SECRET]}}, id="map"),
        pytest.param(SECRET.encode(), id="bytes"),
        pytest.param(b"\xff " + SECRET.encode(), id="bytes that are no text"),
    ],
)
def test_a_pattern_is_replaced_wherever_it_is(value) -> None:
    attributes = redact(CARD, note=value, other="kept")
    assert SECRET not in json.dumps(attributes, default=repr)
    assert SECRET not in repr(attributes["note"])
    assert attributes["other"] == "kept"
    assert attributes[ours.CONTENT_REDACTED] == attributes[ours.CONTENT_TRUNCATED] == ["note"]


@pytest.mark.parametrize(
    ("name", "value"),
    [
        pytest.param("password", "hush", id="the attribute"),
        pytest.param("http.request.header.PASSWORD", ["hush"], id="last part of a name"),
        pytest.param("input.value", '{"user": "a", "password": "hush"}', id="member"),
        pytest.param(
            "input.value", '{"calls": [{"args": "{\\"Password\\": \\"hush\\"}"}]}', id="nested text"
        ),
        pytest.param("input.value", '{"pass\\u0077ord": "hush"}', id="escaped name"),
        pytest.param("input.value", '{"user": "a", "password": "hush', id="cut document"),
        pytest.param("input.value", "{'password': 'hush', 'a': 1}", id="Python's own spelling"),
        pytest.param("input.value", '[{"password": {"now": "hush", "then": "hus', id="cut object"),
        pytest.param("input.value", 'sent "password": "hush" to the server', id="within prose"),
    ],
)
def test_the_value_of_a_key_is_replaced_as_a_whole(name, value) -> None:
    attributes = redact(KEYS, **{name: value})
    assert "hus" not in repr(attributes[name])
    assert "[redacted]" in repr(attributes[name])


def test_what_no_rule_matches_stays_byte_for_byte(make_request) -> None:
    request = make_request((1, 1, None), (1, 2, 1), text='{"a":  "spelled \\u0041s it came", "n": 1.50}')
    before = request.SerializeToString(deterministic=True)
    assert Redactor(CARD).redact(request) == 0
    assert request.SerializeToString(deterministic=True) == before


def test_names_events_status_links_scopes_and_resources_are_covered() -> None:
    request = ExportTraceServiceRequest()
    resource = request.resource_spans.add(schema_url=SECRET)
    resource.resource.attributes.add(key="host.name").value.string_value = SECRET
    scope = resource.scope_spans.add()
    scope.scope.name = scope.scope.version = SECRET
    span = scope.spans.add(trace_id=b"t" * 16, span_id=b"s" * 8, name=SECRET, trace_state=f"a={SECRET}")
    span.status.message = SECRET
    event = span.events.add(name=SECRET)
    event.attributes.add(key=f"k {SECRET}").value.string_value = SECRET
    span.links.add(trace_id=b"t" * 16).attributes.add(key="l").value.string_value = SECRET
    assert Redactor(CARD).redact(request) >= 9
    assert SECRET.encode() not in request.SerializeToString()


def test_fields_outside_the_schema_are_dropped() -> None:
    unknown = b"\xaa\x3f" + bytes([len(SECRET)]) + SECRET.encode()  # field 1013
    request = ExportTraceServiceRequest.FromString(unknown)
    Redactor(CARD).redact(request)
    assert request.SerializeToString() == b""


def test_secrets_of_providers_are_replaced_where_that_is_wanted() -> None:
    key = "ghp_" + "".join("aB3dE5fG7hJ9kL1mN2pQ4rS6tU8vW0xY1zA2"[:36])
    assert key not in redact(RedactionRules(secrets=True), note=f"token={key}")["note"]
    assert redact(CARD, note=key)["note"] == key


def test_anchors_hold_for_each_value_alone() -> None:
    rules = RedactionRules(patterns=(r"^only$", r"\Astart"))
    attributes = redact(rules, a="only", b="not only", c="start here", d="no start")
    assert [attributes[key] for key in "abcd"] == ["[redacted]", "not only", "[redacted] here", "no start"]


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    pattern=st.sampled_from(
        [r"\bab+\b", "^a", "b$", "a|bb", "[^x]b", r"\Ba", "a.b", "(?s)a.b", "(?i)AB", "a{2}"]
    ),
    values=st.lists(st.text('ab x\n"{}[]:,\\', max_size=12), min_size=1, max_size=6),
)
@example(pattern="[^x]b", values=["a", "b", "ab"])
def test_many_values_at_once_are_as_each_alone(pattern, values) -> None:
    rules = RedactionRules(patterns=(pattern,), replacement="#")
    alone = Redactor(rules)
    attributes = redact(rules, **{f"k{place}": value for place, value in enumerate(values)})
    assert [attributes[f"k{place}"] for place in range(len(values))] == [
        alone.redact_text(each) for each in values
    ]


@pytest.mark.parametrize(
    "rules",
    [
        pytest.param(RedactionRules(patterns=("(?P<a>ab)", "(?P<a>ba)")), id="groups of one name"),
        pytest.param(
            RedactionRules(patterns=("(?s)a.*b", "(?i)BX"), keys=("b",)), id="one match over another"
        ),
        pytest.param(RedactionRules(patterns=("a|b|x",), keys=("x",)), id="one letter"),
        pytest.param(RedactionRules(patterns=("^b$",), secrets=True), id="secrets beside a pattern"),
    ],
)
@pytest.mark.parametrize(
    "values", [["a", "b", "bx", "x"], ["xba", "GHP_ab"], ['{"b": "\\u0062x"}', "ab"]], ids=repr
)
def test_rules_together_find_what_each_finds_alone(rules, values) -> None:
    alone = Redactor(rules)
    attributes = redact(rules, **{f"k{number}": value for number, value in enumerate(values)})
    assert [attributes[f"k{number}"] for number in range(len(values))] == [
        alone.redact_text(each) for each in values
    ]


@pytest.mark.parametrize("write", [str.lower, str.upper, str])
def test_every_keyword_of_a_secret_is_looked_for_in_any_case(write) -> None:
    screen = Redactor(RedactionRules(secrets=True))._screen
    assert all(screen.search(write(word)) for form in FORMATS if not form.named for word in form.keywords)


def test_it_is_done_before_the_log_the_pipeline_and_what_is_sent_on(
    listen, make_request, wal_directory
) -> None:
    class Kept:
        def __init__(self) -> None:
            self.bodies: list[bytes] = []

        def forward(self, signal: object, body: bytes) -> None:
            self.bodies.append(body)

        def write_scores(self, scores: object) -> None:
            raise AssertionError("there are none")

    logs = ExportLogsServiceRequest()
    logs.resource_logs.add().scope_logs.add().log_records.add().body.string_value = SECRET
    kept = Kept()
    with listen(redaction=CARD, relay=kept) as listening:
        request = make_request((1, 1, None), text=SECRET)
        json_headers = {"content-type": "application/json"}
        for body, headers in ((request.SerializeToString(), PROTOBUF), (encode_json(request), json_headers)):
            assert post(listening.traces_url, content=body, headers=headers).status_code == 200
        url = f"{listening.endpoints.http}/v1/logs"
        assert post(url, content=logs.SerializeToString(), headers=PROTOBUF).status_code == 200
        assert listening.counted("spanproof_receive_values_redacted_total") == 3
        for accepted in listening.accepted:
            assert SECRET.encode() not in accepted.request.SerializeToString()
    for _, path in wal_file.list_segments(wal_directory):
        records = [part for part in wal_file.iter_segment(path) if isinstance(part, Record)]
        assert len(records) == 2
        assert all(SECRET.encode() not in decode_record(each).SerializeToString() for each in records)
    assert len(kept.bodies) == 1
    assert SECRET.encode() not in kept.bodies[0]
