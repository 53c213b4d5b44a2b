from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spanproof.evaluators.replay.compare import (
    Replayed,
    compare_execution,
    ends_in_expression,
    is_same_text,
    is_same_value,
)
from spanproof.evaluators.replay.record import Record
from spanproof.sandbox import Execution, FailureClass, Raised
from spanproof.trace import Payload

OK = FailureClass.OK


def compare(record, execution, *, output=None, excuse=None, sets=False):
    return compare_execution(record, execution, output or Replayed(), excuse=excuse, sets=sets)


@pytest.mark.parametrize(
    ("recorded", "replayed"),
    [
        ("a b", "a\n  b\n"),
        ("<X object at 0x7f00aa11>", "<X object at 0x55deadbeef>"),
        ("0.30000000000000004", "0.3"),
        ("total: 1e3", "total: 1000.0"),
        ("np.float64(45.0)", "45.0"),
        ("[1, 2.50]", "[1, 2.5]"),
    ],
)
def test_spelling_is_no_difference(recorded, replayed):
    assert is_same_text(recorded, replayed)


@pytest.mark.parametrize(
    ("recorded", "replayed"),
    [("45.0", "54.0"), ("1", "-1"), ("a", "a b"), ("v1.2", "v1.3"), ("45", "450"), ("yes", "")],
)
def test_another_number_or_word_is_a_difference(recorded, replayed):
    assert not is_same_text(recorded, replayed)


@pytest.mark.parametrize(
    "mark",
    [
        "\n..._This content has been truncated to stay below 20 characters_...\n",
        "\n[… 280 of 290 characters left out …]\n",
    ],
)
def test_a_shortened_record_is_compared_at_both_ends(mark):
    whole = " ".join(str(i) for i in range(100))
    assert is_same_text(f"0 1 2{mark}98 99", whole)
    assert not is_same_text(f"0 7 2{mark}98 99", whole)
    assert not is_same_text(f"0 1 2{mark}98 97", whole)
    assert not is_same_text(f"0 1 2{mark}98 99", "0 1")
    assert is_same_text(f"{mark}98 99", whole)
    assert is_same_value({"a": f"0 1 2{mark}98 99"}, {"a": whole})


def test_a_shortened_replay_is_compared_at_both_ends():
    whole = " ".join(str(i) for i in range(100))
    cut = "0 1 2 3 4\n[... 80 bytes cut ...]\n7 98 99"
    assert is_same_text(whole, cut, replay_cut=True)
    assert not is_same_text(whole, cut)
    assert not is_same_text(whole.replace("1", "7"), cut, replay_cut=True)
    assert not is_same_text("0 1 2", cut, replay_cut=True)
    both = "0 1\n[… 280 of 290 characters left out …]\n8 99"
    assert is_same_text(both, cut, replay_cut=True)
    assert not is_same_text(both.replace("8 99", "8 98"), cut, replay_cut=True)
    assert is_same_text("1 2 3 4", "1 2 3\n[... 2 characters cut ...]", replay_cut=True)


def test_a_long_value_is_compared_as_far_as_it_was_kept():
    numbers = str(list(range(200_000)))
    cut = Replayed(None, f"{numbers[:1000]}\n[... 9 characters cut ...]", cut=True)
    record = Record(OK, output=Payload(numbers, numbers))
    assert compare(record, Execution(OK), output=cut).agrees is True
    other = Record(OK, output=Payload(numbers.replace("17", "18"), numbers))
    assert compare(other, Execution(OK), output=cut).agrees is not True
    printed = Record(OK, stdout=numbers)
    assert compare(printed, Execution(OK, stdout=cut.text, stdout_cut=True)).agrees is True
    assert (
        compare(printed, Execution(OK, stdout="7 7 7\n[... 9 bytes cut ...]", stdout_cut=True)).agrees
        is False
    )


@given(st.text())
def test_every_text_is_the_same_as_itself(text):
    assert is_same_text(text, text)


@given(st.recursive(st.none() | st.booleans() | st.integers() | st.text(), lambda v: st.lists(v, max_size=3)))
def test_every_value_is_the_same_as_itself(value):
    assert is_same_value(value, value)


def test_true_is_not_one_and_huge_integers_are_compared_exactly():
    assert not is_same_value(recorded=True, replayed=1)
    assert not is_same_value(10**400, 10**400 + 1)
    assert not is_same_value(10**400, 1.5)


def test_equal_prints_and_value_agree():
    record = Record(OK, stdout="45.0\n", output=Payload("None", "None"))
    assert compare(
        record, Execution(OK, stdout="45.0\n", result_text="None"), output=Replayed(text="None")
    ).agrees


def test_a_different_print_disagrees_and_names_the_line():
    found = compare(Record(OK, stdout="a\n45.0\n"), Execution(OK, stdout="a\n54.0\n"))
    assert found.agrees is False
    assert found.difference == "printed line 2 recorded '45.0', replayed '54.0'"


