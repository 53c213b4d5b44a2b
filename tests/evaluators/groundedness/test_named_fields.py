"""A value beside the whole name of a field is that of the field, or the answer is wrong."""

from __future__ import annotations

import pytest

from spanproof.evaluators.groundedness_rules import GroundednessRule
from spanproof.evaluators.layers.groundedness import build_ledger
from spanproof.evaluators.layers.groundedness.model import Verdict

REPORT = "mean_income: 41.278\nmedian_income: 36.915\nstd_dev_income: 12.406\n[512 rows x 9 columns]"
INVOICE = '{"invoice_state": "open", "due_cents": 48215, "invoice_id": "R-331"}'
SERVICE = "p95_latency_ms: 8412\nerror_rate: 0.2417\ncalls: 90211"
FILE = '{"file_bytes": 731904412, "lines": 90233}'


HALVES = '{"sales_h1": 608000, "sales_h2": 415000}'


@pytest.mark.parametrize(
    ("output", "answer"),
    [
        pytest.param(REPORT, "The mean income is 41.93.", id="another value"),
        pytest.param(REPORT, "The mean income is -41.28.", id="another sign"),
        pytest.param(REPORT, "The median income is 12.41.", id="the value of another field"),
        pytest.param(INVOICE, "Your invoice of $418.25 is open.", id="the only amount of money"),
        pytest.param(INVOICE, "Your invoice of $48,215.00 is open.", id="cents taken for dollars"),
        pytest.param(SERVICE, "p95 latency is 8412 seconds.", id="another unit"),
        pytest.param(SERVICE, "The error rate is 2.417%.", id="a share with another point"),
        pytest.param(FILE, "The file is 731.9 GB.", id="another prefix"),
        pytest.param(HALVES, "Sales for H1 were 415k and sales for H2 were 608k.", id="exchanged fields"),
        pytest.param(HALVES, "Sales fell by 21.4% from 608k to 415k.", id="another change in percent"),
        pytest.param(HALVES, "Sales fell by 143k from 608k to 415k.", id="another change"),
    ],
)
def test_another_value_than_that_of_the_named_field_is_contradicted(output: str, answer: str) -> None:
    ledger = build_ledger([output], answer)
    assert ledger.verdict is Verdict.CONTRADICTED
    assert {claim.rule for claim in ledger.claims} - {None} <= {GroundednessRule.MISQUOTE}


@pytest.mark.parametrize(
    ("output", "answer"),
    [
        (REPORT, "The mean income is 41.28."),
        (INVOICE, "Your invoice of $482.15 is open."),
        (SERVICE, "p95 latency is 8.4 seconds and the error rate is 24.2%."),
        (FILE, "The file is 731.9 MB."),
        (HALVES, "Sales fell by 31.7% from 608k to 415k."),
        (
            '[{"sku": "AX-1", "qty": 4}, {"sku": "AX-2", "qty": 9}, {"sku": "AX-3", "qty": 2}]',
            "There are 3 SKUs.",
        ),
    ],
)
def test_the_value_of_the_named_field_is_grounded(output: str, answer: str) -> None:
    assert build_ledger([output], answer).verdict is Verdict.GROUNDED


@pytest.mark.parametrize(
    ("output", "answer"),
    [
        pytest.param('{"oat_milk_ml": 400, "rice_g": 250}', "Buy another 150 ml of oat milk.", id="the rest"),
        pytest.param(
            '{"oat_milk_ml": 400, "rice_g": 250}', "You still need:\n- 150 ml oat milk", id="under a heading"
        ),
        pytest.param(REPORT, "The mean income of the women is 38.20.", id="of a part"),
        pytest.param(
            '{"minimum": 75.00, "cart": 62.00}', "You are $13 short of the minimum.", id="difference"
        ),
        pytest.param(
            '{"car": "Fiat 500 or similar", "total": 320.00}', "It is €215 for the car.", id="in a text"
        ),
        pytest.param('{"last_used": "2025-08-19"}', "It was last used yesterday.", id="another clock"),
        pytest.param('{"insurance": "no", "bags": 3}', "**Insurance:** No", id="a flag that is denied once"),
    ],
)
def test_what_may_be_of_another_quantity_is_not_contradicted(output: str, answer: str) -> None:
    assert build_ledger([output], answer).verdict is not Verdict.CONTRADICTED


def test_a_change_in_the_other_direction_is_contradicted_beside_its_amount() -> None:
    ledger = build_ledger([HALVES], "Sales rose by 31.7% from 608k to 415k.")
    assert GroundednessRule.DIRECTION in {claim.rule for claim in ledger.claims}
