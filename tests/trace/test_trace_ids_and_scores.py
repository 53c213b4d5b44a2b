import pytest
from hypothesis import given
from hypothesis import strategies as st

from spanproof.trace import Evidence, Label, Scored, Skipped, digest, score_id, snippet_id

_PLACE = {
    "trace_id": "t", "span_id": "s", "snippet": None, "layer": "execution", "name": "execution",
    "evaluator": "replay", "version": "1", "input_digest": "d",
}  # fmt: skip


@given(parts=st.lists(st.text(), max_size=4), other=st.lists(st.text(), max_size=4))
def test_digests_differ_wherever_the_parts_do(parts, other):
    assert (digest(*parts) == digest(*other)) == (parts == other)


def test_a_digest_is_32_hex_digits_and_takes_lone_surrogates():
    assert len(digest("\ud800")) == 32
    assert int(digest("\ud800"), 16) >= 0


def test_the_same_judgement_has_the_same_id_and_any_other_another():
    assert score_id(**_PLACE) == score_id(**_PLACE)
    for part in _PLACE:
        assert score_id(**{**_PLACE, part: "other"}) != score_id(**_PLACE), part


def test_snippets_differ_by_place_as_by_source():
    first = snippet_id("t", "s", "code", "x = 1")
    assert first == snippet_id("t", "s", "code", "x = 1")
    assert first != snippet_id("t", "s", "code[1]", "x = 1")
    assert first != snippet_id("t", "s", "code", "x = 2")


@pytest.mark.parametrize("value", [-0.01, 1.01, float("nan"), float("inf")])
def test_a_score_outside_0_and_1_is_refused(value):
    with pytest.raises(ValueError, match=r"within 0\.\.1"):
        Scored(value, None, "")


def test_a_skip_is_no_score_of_zero():
    assert Skipped("content was hidden") != Scored(0.0, Label.FAIL, "content was hidden")
    assert Scored(1.0, Label.PASS, "ran", (Evidence("exit 0"),)).evidence[0].what == "exit 0"
