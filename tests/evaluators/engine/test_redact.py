from __future__ import annotations

from spanproof.evaluators.redact import MAX_QUOTED, Redactor, with_masked_formats
from spanproof.sandbox.scanners.pipeline import Pipeline
from spanproof.trace import Errored, Evidence, Label, Scored, Skipped

KEY = "sk-live-" + "51Hq8xyzPq7RtV2wLm9Kd3"
WORD = "Tr0ub4dor-and-3-horses-7Qz"


def redactor(build, source):
    snippet = build.snippet(source)
    return Redactor([snippet], {snippet.id: Pipeline().scan("python", source)})


def test_a_providers_format_is_masked_wherever_it_is():
    assert KEY not in with_masked_formats(f"printed recorded 'k: {KEY}'")


def test_a_secret_found_in_the_code_is_masked_even_where_a_quotation_is_cut(build):
    masks = redactor(build, f"password = '{WORD}'\nprint(password)")
    assert masks.format_quoted(f"printed '{WORD}' and '{WORD[:12]}…'") == "printed '[secret]' and '[secret]…'"


def test_every_part_of_an_outcome_is_masked(build):
    masks = redactor(build, "x = 1")
    fact = Evidence(KEY, "a", recorded=KEY, replayed=KEY)
    for outcome in (Scored(0.0, Label.FAIL, KEY, (fact,)), Skipped(KEY), Errored("E", KEY)):
        assert KEY not in repr(masks.build_masked_outcome(outcome))


def test_quotations_are_bounded(build):
    assert len(redactor(build, "x = 1").format_quoted("y" * 1_000_000)) == MAX_QUOTED


def test_plain_text_stays_as_it_is(build):
    assert (
        redactor(build, "x = 1").format_quoted("recorded '45.0', replayed '54.0'")
        == "recorded '45.0', replayed '54.0'"
    )
