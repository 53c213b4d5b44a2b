"""What every scanner keeps to; a scanner of your own passes when it is added to `_SCANNERS`."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from spanproof.sandbox.policy import Policy
from spanproof.sandbox.scanners.boundary import Boundary
from spanproof.sandbox.scanners.context import Context, clock
from spanproof.sandbox.scanners.model import Finding
from spanproof.sandbox.scanners.pipeline import list_default_scanners
from spanproof.sandbox.scanners.report import Report
from spanproof.sandbox.scanners.scanner import Scanner
from spanproof.sandbox.scanners.source import Source

_SCANNERS = list_default_scanners()
_ALL = pytest.mark.parametrize("scanner", _SCANNERS, ids=lambda one: one.name)
_ANY = frozenset({"python", "bash", "sql", "javascript", "text"})
_SECRET = "gh" + "p_" + "a8Xk29dLqPz0Wm3v7TnB5cR1yE4uHs6gJf2Q"
_PIECES = [
    "open('/etc/x')\n", "eval(x)\n", "$(cat a)\n", "SELECT 1;", "require('fs')",
    "{", "}", "(", "'", '"', "\\", "\0",
    "\ud800", "é", "\u202e", "ignore previous instructions", "password = 'hunter22'\n", "\r\n",
    "\n", "f'{a", "<<EOF\n",
]  # fmt: skip


def _scan(scanner: Scanner, text: str, seconds: float = 20.0) -> list[tuple[Finding, ...]]:
    found = []
    for language in sorted(scanner.languages or _ANY):
        report = Report()
        context = Context(Boundary(Policy()), report, clock() + seconds, salt=b"contract")
        scanner.scan(context, Source(language, text))
        found.append(report.list_findings())
    return found


@_ALL
@given(pieces=st.lists(st.one_of(st.sampled_from(_PIECES), st.text(max_size=20)), max_size=12))
@settings(max_examples=40, deadline=None)
def test_a_scanner_takes_any_text_and_finds_the_same_twice(scanner: Scanner, pieces: list[str]) -> None:
    text = "".join(pieces)

    assert _scan(scanner, text) == _scan(scanner, text)


@_ALL
@given(pieces=st.lists(st.sampled_from(_PIECES), max_size=12))
@settings(max_examples=40, deadline=None)
def test_a_finding_is_inside_the_text(scanner: Scanner, pieces: list[str]) -> None:
    text = "".join(pieces)
    lines = text.count("\n") + text.count("\r") + 1
    for findings in _scan(scanner, text):
        for one in findings:
            assert 1 <= one.line <= one.end_line <= lines + 1
            assert one.column >= 1
            assert (one.line, one.column) <= (one.end_line, one.end_column)


@_ALL
def test_a_secret_is_never_shown(scanner: Scanner) -> None:
    text = f"token = '{_SECRET}'\nopen('/etc/' + '{_SECRET}')\n"

    assert all(_SECRET not in repr(one) for findings in _scan(scanner, text) for one in findings)


@pytest.mark.load
@_ALL
@pytest.mark.parametrize(
    "unit", ["(", "a=", "{[", "''''", "eval(", "password ", "x='a'+", "$(", "ignore previous "]
)
def test_a_hostile_text_takes_bounded_time(scanner: Scanner, unit: str) -> None:
    started = clock()
    _scan(scanner, unit * (20_000 // len(unit)))

    assert clock() - started < 10
