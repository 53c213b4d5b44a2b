"""Many windows in one query, as many as one query takes, for each way to reach a store."""

from __future__ import annotations

import random

from spanproof.store import Store
from spanproof.store.filters import Filter
from spanproof.store.measures import Groups
from spanproof.store.windows import Windows
from spanproof.trace import Cohort, Label, Layer, Scored

HOUR = 3600 * 10**9
MONDAY = 1_790_035_200 * 10**9
WINDOWS = Windows([MONDAY + number * HOUR // 12 for number in range(2048)], HOUR)
FAIL = {Layer.GROUNDEDNESS: Scored(0.0, Label.FAIL, "no")}
PASS = {Layer.GROUNDEDNESS: Scored(1.0, Label.PASS, "yes")}


def choose(start_ns: int, end_ns: int) -> Filter:
    return Filter(Layer.GROUNDEDNESS, "groundedness", {}, None, start_ns, end_ns)


def test_each_window_has_what_it_has_alone(emptied: Store, evaluation):
    draw = random.Random(5)
    emptied.write(
        [
            evaluation(
                number,
                cohort=Cohort(project="shop", agent=draw.choice(["a", "b"])),
                verdicts=draw.choice([FAIL, PASS]),
                start_ns=MONDAY - HOUR + draw.randrange(WINDOWS.end_ns - MONDAY + 2 * HOUR),
            )
            for number in range(1, 201)
        ]
    )
    many, everything = emptied.measures.with_windows(WINDOWS), choose(WINDOWS.start_ns, WINDOWS.end_ns)
    counts, by_agent = (
        many.count_verdicts(everything, (), None),
        many.count_verdicts(everything, ("agent",), None),
    )
    groups = [(str(number), "a") for number in range(1000)]
    newest = many.group_failing_scores(everything, Groups(("agent",), groups), None, 2)
    assert len(counts) == len(WINDOWS.starts_ns)
    for number in draw.sample(range(1000), 25):
        start_ns = WINDOWS.starts_ns[number]
        alone, window = emptied.measures, choose(start_ns, start_ns + HOUR)
        assert counts[str(number),] == alone.count_verdicts(window, (), None)[()]
        assert {values[1:]: found for values, found in by_agent.items() if values[0] == str(number)} == (
            alone.count_verdicts(window, ("agent",), None)
        )
        expected = alone.group_failing_scores(window, Groups(("agent",), [("a",)]), None, 2)
        assert newest.get((str(number), "a")) == expected.get(("a",))
