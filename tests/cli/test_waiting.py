"""What waits for its evaluation, in words."""

from __future__ import annotations

import pytest

from spanproof.cli.waiting import iter_waiting_sentences
from spanproof.config.model import Assembly
from spanproof.store import Waiting, WaitingTrace
from spanproof.trace.project import TraceKey

NOW_NS = 1_790_000_000 * 10**9


def waiting_trace(age_s: float, *, is_whole: bool = True) -> WaitingTrace:
    stored_ns = NOW_NS - int(age_s * 1e9)
    return WaitingTrace(TraceKey("default", "1" * 32), stored_ns, stored_ns, is_whole)


@pytest.mark.parametrize(
    ("waiting", "sentences"),
    [
        (Waiting(), []),
        (Waiting((waiting_trace(2.5),)), ["1 trace waits, evaluated in about 4 s"]),
        (Waiting((waiting_trace(1), waiting_trace(5)), 8.2), ["2 traces wait, evaluated in about 8 s"]),
        (Waiting((waiting_trace(7),)), ["1 trace waits, evaluated at any moment"]),
        (
            Waiting((waiting_trace(96),)),
            ["1 trace waits, the last for 96 s: see whether the collector runs, and its log"],
        ),
        (
            Waiting((waiting_trace(1), waiting_trace(1, is_whole=False))),
            [
                "1 trace waits, evaluated in about 5 s",
                "1 trace has not ended: evaluated about 6 s after the end, or after 150 s without a span",
            ],
        ),
    ],
)
def test_the_words_say_how_many_wait_and_for_how_long(waiting: Waiting, sentences: list[str]) -> None:
    assert list(iter_waiting_sentences(waiting, NOW_NS, Assembly())) == sentences
