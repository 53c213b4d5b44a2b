"""How well failures reported as text are recognised: precision and recall, per source.

Usage: python tests/bench/outcomes.py [--wrong] [--held-out]

Reads `outcomes_data/tuned.yaml`, on which the rules were tuned, and `outcomes_data/held_out.yaml`, sources on
which they were not. A row is a failure, a result, or an empty result. --wrong prints the rows that the rules
get wrong, of the tuned sources alone unless --held-out is given too.
"""

from __future__ import annotations

import argparse
import json
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import yaml

from spanproof.evaluators.outcomes.emptiness import is_empty
from spanproof.evaluators.outcomes.places import giver_of
from spanproof.evaluators.outcomes.texts import read_failure
from spanproof.trace import JsonValue, Language

DATA = Path(__file__).with_name("outcomes_data")
FILES = ("tuned", "held_out")


@dataclass(frozen=True, slots=True)
class Row:
    """One output with its label: `failed`, `ok` or `empty`."""

    source: str
    tool: str
    language: str | None
    text: str
    label: str


def rows(name: str) -> Iterator[Row]:
    """The rows of one file."""
    for group in yaml.safe_load((DATA / f"{name}.yaml").read_text(encoding="utf-8")):
        for label in ("failed", "ok", "empty"):
            for text in group.get(label, ()):
                yield Row(group["source"], group["tool"], group.get("language"), text, label)


def label_of(row: Row) -> str:
    """What the rules say of a row."""
    value = _decoded(row.text)
    giver = giver_of(row.tool, Language(row.language) if row.language else None)
    if read_failure(row.text, giver, value) is not None:
        return "failed"
    return "empty" if is_empty(row.text, value) else "ok"


def _decoded(text: str) -> JsonValue:
    try:
        value: JsonValue = json.loads(text)
    except ValueError:
        return None
    return value


def main() -> None:
    """Print the figures of both files."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--wrong", action="store_true", help="print the rows that are wrong")
    parser.add_argument("--held-out", action="store_true", help="those of the held-out sources too")
    options = parser.parse_args()
    for name in FILES:
        found = Counter((row.label, label_of(row)) for row in rows(name))
        hits = found["failed", "failed"]
        claimed = sum(count for (_, said), count in found.items() if said == "failed")
        actual = sum(count for (label, _), count in found.items() if label == "failed")
        empty = sum(count for (label, _), count in found.items() if label == "empty")
        print(f"{name}: {sum(found.values())} outputs")
        print(
            f"  failures: precision {hits}/{claimed} = {hits / claimed:.3f},"
            f" recall {hits}/{actual} = {hits / actual:.3f}; empty: {found['empty', 'empty']}/{empty}"
        )
        if options.wrong and (name == "tuned" or options.held_out):
            for row in rows(name):
                said = label_of(row)
                if said != row.label:
                    print(f"  {row.source}: {row.label}, found {said}: {row.text!r}")


if __name__ == "__main__":
    main()
