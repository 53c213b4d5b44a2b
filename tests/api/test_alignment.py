"""Which step of one run belongs beside which of the other."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from spanproof.api.alignment import list_step_pairs
from spanproof.trace import Language, Snippet, Step


def steps(*sources, observations=()):
    shown = dict(enumerate(observations))
    return [
        Step(
            number,
            f"{number:016x}",
            snippets=(
                Snippet(
                    f"s{number}", "0" * 32, f"{number:016x}", "code", Language.PYTHON, source, True,
                    observation=shown.get(number - 1),
                ),
            ),
        )
        for number, source in enumerate(sources, 1)
    ]  # fmt: skip


def test_a_step_that_was_added_moves_no_other():
    before = steps("rows = read('a.csv')", "print(total(rows))")
    after = steps("rows = read('a.csv')", "check(schema_of_everything)", "print(total(rows))")
    found = [(pair.before, pair.after, pair.change) for pair in list_step_pairs(before, after)]
    assert found == [(1, 1, "same"), (None, 2, "added"), (2, 3, "same")]


def test_changed_code_stays_beside_what_it_was():
    (pair,) = list_step_pairs(steps("print(total(rows) * 100)"), steps("print(total(rows) / 100)"))
    assert (pair.before, pair.after, pair.change) == (1, 1, "code")


def test_the_same_code_with_another_output_is_named():
    before, after = steps("print(now())", observations=["1"]), steps("print(now())", observations=["2"])
    assert list_step_pairs(before, after)[0].change == "output"


SOURCES = st.lists(st.sampled_from(["a = 1", "print(a)", "b = f(a, 2)", "raise KeyError", ""]), max_size=8)


@given(SOURCES, SOURCES)
def test_every_step_is_in_one_pair_and_in_order(before, after):
    pairs = list_step_pairs(steps(*before), steps(*after))
    assert [pair.before for pair in pairs if pair.before] == list(range(1, len(before) + 1))
    assert [pair.after for pair in pairs if pair.after] == list(range(1, len(after) + 1))
