"""What is recorded of content: all of it, clipped and marked, or nothing when it is to be hidden."""

import hashlib
import json
from array import array
from collections import deque
from enum import IntEnum

import numpy
import pytest
from hypothesis import given
from hypothesis import strategies as st
from langchain_core.tools import tool

from spanproof.instrumentors import (
    ContentPolicy,
    Redaction,
    diagnostics,
    instrument_langchain,
    instrument_smolagents,
    uninstrument,
)
from spanproof.instrumentors.content.capture import Content, read_policy
from spanproof.instrumentors.content.redaction import find_redactor
from spanproof.instrumentors.content.serialise import Encoded, encode_value, find_plain
from spanproof.instrumentors.content.texts import format_clipped, format_encodable
from spanproof.instrumentors.frameworks.diagnostics import remove_diagnostics

from .coders import coder

_VARIABLE = "OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT"
_SECRET = "sesame-open-4711"


@pytest.mark.parametrize(
    ("value", "captures"),
    [
        (None, True),
        ("", True),
        ("SPAN_ONLY", True),
        ("span_and_event", True),
        ("true", True),
        ("NO_CONTENT", False),
        ("EVENT_ONLY", False),
        ("false", False),
        ("nonsense", False),
    ],
)
def test_capture_is_on_unless_the_environment_limits_it(value, captures):
    assert read_policy({} if value is None else {_VARIABLE: value}).capture is captures


def test_our_cut_comes_before_the_silent_one_of_the_sdk():
    policy = read_policy({"OTEL_ATTRIBUTE_VALUE_LENGTH_LIMIT": "1000"})
    content = Content(policy)
    content.text("long", "x" * 5000)
    assert len(content.finished()["long"]) <= 1000
    assert content.finished()["spanproof.content.truncated"] == ["long"]


def test_hidden_content_leaves_no_trace_of_itself(recorded):
    uninstrument()
    instrument_smolagents(recorded.provider, content=ContentPolicy(capture=False))
    instrument_langchain(recorded.provider, content=ContentPolicy(capture=False))
    coder(
        f"print('{_SECRET}')",
        f"raise ValueError('{_SECRET}')",
        f"cents_of('missing') # {_SECRET}",
        f"echo(value='{_SECRET}')",
        f"final_answer('{_SECRET}')",
    ).run(_SECRET, additional_args={"key": _SECRET})

    from langchain_core.runnables import RunnableLambda

    with pytest.raises(ValueError, match=_SECRET):
        RunnableLambda(lambda given: int(given)).invoke(_SECRET)
    for span in recorded.spans:
        assert span.instrumentation_scope.attributes["spanproof.content.hidden"] is True
        assert "spanproof.content.hidden" not in span.attributes  # recorded once for all of them
        assert _SECRET not in span.to_json()
    assert recorded.named("step 2").attributes["error.type"] == "ValueError"
    assert recorded.named("step 1").attributes["spanproof.code.language"] == "python"


def _redacting(recorded, **options):
    uninstrument()
    instrument_smolagents(recorded.provider, content=ContentPolicy(redaction=Redaction(**options)))


def test_a_redacted_pattern_is_nowhere_on_a_run(recorded):
    _redacting(recorded, patterns=[r"sesame-\w+-\d+"])
    coder(
        f"print('{_SECRET}')",
        f"raise ValueError('{_SECRET}')",
        f"echo(value={{'deep': ['{_SECRET}']}})",
        f"final_answer('{_SECRET} is it')",
    ).run(_SECRET, additional_args={"key": _SECRET})
    for span in recorded.spans:
        assert _SECRET not in span.to_json()
    step = recorded.named("step 1").attributes
    assert step["spanproof.code.source"] == "print('[redacted]')"
    assert "spanproof.code.source" in step["spanproof.content.redacted"]
    assert "spanproof.code.source" in step["spanproof.content.truncated"]
    assert "spanproof.code.sha256" not in step
    assert recorded.of_kind("AGENT")[0].attributes["output.value"] == "[redacted] is it"