def test_equal_failures_agree_without_any_output():
    record = Record(FailureClass.EXCEPTION, error_type="KeyError")
    assert compare(record, Execution(FailureClass.EXCEPTION)).agrees


def test_another_exception_of_pythons_own_disagrees():
    record = Record(FailureClass.EXCEPTION, error_type="KeyError")
    found = compare(record, Execution(FailureClass.EXCEPTION, raised=Raised("ValueError", "x")))
    assert (found.agrees, found.difference) == (False, "raised recorded 'KeyError', replayed 'ValueError'")
    assert compare(record, Execution(FailureClass.EXCEPTION, raised=Raised("OwnError", "x"))).agrees


def test_a_text_of_digits_does_not_hang(deadline):
    with deadline(60):
        is_same_text("1" * 200_000 + "a", "1" * 200_000 + "b")
        is_same_text("<" * 20_000 + " at 0x", "<a" * 20_000)


def test_another_class_disagrees_and_names_the_exception():
    execution = Execution(FailureClass.EXCEPTION, raised=Raised("KeyError", "'a'"))
    found = compare(Record(OK, stdout=""), execution)
    assert (found.agrees, found.difference) == (False, "recorded ok, replayed exception (KeyError: 'a')")


def test_nothing_on_record_is_not_compared():
    assert compare(Record(None), Execution(OK)).agrees is None
    assert compare(Record(OK), Execution(OK, stdout="x")).agrees is None


@pytest.mark.parametrize(
    "execution",
    [
        Execution(FailureClass.TIMEOUT),
        Execution(FailureClass.OUT_OF_MEMORY),
        Execution(FailureClass.PERMISSION_DENIED),
        Execution(FailureClass.UNSAFE_OPERATION),
    ],
)
def test_what_the_sandbox_stopped_or_withheld_is_not_held_against_the_record(execution):
    found = compare(Record(OK, stdout="x"), execution)
    assert found.agrees is None
    assert found.difference


def test_an_excuse_makes_a_difference_not_comparable_and_is_reported_with_it():
    failed = Execution(FailureClass.EXCEPTION)
    assert compare(Record(OK, stdout="x"), failed, excuse="the file is not on the trace").agrees is None
    found = compare(Record(OK, stdout="x"), Execution(OK, stdout="y"), excuse="off the tape")
    assert (found.agrees, found.difference) == (None, "printed recorded 'x', replayed 'y': off the tape")


def test_an_excuse_is_not_needed_where_both_agree():
    assert compare(Record(OK, stdout="x"), Execution(OK, stdout="x"), excuse="off the tape").agrees


def test_only_the_order_of_a_set_is_excused():
    record = Record(OK, stdout="{'a', 'b'}")
    assert compare(record, Execution(OK, stdout="{'b', 'a'}"), sets=True).agrees is None
    assert compare(record, Execution(OK, stdout="{'b', 'c'}"), sets=True).agrees is False
    assert compare(record, Execution(OK, stdout="{'b', 'a'}")).agrees is False


def test_a_refusal_of_the_recorded_executor_is_a_difference_of_executors():
    record = Record(FailureClass.PERMISSION_DENIED, refused_by_executor=True)
    assert compare(record, Execution(OK)).agrees is None


def test_a_tools_own_wording_is_compared_only_where_it_has_the_shape_of_the_output():
    execution = Execution(OK, stdout="45.0\n")
    assert compare(Record(OK, shown="45.0"), execution).agrees
    assert compare(Record(OK, shown="stdout: 45.0, took 3 ms"), execution).agrees
    assert compare(Record(OK, shown="54.0"), execution).agrees is False
    assert compare(Record(OK, shown="done\nin\n3 ms"), execution).agrees is not False


def test_a_value_is_compared_only_where_the_code_ends_in_an_expression():
    record = Record(OK, output=Payload("5", 5))
    assert compare(record, Execution(OK), output=Replayed(has_value=False)).agrees is not False
    assert compare(record, Execution(OK), output=Replayed(6, "6")).agrees is False


def test_a_value_without_json_form_is_compared_only_with_the_text_the_agent_saw():
    array = Replayed(None, "[1 2]")
    recorded = Payload("array([1, 2])", "array([1, 2])")
    assert compare(Record(OK, output=recorded), Execution(OK), output=array).agrees is not False
    assert compare(Record(OK, output=recorded, output_text="[1 2]"), Execution(OK), output=array).agrees
    assert (
        compare(Record(OK, output=recorded, output_text="[1 3]"), Execution(OK), output=array).agrees is False
    )


@pytest.mark.parametrize(("source", "ends"), [("x", True), ("x = 1", False), ("", False), ("x +", False)])
def test_only_a_last_expression_has_a_value(source, ends):
    assert ends_in_expression(source) is ends
