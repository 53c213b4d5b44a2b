"""Times of day in every form; what is said of them is in the golden pairs."""

from __future__ import annotations

import pytest

from spanproof.evaluators.layers.groundedness.language.clock import whole_time


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
