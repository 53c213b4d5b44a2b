"""Measure code detection: whether a text holds code, in which language, and in what time.

Usage: python tests/bench/detection.py [ITEMS.jsonl …]

Without files: the sets in tests/golden/detection. Of `snippets.txt` each bare, in a fence without a mark and
between sentences, of `prose.txt` each bare and between other prose; the blind ones as they stand. Files hold
lines {"text", "label", "lang", "kind"}, where the languages that Spanproof does not name count as `other`.
Prints F1 of presence, accuracy of the language among code that was found, p50 and p99 of the time, and beside
it what fences alone give.
"""

from __future__ import annotations

import collections
import json
import re
import statistics
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from spanproof.evaluators.detect import list_text_snippets
from spanproof.evaluators.detect.unscanned import UNSCANNED
from spanproof.trace import Language

GOLDEN = Path(__file__).parent.parent / "golden" / "detection"
BLIND = ("first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth")
NAMED = frozenset(language.value for language in Language)
NAMES = {"cpp": "c++"}
# What is named and counts nowhere as code (docs/dialects.md).
DATA = frozenset({Language.JSON.value, Language.YAML.value})


@dataclass(frozen=True, slots=True)
class Item:
    """A text, the language of the code in it (empty for none), and what kind of case it is."""

    text: str
    language: str
    kind: str


@dataclass(frozen=True, slots=True)
class Figures:
    """What came out; `wrong` are the items that were judged wrongly, with what was said."""

    f1: float
    language: float
    p50_ms: float
    p99_ms: float
    wrong: tuple[tuple[Item, str], ...]


def own_items() -> Iterator[Item]:
    """The set in tests/golden."""
    text = (GOLDEN / "snippets.txt").read_text("utf-8")
    blocks = re.split(r"^=== (\w+)\n", text, flags=re.MULTILINE)[1:]
    for language, block in zip(blocks[::2], blocks[1::2], strict=True):
        code = block.rstrip("\n")
        yield Item(code, language, "bare")
        yield Item(
            f"Here it is:\n\n```\n{code}\n```\n\nTell me if it helps.", language, "fence without a mark"
        )
        yield Item(f"I will run this now.\n\n{code}\n\nThat should settle it.", language, "between sentences")
    for prose in (GOLDEN / "prose.txt").read_text("utf-8").split("===\n"):
        prose = prose.rstrip("\n")
        yield Item(prose, "", "prose")
        yield Item(f"Thank you for asking.\n\n{prose}\n\nIs there anything else?", "", "prose in prose")


def blind_items(name: str) -> list[Item]:
    """A set that was labelled before anything was run on it: one of `BLIND`."""
    path = GOLDEN / f"blind-{name}.jsonl"
    if path.exists():
        return list(items_in(path))
    text = (GOLDEN / f"blind-{name}.txt").read_text("utf-8")
    blocks = re.split(r"^=== (\w+) (\w+)\n", text, flags=re.MULTILINE)[1:]
    return [
        Item(text.rstrip("\n"), "" if language == "none" else language, kind)
        for language, kind, text in zip(blocks[::3], blocks[1::3], blocks[2::3], strict=True)
    ]


def items_in(path: Path) -> Iterator[Item]:
    """The items of a file."""
    for line in path.read_text("utf-8").splitlines():
        said = json.loads(line)
        language = NAMES.get(said["lang"], said["lang"])
        language = language if language in NAMED else "other"
        yield Item(said["text"], language if said["label"] else "", said["kind"])


def measure(items: list[Item]) -> Figures:
    """Detect in each item."""
    counts: collections.Counter[str] = collections.Counter()
    seconds, wrong = [], []
    for item in items:
        started = time.perf_counter()
        found = [snippet.language.value for snippet in list_text_snippets(item.text)]
        seconds.append(time.perf_counter() - started)
        if not item.language:
            found = [language for language in found if language not in DATA]
        if item.language == Language.OTHER and not UNSCANNED.isdisjoint(found):
            found.append(Language.OTHER.value)  # the set does not name the languages that no scanner reads
        counts[
            "hit" if found and item.language else "false" if found else "miss" if item.language else "-"
        ] += 1
        if item.language and item.language in found:
            counts["language"] += 1
        if bool(found) != bool(item.language) or (found and item.language not in found):
            wrong.append((item, ", ".join(found) or "nothing"))
    hit = counts["hit"]
    times = statistics.quantiles(seconds, n=100)
    return Figures(
        2 * hit / max(1, 2 * hit + counts["false"] + counts["miss"]),
        counts["language"] / max(1, hit),
        statistics.median(seconds) * 1e3,
        times[98] * 1e3,
        tuple(wrong),
    )


def fences_alone(items: list[Item]) -> float:
    """F1 of looking for fences and nothing else."""
    fenced = [bool(re.search(r"^```", item.text, re.MULTILINE)) for item in items]
    hit = sum(found and bool(item.language) for found, item in zip(fenced, items, strict=True))
    return 2 * hit / max(1, sum(fenced) + sum(bool(item.language) for item in items))


def main() -> None:
    """Measure each set."""
    sets = {path: list(items_in(Path(path))) for path in sys.argv[1:]}
    if not sets:
        sets = {"own": list(own_items()), **{name: blind_items(name) for name in BLIND}}
    for name, items in sets.items():
        found = measure(items)
        print(
            f"{name}: {len(items)} items, F1 {found.f1:.4f} (fences alone {fences_alone(items):.2f}),"
            f" language {found.language:.4f}, p50 {found.p50_ms:.2f} ms, p99 {found.p99_ms:.2f} ms"
        )
        for item, said in found.wrong:
            print(f"  {item.kind}: {item.language or 'none'} told as {said}: {item.text[:70]!r}")


if __name__ == "__main__":
    main()
