"""How well failures reported as text are recognised: precision and recall, per source.

Usage: python tests/bench/outcomes.py [--wrong] [--sources]

Reads two collections. `outcomes_data/tuned.yaml` and `held_out.yaml` are written by hand.
`outcomes_data/recorded.jsonl.xz` is captured from real tools by `capture_outcomes.py`; its sources are split
in three: on `tuned` the rules are tuned, on `chosen` they are chosen, on `held` they are measured only. A row
is a failure, a result, or an empty result. --wrong prints the rows that the rules get wrong, never of the
sources that are measured only; --sources prints the figures of each source.
"""

from __future__ import annotations

import argparse
import json
import lzma
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import yaml

from spanproof.reading.envelopes.emptiness import is_empty
from spanproof.reading.envelopes.read import find_failure
from spanproof.reading.tool_kinds import classify_tool
from spanproof.trace import JsonValue, Language

DATA = Path(__file__).with_name("outcomes_data")
BY_HAND = ("tuned", "held_out")
RECORDED = ("tuned", "chosen", "held")


@dataclass(frozen=True, slots=True)
class Row:
    """One output with its label: `failed`, `ok` or `empty`."""

    source: str
    tool: str
    language: str | None
    text: str
    label: str
    command: str = ""


@dataclass(frozen=True, slots=True)
class Figures:
    """How often the rules are right on some rows."""

    rows: int
    hits: int
    claimed: int
    failed: int
    empty: int
    empty_found: int

    @property
    def precision(self) -> float:
        """The share of the failures found that are failures."""
        return self.hits / self.claimed if self.claimed else 1.0

    @property
    def recall(self) -> float:
        """The share of the failures that are found."""
        return self.hits / self.failed if self.failed else 1.0

    def __str__(self) -> str:
        return (
            f"{self.rows} outputs: precision {self.hits}/{self.claimed} = {self.precision:.3f},"
            f" recall {self.hits}/{self.failed} = {self.recall:.3f}; empty: {self.empty_found}/{self.empty}"
        )


def rows(name: str) -> Iterator[Row]:
    """The rows of one file written by hand."""
    for group in yaml.safe_load((DATA / f"{name}.yaml").read_text(encoding="utf-8")):
        for label in ("failed", "ok", "empty"):
            for text in group.get(label, ()):
                yield Row(group["source"], group["tool"], group.get("language"), text, label)


@cache
def recorded(split: str) -> tuple[Row, ...]:
    """The captured rows of one split."""
    with lzma.open(DATA / "recorded.jsonl.xz", "rt", encoding="utf-8") as file:
        found = [json.loads(line) for line in file]
    return tuple(
        Row(row["source"], row["tool"], row["language"], row["text"], row["label"], row["command"])
        for row in found
        if row["split"] == split
    )


def label_of(row: Row) -> str:
    """What the rules say of a row."""
    value = _decoded(row.text)
    kind = classify_tool(row.tool, Language(row.language) if row.language else None)
    if find_failure(row.text, kind, value, row.command) is not None:
        return "failed"
    return "empty" if is_empty(row.text, value) else "ok"


def figures(given: Iterable[Row]) -> Figures:
    """Return how often the rules are right on these rows."""
    found = Counter((row.label, label_of(row)) for row in given)
    return Figures(
        rows=sum(found.values()),
        hits=found["failed", "failed"],
        claimed=sum(count for (_, said), count in found.items() if said == "failed"),
        failed=sum(count for (label, _), count in found.items() if label == "failed"),
        empty=sum(count for (label, _), count in found.items() if label == "empty"),
        empty_found=found["empty", "empty"],
    )


def _decoded(text: str) -> JsonValue:
    try:
        value: JsonValue = json.loads(text)
    except ValueError:
        return None
    return value


def main() -> None:
    """Print the figures of both collections."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--wrong", action="store_true", help="print the rows that are wrong")
    parser.add_argument("--sources", action="store_true", help="print the figures of each source")
    options = parser.parse_args()
    collections = {f"by hand, {name}": tuple(rows(name)) for name in BY_HAND}
    collections |= {f"recorded, {name}": recorded(name) for name in RECORDED}
    for name, given in collections.items():
        print(f"{name}: {figures(given)}")
        if options.sources:
            for source in dict.fromkeys(row.source for row in given):
                print(f"  {source}: {figures(row for row in given if row.source == source)}")
        if options.wrong and not name.endswith(("held_out", "held")):
            for row in given:
                said = label_of(row)
                if said != row.label:
                    print(f"  {row.source} ({row.tool}): {row.label}, found {said}: {row.text[:400]!r}")


if __name__ == "__main__":
    main()
