"""Values found in prose are told apart by their clauses: swaps, units, directions, asides."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from spanproof.evaluators.layers.groundedness import Verdict, ground

BRIDGE = "The bridge has a total length of 704 metres and a main span of 278 m, and cost 320 million kroner."
TRAIL = "The trail is 12 km long (one way) and climbs 640 m."
TOWNS = ["Arvika has 25,940 inhabitants on an area of 1,660 km².", "Karlskoga has 30,380 inhabitants."]
REPORT = (
    "Net sales were SEK 4.12 billion, up 9% from SEK 3.78 billion."
    " Operating profit fell to SEK 388 million (421)."
)
DISKS = "Filesystem      Size  Used Avail Use% Mounted on\n/dev/nvme0n1p2  234G  198G   25G  89% /"
PINGED = "rtt min/avg/max = 0.412/0.688/3.107 ms"
TRAINED = "epoch 1/2 - acc: 0.61 - val_acc: 0.64\nepoch 2/2 - acc: 0.72 - val_acc: 0.70"


@pytest.mark.parametrize(
    ("outputs", "answer", "verdict"),
    [
        ([BRIDGE], "The main span is 278 metres.", Verdict.GROUNDED),
        ([BRIDGE], "The main span is 704 metres.", Verdict.CONTRADICTED),
        ([BRIDGE], "The main span is 278 feet.", Verdict.CONTRADICTED),
        ([TRAIL], "The trail is 12 km one way.", Verdict.GROUNDED),
        ([TRAIL], "The trail is 12 miles one way.", Verdict.CONTRADICTED),
        ([TRAIL], "The trail is 7.5 miles one way.", Verdict.GROUNDED),
        (TOWNS, "Karlskoga has 30,380 inhabitants and Arvika 25,940.", Verdict.GROUNDED),
        (TOWNS, "Arvika has 30,380 inhabitants.", Verdict.CONTRADICTED),
        (TOWNS, "Arvika's area is 1,660 square kilometres.", Verdict.GROUNDED),
        (TOWNS, "Together they have 56,320 inhabitants.", Verdict.GROUNDED),
        ([REPORT], "Operating profit fell from 421 million to SEK 388 million.", Verdict.GROUNDED),
        ([REPORT], "Operating profit rose to SEK 388 million.", Verdict.CONTRADICTED),
        ([REPORT], "Net sales were EUR 4.12 billion.", Verdict.CONTRADICTED),
    ],
)
def test_the_clause_tells_which_value_is_meant(outputs, answer, verdict):
    grounding = ground(outputs, answer)
    assert grounding.verdict is verdict, [(claim.text, claim.reason) for claim in grounding.claims]


def test_values_of_unlike_lines_are_not_held_against_each_other():
    log = "collected 248 items\nFAILED tests/test_api.py - 429 != 200"
    assert ground([log], "Of 248 tests one got 429.").verdict is Verdict.GROUNDED


def test_a_value_dated_in_prose_belongs_to_its_day():
    forecast = "Friday 10 July: storms, 80% chance of rain. Saturday 11 July: cloudy, 20% chance of rain."
    now = datetime(2026, 7, 9, 12, tzinfo=UTC)
    assert ground([forecast], "Tomorrow there is an 80% chance of rain.", now=now).verdict is Verdict.GROUNDED
    for answer in ("Tomorrow there is a 20% chance of rain.", "There is an 80% chance of rain on Saturday."):
        assert ground([forecast], answer, now=now).verdict is Verdict.CONTRADICTED


@pytest.mark.parametrize(
    ("output", "answer", "verdict"),
    [
        (PINGED, "The average is 0.69 ms.", Verdict.GROUNDED),
        (PINGED, "The maximum is 0.69 ms.", Verdict.CONTRADICTED),
        (DISKS, "198 GB of 234 GB are used.", Verdict.GROUNDED),
        (DISKS, "198 MB are used.", Verdict.CONTRADICTED),
        (TRAINED,
         "In epoch 2 the validation accuracy is 70%.", Verdict.GROUNDED),
        (TRAINED,
         "In epoch 2 the validation accuracy is 72%.", Verdict.CONTRADICTED),
        ("Makes 18 muffins. Ingredients: 300 g flour.", "It makes 18 muffins.", Verdict.GROUNDED),
    ],
)  # fmt: skip
def test_what_shells_and_pages_print(output, answer, verdict):
    grounding = ground([output], answer)
    assert grounding.verdict is verdict, [(claim.text, claim.reason) for claim in grounding.claims]