def test_redacted_arguments_are_no_pointer_to_code(recorded):
    uninstrument()
    instrument_langchain(recorded.provider, content=ContentPolicy(redaction=Redaction(patterns=[_SECRET])))

    @tool
    def run_python(code: str) -> str:
        """Runs code."""
        return code

    run_python.invoke({"code": f"print('{_SECRET}')"})
    call = recorded.named("execute_tool run_python")
    assert _SECRET not in call.to_json()
    assert call.attributes["spanproof.code.source"] == "print('[redacted]')"
    assert "spanproof.code.source" in call.attributes["spanproof.content.redacted"]
    assert "spanproof.code.argument" not in call.attributes


def test_a_text_that_takes_the_place_of_a_document_says_that_it_is_text():
    content = Content(ContentPolicy())
    content.input({"a": 1})
    assert content.finished() == {"input.value": '{"a":1}', "input.mime_type": "application/json"}
    content.input("[1]")
    assert content.finished() == {"input.value": "[1]", "input.mime_type": "text/plain"}


def test_a_secret_is_not_cut_in_two_before_it_is_looked_for():
    content = Content(ContentPolicy(redaction=Redaction(patterns=[_SECRET])))
    content.beginning("x" * 115 + _SECRET + "y" * 500)
    shown = content.finished()["input.value"]
    assert shown == "x" * 115 + "[redacted]" + "y" * 500


def test_a_redacted_key_hides_its_value_in_every_document(recorded):
    _redacting(recorded, keys=["Password"])
    coder("echo(value={'password': {'old': 1}, 'user': 'u'})", "final_answer(1)").run("Go.")
    call = recorded.named("execute_tool echo").attributes
    assert json.loads(call["gen_ai.tool.call.result"]) == {"password": "[redacted]", "user": "u"}


def test_a_redaction_that_breaks_lets_nothing_out():
    def broken(text):
        raise RuntimeError("filter down")

    content = Content(ContentPolicy(redaction=Redaction(function=broken)))
    content.text("a", _SECRET)
    content.json("b", {"x": _SECRET})
    content.code(_SECRET, "python")
    assert _SECRET not in str(content.finished())
    assert diagnostics().errors["redaction"] >= 3
    remove_diagnostics()


def test_a_long_value_keeps_head_and_tail_and_says_how_much_is_missing():
    clipped = format_clipped("a" * 600 + "b" * 800 + "c" * 600, 900)
    assert clipped.startswith("a" * 600)
    assert clipped.endswith("c" * 300)
    whole = hashlib.sha256(("a" * 600 + "b" * 800 + "c" * 600).encode()).hexdigest()
    assert f"1100 of 2000 characters left out, sha256 {whole}" in clipped


def test_code_that_is_cut_has_the_digest_of_the_whole():
    content = Content(ContentPolicy(max_code_chars=50))
    content.code("x = 1\n" * 100, "python")
    written = content.finished()
    assert written["spanproof.code.sha256"] == hashlib.sha256(b"x = 1\n" * 100).hexdigest()
    assert written["spanproof.content.truncated"] == ["spanproof.code.source"]


def test_a_long_string_within_a_document_is_cut_so_that_it_stays_json():
    encoded = encode_value({"first": "x" * 50_000, "second": [1, 2], "third": "y" * 50_000}, 10_000)
    document = json.loads(encoded.text)
    assert encoded.truncated
    assert document["second"] == [1, 2]
    assert document["first"].startswith("xxx")
    assert document["third"].startswith("yyy")
    assert len(encoded.text) < 12_000


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ({"a": [1, 2.5, True, None, "é"]}, '{"a":[1,2.5,true,null,"é"]}'),
        ((1, (2,)), "[1,[2]]"),
        ({1: "a"}, '{"1":"a"}'),
        (10**20, "100000000000000000000"),
        (float("inf"), '"inf"'),
        (b"ab", "\"b'ab'\""),
    ],
)
def test_values_are_json_as_one_expects(value, text):
    assert encode_value(value, 1000).text == text


