"""Rows of the truth sets, and which claim of a changed answer is the wrong one.

Nothing of the data is kept: the directory is an argument.
"""

from __future__ import annotations

import hashlib
import json
import lzma
import random
from collections.abc import Iterator
from dataclasses import dataclass, field
from difflib import SequenceMatcher
from pathlib import Path

import yaml

SETS = ("real", "tatqa", "tabfact", "infotabs", "scitab")


@dataclass(frozen=True)
class Row:
    """An answer with its sources.

    Attributes:
        family: what the row and its twins share; a split keeps families together.
        wrong: of a changed row with a twin, the characters that were changed.
    """

    set: str
    id: str
    family: str
    label: str
    kind: str
    outputs: tuple[str, ...]
    answer: str
    task: str = ""
    system: str = ""
    arguments: tuple[str, ...] = ()
    wrong: tuple[tuple[int, int], ...] = ()
    source: str = ""
    now: str | None = None
    extra: dict = field(default_factory=dict)


def is_kept(family: str) -> bool:
    """Return whether a family is of the half that is reported; rows of the other half may be read."""
    return hashlib.md5(family.encode(), usedforsecurity=False).digest()[-1] % 2 == 1


def read_set(directory: Path, name: str, at_most: int, seed: int = 5) -> list[Row]:
    """Return whole families of a set in a fixed order, until there are enough rows."""
    families: dict[str, list[dict]] = {}
    with lzma.open(directory / f"{name}.jsonl.xz", "rt") as lines:
        for line in lines:
            row = json.loads(line)
            families.setdefault(row.get("twin") or row["id"], []).append(row)
    keys = sorted(families)
    random.Random(seed).shuffle(keys)  # noqa: S311
    rows: list[Row] = []
    for key in keys:
        if len(rows) >= at_most:
            break
        twin = next((row["answer"] for row in families[key] if row["id"] == key), None)
        rows += [_row(row, key, twin) for row in families[key]]
    return rows


def _row(row: dict, family: str, twin: str | None) -> Row:
    arguments = tuple(
        each if isinstance(each, str) else json.dumps(each) for each in _plain(row.get("arguments") or ())
    )
    changed = row["label"] == "contradicted" and twin is not None and row.get("twin")
    return Row(
        row["set"], row["id"], family, row["label"], row["kind"], tuple(row["outputs"]), row["answer"],
        row.get("task") or "", row.get("system") or "", arguments,
        changes(twin, row["answer"]) if changed and twin else (), row.get("source", ""),
    )  # fmt: skip


def _plain(arguments: list) -> Iterator[object]:
    for each in arguments:
        inner = each.get("arguments") if isinstance(each, dict) else each
        yield inner if inner is not None else each


def changes(before: str, after: str) -> tuple[tuple[int, int], ...]:
    """Return which characters of an answer are not those of the one it was made of."""
    matcher = SequenceMatcher(None, before, after, autojunk=False)
    return tuple(
        (low, max(high, low + 1)) for tag, _, _, low, high in matcher.get_opcodes() if tag != "equal"
    )


def read_pairs(path: Path) -> list[Row]:
    """Return the pairs of a JSON Lines file with `out`, `ans`, `label` and `kind`."""
    rows = []
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines()):
        pair = json.loads(line)
        label = "grounded" if pair["label"] else "contradicted"
        rows.append(
            Row(
                "pairs",
                f"pair-{number}",
                pair["out"],
                label,
                pair["kind"],
                (pair["out"],),
                pair["ans"],
                pair.get("q") or "",
            )
        )
    return rows


def read_golden(directory: Path) -> list[Row]:
    """Return the pairs of the repository's own golden files."""
    rows = []
    for file in sorted(directory.rglob("*.yaml")):
        for number, scenario in enumerate(yaml.safe_load(file.read_text(encoding="utf-8"))):
            outputs = tuple(map(str, scenario["outputs"]))
            family = f"{file.stem}-{number}"
            now = scenario.get("now")
            found = [("grounded", "clean", text) for text in scenario.get("grounded", ())]
            found += [("uncertain", "open", text) for text in scenario.get("uncertain", ())]
            for kind, texts in scenario.get("contradicted", {}).items():
                found += [("contradicted", kind, text) for text in texts]
            for place, (label, kind, text) in enumerate(found):
                rows.append(
                    Row("golden", f"{family}-{place}", family, label, kind, outputs, text, scenario.get("task") or "",  # noqa: E501
                        now=str(now) if now else None)
                )  # fmt: skip
    return rows
