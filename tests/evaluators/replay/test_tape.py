from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spanproof.evaluators.call_matching import normalise_call
from spanproof.evaluators.replay.tape import Tape
from spanproof.sandbox import ToolRequest
from spanproof.trace import Payload, RecordedCall, SpanError

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=6,
)


def call(tool, result, *args, **kwargs):
    return RecordedCall(tool, args, kwargs, Payload(str(result), result))


def request(tool, *args, **kwargs):
    return ToolRequest(tool, args, kwargs)


def tape(*calls, parameters=None):
    laid = Tape([(each, None) for each in calls], parameters)
    laid.start_snippet(None)
    return laid


def test_a_recorded_call_answers_with_its_result():
    assert tape(call("price", 4500, item="hat")).handle_request(request("price", item="hat")).result == 4500


def test_a_positional_call_matches_a_recorded_keyword_one_through_declared_parameters():
    laid = tape(call("price", 7, shop="a", item="hat"), parameters={"price": ["item", "shop"]})
    assert laid.handle_request(request("price", "hat", "a")).result == 7


def test_a_positional_call_matches_a_keyword_one_through_the_names_on_record():
    assert (
        tape(call("price", 7, item="hat", shop="a")).handle_request(request("price", "hat", "a")).result == 7
    )


def test_a_keyword_call_matches_a_recorded_positional_one_where_no_names_are_known():
    assert (
        tape(call("price", 7, "hat", "a")).handle_request(request("price", item="hat", shop="a")).result == 7
    )


def test_two_positional_calls_never_match_by_a_different_order():
    laid = tape(call("price", 7, "hat", "a"))
    assert laid.handle_request(request("price", "a", "hat")).error_type == "ReplayDivergence"


def test_equal_calls_are_used_up_in_the_order_of_the_record():
    laid = tape(call("roll", 1), call("roll", 2))
    assert [laid.handle_request(request("roll")).result for _ in range(2)] == [1, 2]
    assert laid.handle_request(request("roll")).error_type == "ReplayDivergence"
    assert [d.reason for d in laid.divergences] == ["exhausted"]


def test_other_arguments_are_never_answered():
    laid = tape(call("price", 4500, item="hat"))
    assert laid.handle_request(request("price", item="coat")).error_type == "ReplayDivergence"
    (divergence,) = laid.divergences
    assert (divergence.tool, divergence.kwargs, divergence.reason) == (
        "price",
        {"item": "coat"},
        "unknown_arguments",
    )


def test_a_tool_that_was_never_recorded_is_unknown_and_raises_as_an_undefined_name_does():
    laid = tape(call("price", 4500))
    answer = laid.handle_request(request("refund", 3))
    assert (answer.error_type, answer.error_message) == ("NameError", "name 'refund' is not defined")
    assert laid.divergences[0].reason == "unknown_tool"


def test_a_tool_that_exists_but_was_never_recorded_does_not_pretend_to_be_undefined():
    laid = tape(parameters={"refund": ["amount"]})
    assert laid.handle_request(request("refund", 3)).error_type == "ReplayDivergence"
    assert laid.divergences[0].reason == "unknown_tool"


@pytest.mark.parametrize(
    ("error", "raised"),
    [
        (SpanError("LookupError", "no such item", ("LookupError", "KeyError")), "LookupError"),
        (SpanError("shop.Gone", "no such item", ("Gone", "KeyError")), "shop.Gone"),
        (SpanError("AgentToolExecutionError", "no such item", ("AgentError", "KeyError")), "KeyError"),
        (SpanError(None, "no such item"), "RuntimeError"),
    ],
)
def test_a_recorded_exception_is_raised_again_as_it_left_the_tool_and_not_as_its_cause(error, raised):
    answer = tape(RecordedCall("price", error=error)).handle_request(request("price"))
    assert (answer.error_type, answer.error_message) == (raised, "no such item")


@pytest.mark.parametrize(
    ("args", "kwargs", "words"),
    [
        (("a", "b"), {}, "price() takes 1 positional arguments but 2 were given"),
        ((), {"shop": "a"}, "price() got an unexpected keyword argument 'shop'"),
        (("a",), {"item": "a"}, "price() got multiple values for argument 'item'"),
    ],
)
def test_a_call_its_declared_parameters_cannot_take_raises_type_error(args, kwargs, words):
    laid = tape(call("price", 7, item="a"), parameters={"price": ["item"]})
    answer = laid.handle_request(ToolRequest("price", args, kwargs))
    assert (answer.error_type, answer.error_message) == ("TypeError", words)
    assert laid.divergences == []


def test_a_recorded_key_error_is_not_quoted_twice():
    answer = tape(RecordedCall("price", error=SpanError("KeyError", "'hat'"))).handle_request(
        request("price")
    )
    assert answer.error_message == "hat"


def test_a_snippets_own_calls_are_not_eaten_by_the_snippet_before_it():
    laid = Tape([(call("roll", 2), "second")])
    laid.start_snippet("first")
    assert laid.handle_request(request("roll")).error_type == "ReplayDivergence"
    laid.start_snippet("second")
    assert laid.handle_request(request("roll")).result == 2
    assert laid.divergences == []


def test_numbers_that_are_equal_in_python_match():
    assert tape(call("add", 3, a=1, b=2.0)).handle_request(request("add", a=1.0, b=2)).result == 3


def test_true_and_one_are_different_arguments():
    assert tape(call("set", 1, flag=True)).handle_request(request("set", flag=1)).error_type is not None


@given(st.dictionaries(st.text(), JSON, max_size=4))
def test_a_call_always_finds_itself_on_the_tape(kwargs):
    laid = Tape([(RecordedCall("t", (), kwargs, Payload("x", "x")), None)])
    assert laid.handle_request(ToolRequest("t", (), dict(reversed(kwargs.items())))).result == "x"


@given(st.lists(JSON, max_size=4))
def test_binding_by_position_or_by_name_is_the_same_call(values):
    names = [f"p{i}" for i in range(len(values))]
    assert normalise_call(names, values, {}) == normalise_call(
        names, [], dict(zip(names, values, strict=True))
    )


def test_a_call_that_is_on_record_is_answered_whatever_was_declared():
    laid = tape(call("price", 7, "a", "b"), parameters={"price": ["item"]})
    assert laid.handle_request(ToolRequest("price", ("a", "b"), {})).result == 7


def test_calls_in_the_reverse_of_their_order_are_each_sorted_once(monkeypatch):
    compared = []
    monkeypatch.setattr(
        "spanproof.evaluators.call_matching.normalise_call",
        lambda *call: compared.append(call) or normalise_call(*call),
    )
    laid = tape(*(call("f", at, at) for at in range(50)), parameters={"f": ["x"]})
    assert [laid.handle_request(request("f", at)).result for at in reversed(range(50))] == [
        *reversed(range(50))
    ]
    assert len(compared) == 100
