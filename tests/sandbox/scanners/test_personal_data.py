"""Personal data is found by its check digits and ranges, is advice, and is never shown."""

from __future__ import annotations

import random

import pytest

from spanproof.sandbox.policy import Policy
from spanproof.sandbox.scanners.boundary import Boundary
from spanproof.sandbox.scanners.context import Context, clock
from spanproof.sandbox.scanners.model import Verdict
from spanproof.sandbox.scanners.personal import _compute_remainder, _has_check_digit, scan
from spanproof.sandbox.scanners.pipeline import Pipeline
from spanproof.sandbox.scanners.report import Report
from spanproof.sandbox.scanners.source import Source

_PIPELINE = Pipeline()


def _rules(text: str) -> list[str]:
    found = _PIPELINE.scan("text", text).findings
    return [one.rule.removeprefix("personal.") for one in found if one.rule.startswith("personal.")]


def _card(start: str, size: int) -> str:
    chance = random.Random(start)
    digits = start + "".join(chance.choice("0123456789") for _ in range(size - len(start) - 1))
    return next(digits + str(last) for last in range(10) if _has_check_digit(digits + str(last)))


def _account(country: str, rest: str) -> str:
    checked = next(two for two in range(2, 99) if _compute_remainder(f"{country}{two:02}{rest}") == 1)
    return f"{country}{checked:02}{rest}"


@pytest.mark.parametrize(
    ("rule", "value"),
    [
        ("card", _card("4", 16)), ("card", _card("51", 16)), ("card", _card("37", 15)),
        ("card", _card("6011", 16)),
        ("card", "-".join(_card("2221", 16)[at : at + 4] for at in range(0, 16, 4))),
        ("bank-account", _account("DE", "500105175407324931")),
        ("bank-account", _account("NL", "INGB0001234567")),
        ("social-security", "536-22-8726"), ("email", "anna.lindqvist@nordwind-post.se"),
        ("phone", "+1 650 253 0000"),
        ("phone", "+49 30 901820"),
    ],
)  # fmt: skip
def test_personal_data_is_found_as_advice(rule: str, value: str) -> None:
    if rule == "phone":
        pytest.importorskip("phonenumbers", reason="phone numbers need the extra `phones`")
    scanned = _PIPELINE.scan("python", f"row = {{'value': '{value}'}}")

    assert _rules(f"the value is {value}.") == [rule]
    assert scanned.verdict is Verdict.ALLOW
    assert value not in repr(scanned)


@pytest.mark.parametrize(
    "text",
    [
        "order 4929123456781234 shipped", "at 1718000000000 ms", "commit 4539578763621486a",
        "x = 4111.111111111111111",
        "version 123-45-6789-1", "0.1234567890123456", "DE00500105175407324931", "DE8937040044053201300",
        "AB12CD34EF56GH78", "000-12-3456", "666-12-3456", "912-12-3456", "078-05-1120", "user@example.com",
        "git@github.com:a/b.git", "@app.route('/x')", "a @ b.T", "no-reply@shop.se", "pkg@1.2.3",
        "x@localhost", "bot@users.noreply.github.com", "postgres://app:anna@db.acme.com/x",
        "lat +24.202094 lon +46.136897,",
        "+1 2 3", "a + 1234567890", "2024-01-01 12:00:00+00:00",
    ],
)  # fmt: skip
def test_what_only_looks_like_it_is_not(text: str) -> None:
    assert _rules(text) == []


@pytest.mark.parametrize(
    "unit", ["4", "4 ", "4-", "a@", "a.", "DE12", "DE12 ", "+1", "+1 ", "123-", "@a.", "a-"]
)
def test_it_takes_linear_time(unit: str) -> None:
    started = clock()
    scan(Context(Boundary(Policy()), Report(), clock() + 60), Source("text", unit * 50_000))

    assert clock() - started < 8
