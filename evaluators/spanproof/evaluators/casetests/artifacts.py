"""Files the code left, compared with what is expected: text, JSON, tables; on the host, as data only."""

from __future__ import annotations

import json
import math
from collections.abc import Sequence

from spanproof.evaluators.casetests.model import Artifact
from spanproof.reading.tables import find_csv_rows


def matches_artifact(artifact: Artifact, found: bytes | None) -> bool:
    """Whether a file is as expected; a missing one is not."""
    if found is None:
        return False
    text = found.decode("utf-8-sig", "replace")
    if artifact.form == "text":
        return is_same_text(text, artifact.text or "", 0.0)
    if artifact.form == "json":
        try:
            return is_same_data(json.loads(text), artifact.json_value, artifact.tolerance)
        except (ValueError, RecursionError):
            return False
    return _is_same_table(text, artifact)


def is_same_text(found: str, expected: str, tolerance: float) -> bool:
    """Whether texts are alike, white space at the ends of lines and of the text apart.

    With a tolerance, words that are numbers on both sides are compared as numbers.
    """
    one, other = ([line.rstrip() for line in text.strip().splitlines()] for text in (found, expected))
    if one == other or not tolerance:
        return one == other
    if len(one) != len(other):
        return False
    pairs = [(a.split(), b.split()) for a, b in zip(one, other, strict=True)]
    return all(
        len(a) == len(b) and all(_is_same_cell(x, y, tolerance) for x, y in zip(a, b, strict=True))
        for a, b in pairs
    )


def is_same_data(found: object, expected: object, tolerance: float) -> bool:
    """Whether JSON data are alike, numbers within the tolerance."""
    if isinstance(expected, bool) or isinstance(found, bool):
        return found is expected
    if isinstance(expected, int | float) and isinstance(found, int | float):
        return _is_near(found, expected, tolerance)
    if isinstance(expected, dict) and isinstance(found, dict):
        return found.keys() == expected.keys() and all(
            is_same_data(found[key], value, tolerance) for key, value in expected.items()
        )
    if isinstance(expected, list) and isinstance(found, list):
        return len(found) == len(expected) and all(
            is_same_data(one, other, tolerance) for one, other in zip(found, expected, strict=True)
        )
    return type(found) is type(expected) and found == expected


def _is_same_table(text: str, artifact: Artifact) -> bool:
    found, expected = find_csv_rows(text), find_csv_rows(artifact.table or "")
    if found is None or expected is None or not expected:
        return found == expected
    if not found or sorted(found[0]) != sorted(expected[0]):
        return False
    order = [found[0].index(column) for column in expected[0]]
    if any(len(row) != len(order) for row in found):
        return False
    ours = [[row[at] for at in order] for row in found[1:]]
    theirs = expected[1:]
    if len(ours) != len(theirs):
        return False
    if not artifact.any_row_order:
        return all(_is_same_row(a, b, artifact.tolerance) for a, b in zip(ours, theirs, strict=True))
    return _can_pair_rows(ours, theirs, artifact.tolerance)


def _can_pair_rows(found: list[list[str]], expected: list[list[str]], tolerance: float) -> bool:
    """Whether every expected row has a row of its own; sorted first, so that most meet at once."""
    left = sorted(found)
    for row in sorted(expected):
        at = next((n for n, other in enumerate(left) if _is_same_row(other, row, tolerance)), None)
        if at is None:
            return False
        del left[at]
    return True


def _is_same_row(found: Sequence[str], expected: Sequence[str], tolerance: float) -> bool:
    return len(found) == len(expected) and all(
        _is_same_cell(one, other, tolerance) for one, other in zip(found, expected, strict=True)
    )


def _is_same_cell(found: str, expected: str, tolerance: float) -> bool:
    if found == expected:
        return True
    try:
        return _is_near(float(found), float(expected), tolerance)
    except ValueError:
        return False


def _is_near(found: float, expected: float, tolerance: float) -> bool:
    if math.isnan(expected) or math.isnan(found):
        return math.isnan(expected) and math.isnan(found)
    return found == expected or abs(found - expected) <= tolerance
