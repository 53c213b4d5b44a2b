"""How numbers are written: ranges, dashes, durations, dozens, sizes, areas."""

from __future__ import annotations

import pytest

from spanproof.evaluators.layers.groundedness.language.quantities import quantities_in


def read(text):
    return [(each.value, each.unit.name if each.unit else None) for each in quantities_in(text, spelled=True)]


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("0-100 km/h", [(0, None), (100, "kmh")]),
        ("LH 3015 – €162.50", [(3015, None), (162.5, "EUR")]),
        ("growth was -12%", [(-12, "%")]),
        ("it took 4m12s", [(252, "s")]),
        ("2h 15m", [(8100, "s")]),
        ("won in 33:41", [(2021, "s")]),
        ("198G used, 31Gi free", [(198, "gb"), (31, "gib")]),
        ("470 km² or 470 square kilometres", [(470, "km²"), (470, "km²")]),
        ("520.9 MWh", [(520.9, "mwh")]),
        ("two dozen, a dozen and a half, half a dozen", [(24, None), (18, None), (6, None)]),
        ("SEK 4.12 billion", [(4.12e9, "SEK")]),
        ("12.6 million year over year", [(12.6e6, None)]),
        ("7.9 percentage points", [(7.9, "%")]),
        ("14 more days", [(14, "day")]),
    ],
)
def test_quantities(text, found):
    assert read(text) == [(pytest.approx(value), unit) for value, unit in found]
