"""JSON text as it is found: what a strict parser refuses or rounds is read whole."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spanproof.trace.codec import MalformedDocument, encode_json, load_json

PLAIN = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
)


@given(PLAIN)
def test_plain_data_comes_back_as_it_was(value):
    assert load_json(encode_json(value)) == value
    assert load_json(json.dumps(value)) == value
    assert load_json(json.dumps(value).encode()) == value


@pytest.mark.parametrize("digits", [19, 20, 21, 40, 1000])
@pytest.mark.parametrize("sign", ["", "-"])
def test_an_integer_of_any_length_is_no_float(digits, sign):
    number = int(f"{sign}{'9' * digits}")
    assert load_json(f'{{"wei": [{number}, 1.5]}}') == {"wei": [number, 1.5]}
    assert load_json(f'{{"wei":{number}}}') == load_json(f'{{"wei":\n\t{number}}}') == {"wei": number}
    assert load_json(str(number)) == number


def test_digits_in_a_text_are_a_text():
    assert load_json(f'["{"9" * 30}", 1e30]') == ["9" * 30, 1e30]


def test_no_json_names_the_place():
    with pytest.raises(MalformedDocument, match="character 2"):
        load_json("{nonsense")
