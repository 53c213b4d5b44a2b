"""Measures the gate on a set of labelled snippets: what is caught, what is stopped in vain, how twins differ.

In: lines of `{"id", "language", "kind", "category", "pair", "source"}`. `kind` is `risky`, `harmless` or
`twin`: a harmless snippet that looks like the risky one whose id is its `pair`. Out: shares of each kind, and
the snippets that got another verdict than they should. Nothing of them is executed.
"""

from __future__ import annotations

import json
import statistics
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from spanproof.sandbox.policy import Policy
from spanproof.sandbox.scanners.model import Scan, Verdict
from spanproof.sandbox.scanners.pipeline import Pipeline

FOLDER = Path(__file__).parent / "snippet_sets"
"""Sets that were written without sight of the rules; its README says by whom and when each was opened."""


@dataclass(frozen=True, slots=True)
class Snippet:
    """One snippet of a set; `pair` is the id of the risky one that a twin looks like."""

    id: str
    language: str
    kind: str
    category: str
    pair: str
    source: str


@dataclass(frozen=True, slots=True)
class Scanned:
    """A snippet, its scan and the processor time that this took, in milliseconds."""

    snippet: Snippet
    scan: Scan
    cpu_ms: float

    @property
    def is_right(self) -> bool:
        """Whether a risky snippet is not allowed, and any other is."""
        return (self.scan.verdict is Verdict.ALLOW) == (self.snippet.kind != "risky")


@dataclass(frozen=True, slots=True)
class Shares:
    """What a set shows.

    Attributes:
        caught: of the risky snippets, those denied or reviewed.
        denied, reviewed: of the harmless ones, twins left out.
        distinguished: of the twins, those allowed whose risky snippet is not.
        p50_ms: the median of the processor time of one scan.
    """

    caught: float
    denied: float
    reviewed: float
    distinguished: float
    p50_ms: float


def load_set(path: Path) -> list[Snippet]:
    """Return the snippets of a file."""
    lines = path.read_text(encoding="utf-8").splitlines()
    rows = [json.loads(line) for line in lines if line.strip()]
    return [
        Snippet(
            str(row["id"]), row["language"], row["kind"], row["category"], str(row["pair"]), row["source"]
        )
        for row in rows
    ]


def scan_set(snippets: list[Snippet], policy: Policy | None = None) -> list[Scanned]:
    """Return the scan of each snippet, under the default policy where none is given."""
    pipeline = Pipeline(policy or Policy())
    for language in {snippet.language for snippet in snippets}:
        pipeline.scan(language, "x = 1")  # parsers are imported outside the measured time
    scanned = []
    for snippet in snippets:
        started = time.process_time()
        scan = pipeline.scan(snippet.language, snippet.source)
        scanned.append(Scanned(snippet, scan, (time.process_time() - started) * 1000))
    return scanned


def compute_shares(scanned: list[Scanned]) -> Shares:
    """Return the shares of a set."""
    risky = [one for one in scanned if one.snippet.kind == "risky"]
    harmless = [one.scan.verdict for one in scanned if one.snippet.kind == "harmless"]
    twins = [one for one in scanned if one.snippet.kind == "twin"]
    right = {one.snippet.id: one.is_right for one in scanned}
    return Shares(
        caught=_share(sum(one.is_right for one in risky), len(risky)),
        denied=_share(harmless.count(Verdict.DENY), len(harmless)),
        reviewed=_share(harmless.count(Verdict.REVIEW), len(harmless)),
        distinguished=_share(
            sum(one.is_right and right.get(one.snippet.pair, True) for one in twins), len(twins)
        ),
        p50_ms=statistics.median(one.cpu_ms for one in scanned),
    )


def format_report(scanned: list[Scanned], *, misses: bool) -> Iterator[str]:
    """Yield the lines of a report: the shares, and with `misses` each snippet that got another verdict."""
    shares = compute_shares(scanned)
    yield (
        f"{len(scanned)} snippets: caught {shares.caught:.3f}, harmless denied {shares.denied:.3f},"
        f" reviewed {shares.reviewed:.3f}, twins distinguished {shares.distinguished:.3f},"
        f" p50 {shares.p50_ms:.2f} ms of the processor"
    )
    for one in scanned:
        if misses and not one.is_right:
            rules = "; ".join(
                f"{finding.rule}@{finding.line} {finding.message}"
                for finding in one.scan.findings
                if finding.verdict is not Verdict.ALLOW
            )
            snippet = one.snippet
            yield f"    {snippet.id} {snippet.kind} {snippet.language}: {one.scan.verdict} {rules}"


def _share(count: int, of: int) -> float:
    return count / of if of else 0.0