def test_what_json_cannot_hold_is_marked():
    assert not encode_value({"a": (1, 2)}, 1000).lossy
    for value in ({1: 2}, {1, 2}, float("nan"), object(), b""):
        assert encode_value(value, 1000).lossy


def test_numpy_values_keep_their_numbers():
    assert (
        encode_value({"a": numpy.int64(3), "b": numpy.array([1.5, 2.5])}, 1000).text
        == '{"a":3,"b":[1.5,2.5]}'
    )


def test_pydantic_models_and_dataclasses_are_documents():
    from dataclasses import dataclass

    from pydantic import BaseModel

    @dataclass
    class Point:
        x: int

    class Box(BaseModel):
        corner: object

    assert encode_value(Box(corner=Point(3)), 1000).text == '{"corner":{"x":3}}'


_numbers = st.integers(-(2**60), 2**60) | st.floats(allow_nan=False, allow_infinity=False)
_json = st.recursive(
    st.none() | st.booleans() | _numbers | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=20,
)


@given(_json)
def test_a_json_value_survives_unchanged(value):
    encoded = encode_value(value, 1_000_000)
    assert json.loads(encoded.text) == value
    assert not encoded.lossy
    assert not encoded.truncated


@given(_json)
def test_what_is_plain_json_is_written_as_the_walk_would(value):
    plain = find_plain(value, 1_000_000)
    assert plain is not None
    walked = encode_value(value, 1_000_000, find_redactor(Redaction(), "any"))
    assert json.loads(plain) == json.loads(walked.text)


@pytest.mark.parametrize(
    "value",
    [float("nan"), 10**5000, {1: 2}, {"a": {1}}, b"x", ["x" * 11], ["x"] * 3000, IntEnum("One", "A").A],
    ids=lambda value: repr(value)[:10] if type(value) is not int else "digits",
)
def test_what_is_not_plain_json_is_left_to_the_walk(value):
    assert find_plain(value, 10) is None


@given(st.text(st.characters(categories=["Cs", "L"])))
def test_any_text_becomes_utf8(text):
    format_encodable(text).encode()


_documents = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(st.characters()),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.tuples(inner, inner)
        | st.dictionaries(st.text() | st.integers(), inner, max_size=4)
    ),
    max_leaves=12,
)


@given(_documents)
def test_the_quick_way_for_easy_values_writes_what_the_careful_one_writes(value):
    nothing_hidden = find_redactor(Redaction(), "any")  # takes the careful way
    assert encode_value(value, 1_000_000) == encode_value(value, 1_000_000, nothing_hidden)


def test_only_the_built_in_types_themselves_are_taken_the_quick_way():
    class Endless(dict):
        def items(self):
            while True:
                yield ("again", 1)

    circular: list = []
    circular.append({"self": circular})
    assert encode_value([Endless(a=1)], 1000).text == '[{"a":1}]'
    assert encode_value(circular, 1000).lossy
    assert encode_value({"a": "x" * 5000}, 1000).truncated
    assert encode_value([10**5000, float("nan")], 1000).lossy


def test_of_many_bytes_head_and_tail_are_kept_with_their_number_and_digest():
    whole = b"begin" + b"\xff" * 1_000_000 + b"end"
    encoded = encode_value(whole, 65_536)
    assert encoded.truncated
    assert encoded.text.startswith("\"b'begin")
    assert encoded.text.endswith("end'\"")
    assert (
        f"of 1000008 bytes left out, sha256 {hashlib.sha256(whole).hexdigest()}"
        in encode_value(whole, 200_000).text
    )
    assert encode_value(b"few", 65_536) == Encoded("\"b'few'\"", lossy=True)


def test_sequences_of_other_kinds_are_lists_that_say_so():
    for value in (deque([1, "two"]), {1: 0, "two": 0}.keys(), {0: 1, 3: "two"}.values()):
        assert encode_value(value, 1000) == Encoded('[1,"two"]', lossy=True)
    assert encode_value(array("i", [1, 2]), 1000) == Encoded("[1,2]", lossy=True)
