"""Times of day in every form, under their names, in the zones that are written."""

from __future__ import annotations

import pytest

from spanproof.evaluators.layers.groundedness import Verdict, ground
from spanproof.evaluators.layers.groundedness.language.dates import whole_time


@pytest.mark.parametrize(
    ("answer", "verdict"),
    [
        ("It starts at 3 pm.", Verdict.GROUNDED),
        ("It starts at 15:00.", Verdict.GROUNDED),
        ("It starts at 3:00 p.m.", Verdict.GROUNDED),
        ("It starts at 3 am.", Verdict.CONTRADICTED),
        ("It starts at 3:45 pm.", Verdict.CONTRADICTED),
        ("It ends at 3:45 pm.", Verdict.GROUNDED),
    ],
)
def test_the_named_time_counts(answer, verdict):
    assert ground(['{"start": "15:00", "end": "15:45"}'], answer).verdict is verdict


def test_zones_that_both_sides_write_are_reckoned_with():
    output = '{"departs": "2026-05-02T14:30:00Z"}'
    assert ground([output], "It departs at 16:30 CEST.").verdict is Verdict.GROUNDED
    assert ground([output], "It departs at 15:30 CEST.").verdict is Verdict.CONTRADICTED
    assert ground([output], "It departs at 14:30 UTC.").verdict is Verdict.GROUNDED


def test_a_time_in_the_users_zone_stays_open():
    output = '{"departs": "2026-05-02T14:30:00Z"}'
    assert ground([output], "It departs at 16:30.").verdict is Verdict.UNCERTAIN
    assert ground([output], "It departs at 16:45.").verdict is Verdict.CONTRADICTED
    assert ground(['{"departs": "14:30"}'], "It departs at 16:30.").verdict is Verdict.CONTRADICTED


def test_times_in_log_lines_keep_their_lines():
    log = "2026-10-13 23:06:02 payments marked down\n2026-10-13 23:48:30 payments recovered"
    assert ground([log], "Payments recovered at 23:48.").verdict is Verdict.GROUNDED
    assert ground([log], "Payments recovered at 23:06.").verdict is Verdict.CONTRADICTED


@pytest.mark.parametrize(
    ("text", "seconds", "offset"),
    [
        ("07:25", 26_700, None),
        ("2026-05-02T14:30:05Z", 52_205, 0),
        ("2026-05-02 14:30:05+02:00", 52_205, 120),
        ("3:05 pm", 54_300, None),
    ],
)
def test_whole_times(text, seconds, offset):
    found = whole_time(text)
    assert (found.seconds, found.offset) == (seconds, offset)


@pytest.mark.parametrize("text", ["33:41", "10:00-12:00", "room 4:20b", "a:b", "2026-05-02"])
def test_what_is_no_time_of_day(text):
    assert whole_time(text) is None
