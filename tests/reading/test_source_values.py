"""A source holds a number as written, rounded or in another scale, but no number of a log by chance."""

from __future__ import annotations

import json

import pytest
from irrelevant_context import write_log

from spanproof.reading.source_values import SourceValues

ORDERS = json.dumps([{"order": f"A-{at}", "amount_cents": 4_530 + 611 * at} for at in range(20)])
PRICES = json.dumps([{"item": at, "price_cents": 435 + 97 * at} for at in range(5)])
SHARES = "\n".join(f"{0.1 + 0.0371 * at:.4f}" for at in range(20))
MILLIONS = "Net sales were 1,204.5 (in millions), after 1,100.2 the year before."


@pytest.mark.parametrize(
    ("text", "number"),
    [(ORDERS, "45.3"), (ORDERS, "57.52"), (PRICES, "4.35"), (SHARES, "13.71"), (MILLIONS, "1.2045")],
)
@pytest.mark.parametrize("before", [(), (write_log(),)], ids=["alone", "after a log"])
def test_a_number_in_another_scale_is_held(before, text, number):
    values = SourceValues()
    for source in (*before, text):
        values.add_result(source)
    assert values.holds(number)


def test_a_log_holds_what_is_written_in_it_and_nothing_by_chance():
    values = SourceValues()
    values.add_result(write_log())
    assert values.holds("51013")
    assert values.holds("488")
    held = [hundredths for hundredths in range(301, 500) if values.holds(f"{hundredths / 100:.2f}")]
    assert len(held) < 20


def test_the_numbers_of_a_long_task_are_worked_out_alike_in_every_process():
    task = ", ".join(str(1_000 + 37 * at) for at in range(60))
    values = SourceValues(task)
    assert values.holds("2037")
    assert not values.holds(str(2 * 1_000 + 37 * (58 + 59)))
