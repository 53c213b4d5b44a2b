from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spanproof.failures import format_masked, read_raised
from spanproof.failures.messages import MAX_TOKENS

TRACEBACK = """Traceback (most recent call last):
  File "<string>", line 3, in <module>
  File "/usr/local/lib/python3.11/site-packages/pandas/core/generic.py", line 6434, in __getattr__
    return object.__getattribute__(self, name)
AttributeError: 'DataFrame' object has no attribute 'group'. Did you mean: 'drop'?
"""


def test_a_traceback_gives_type_message_and_the_package_that_raised():
    raised = read_raised(TRACEBACK)
    assert (raised.error_type, raised.package) == ("AttributeError", "pandas")
    assert format_masked(raised.message) == "DataFrame object has no attribute <value>"


def test_a_frame_of_the_agents_code_is_of_no_package():
    assert (
        read_raised('Traceback (most recent call last):\n  File "<string>", line 1\nKeyError: 1').package
        == ""
    )


@pytest.mark.parametrize(
    ("text", "error_type", "message"),
    [
        ("KeyError: 'a'", "KeyError", "'a'"),
        ("json.decoder.JSONDecodeError: Expecting value", "JSONDecodeError", "Expecting value"),
        ("it went wrong", "", "it went wrong"),
        ("", "", ""),
        (
            "Code execution failed at line 'v' due to: Error: Could not index 1 with 9: KeyError: x",
            "KeyError",
            "x",
        ),
        (
            "Error executing tool 'quote' with arguments {'n': 1}: TimeoutError: no answer\nPlease try again",
            "TimeoutError",
            "no answer",
        ),
    ],
)
def test_what_frameworks_write_around_an_error_is_left_out(text, error_type, message):
    raised = read_raised(text)
    assert (raised.error_type, raised.message) == (error_type, message)


def test_a_type_that_is_known_apart_stays():
    assert read_raised("order: no such id", "OrderNotFound").error_type == "OrderNotFound"
    assert read_raised("shop.errors.OrderNotFound: 17", "shop.errors.OrderNotFound").message == "17"


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("no order 8812 for customer Ada Lovelace", "no order 17 for customer Ben"),
        ("[Errno 2] No such file or directory: 'a.csv'", "[Errno 2] No such file or directory: '/x/y b.csv'"),
        ("get_price() missing 1 required argument", "Shop.load() missing 12 required argument"),
        ("404 Client Error for url: https://a.b/c?d=1", "404 Client Error for url: http://localhost:80/"),
        ("could not take lock inventory/eu-west within 10s", "could not take lock orders/us within 2s"),
    ],
)
def test_values_are_masked(one, other):
    assert format_masked(one) == format_masked(other)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("[Errno 2] cannot open", "[Errno 13] cannot open"),
        ("404 Client Error", "429 Client Error"),
        ("unsupported operand: 'int' and 'str'", "unsupported operand: 'int' and 'NoneType'"),
        ("'list' object has no attribute 'x'", "'DataFrame' object has no attribute 'x'"),
    ],
)
def test_what_names_the_cause_is_kept(one, other):
    assert format_masked(one) != format_masked(other)


@given(st.text(max_size=600))
def test_any_text_is_read_and_masked_to_bounded_words(text):
    raised = read_raised(text)
    assert len(format_masked(raised.message).split()) <= MAX_TOKENS * 2
    assert format_masked(raised.message) == format_masked(raised.message)
