"""docs/reference/system-calls.md names every call of the kernel once, with what the filter does with it."""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path

from spanproof.sandbox.supervisor.seccomp.rules import ALLOWED, CONDITIONAL, NAMED, REFUSED, WATCHED
from spanproof.sandbox.supervisor.seccomp.syscalls import AARCH64, X86_64

PAGE = Path(__file__).parents[3] / "docs/reference/system-calls.md"
EVERY = frozenset(X86_64.numbers) | frozenset(AARCH64.numbers)
VERDICTS = {
    "allowed": ALLOWED,
    "recorded": WATCHED,
    "refused": REFUSED,
    "by arguments": CONDITIONAL,
    "unknown": EVERY - NAMED,
}
ROW = re.compile(r"^\| ([^|]+) \| ([^|]+) \| ([^|]+) \|$", re.MULTILINE)


def read_rows() -> list[tuple[str, str, list[str]]]:
    """Return verdict, reason and calls of each row."""
    rows = [
        (verdict, reason, re.findall(r"`(\w+)`", calls))
        for verdict, reason, calls in ROW.findall(PAGE.read_text())
    ]
    return [row for row in rows if row[0] in VERDICTS]


def test_every_call_has_one_reason() -> None:
    counts = Counter(call for _verdict, _reason, calls in read_rows() for call in calls)
    assert not (twice := [call for call, count in counts.items() if count > 1]), f"name once: {twice}"
    assert not (missing := EVERY - counts.keys()), f"say in {PAGE.name} why the filter does what: {missing}"
    assert not (unknown := counts.keys() - EVERY), f"no call of the kernel: {unknown}"


def test_the_page_says_what_the_filter_does() -> None:
    for verdict, reason, calls in read_rows():
        wrong = set(calls) - VERDICTS[verdict]
        assert not wrong, f"not {verdict} ({reason}): {wrong}"
