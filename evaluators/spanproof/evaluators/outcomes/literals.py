"""Which literals of code are data, and which belong to the problem.

In: an expression, and what the sources hold. Out: the `ValueRoot`s of the data written down in it: tables,
series of numbers, values with a name, numbers in texts. Small counts, round numbers, units, constants of
nature, arguments such as `tol=` or `figsize=`, and what a source holds are no data.
"""

from __future__ import annotations

import ast
import json
import math
import re
from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import TypeGuard

from spanproof.evaluators.outcomes.model import OriginKind
from spanproof.reading.answer_words import list_topics, reports_failure
from spanproof.reading.numerals import iter_numbers, list_numbers, normalise_number
from spanproof.reading.python_names import NAMES
from spanproof.reading.source_values import SourceValues
from spanproof.reading.sql_queries import iter_aliases

SMALL = 12
"""Numbers up to this are counts and indices: they say nothing of where a value comes from."""

_FEWEST_OF_A_SERIES = 3
# Numbers or texts that no source holds from which a table is the code's own.
_FEWEST_OF_A_TABLE = 2
_MAX_CONSTANTS = 2_000
_MAX_KEPT = 50

_FEWEST_OF_A_FACTOR = 4
_PROBLEM_NUMBERS = sorted(NAMES.problem_numbers)
_UNIT_FACTORS = sorted(NAMES.unit_factors)
# How far a constant may be from itself as code writes it, as a share of it.
_ROUNDING = 1e-3

_UNKNOWN = re.compile(
    r"\W*(?:unknown|n/?a|none|null|nil|missing|error|undefined|nan|not (?:available|known|found|set)|no data"
    r"|unbekannt|inconnu|desconocid[oa]|empty|default|skip(?:ped)?)\W*",
    re.IGNORECASE,
)
_FEWEST_LETTERS, _MAX_WORDS = 3, 200

_ROWS = re.compile(r"(?i)\binsert\s+into\b|\bvalues\s*\(|^\s*[\[{]|.*[,;\t|].*\n.*[,;\t|]")


class Role(StrEnum):
    """What a literal is in code."""

    TABLE = "table"
    SERIES = "series"
    SCALAR = "scalar"
    TEXT = "text"
    DRAW = "draw"
    DRAWS = "draws"
    CLOCK = "clock"


@dataclass(frozen=True, slots=True)
class ValueRoot:
    """A root of a value: where it was written down, drawn or read off a clock, or that it has a source.

    Attributes:
        words: topics of the names and keys it goes by.
        numbers: its numbers that no source holds, in their plain form.
        specific: how many of these are neither round nor small.
        cells: its texts that no source holds.
        made_up: the code calls its own values so.
        instead: a handler has it in place of what a tool did not give.
    """

    kind: OriginKind
    role: Role = Role.SCALAR
    step: int = 0
    span_id: str = ""
    line: int = 0
    text: str = ""
    words: frozenset[str] = frozenset()
    numbers: tuple[str, ...] = ()
    specific: int = 0
    cells: tuple[str, ...] = ()
    made_up: bool = False
    instead: bool = False

    @property
    def has_own_values(self) -> bool:
        """Whether it has a number that says something, or several that no source holds, or several texts."""
        return self.specific > 0 or max(len(self.numbers), len(self.cells)) >= _FEWEST_OF_A_TABLE

    @property
    def weighs(self) -> bool:
        """Whether it is data of its own: a number that says something, or a draw."""
        return self.specific > 0 or self.role in {Role.DRAW, Role.DRAWS}


FROM_SOURCE = ValueRoot(OriginKind.SOURCE)


@dataclass(frozen=True, slots=True)
class LiteralData:
    """Data written down in one expression, before it has a place.

    Attributes:
        sourced: a source holds most of it.
    """

    role: Role
    words: frozenset[str] = frozenset()
    numbers: tuple[str, ...] = ()
    specific: int = 0
    cells: tuple[str, ...] = ()
    sourced: bool = False


def _is_near_any(value: float, numbers: Sequence[float]) -> bool:
    """Whether a number is one of some sorted ones, but for rounding."""
    low = bisect_left(numbers, value * (1 - 2 * _ROUNDING))
    near = numbers[low : bisect_right(numbers, value * (1 + 2 * _ROUNDING))]
    return any(math.isclose(value, number, rel_tol=_ROUNDING) for number in near)


def is_specific(number: float) -> bool:
    """Whether a number says something: it is no small count, no round number and no usual constant."""
    value = abs(number)
    if value <= SMALL and float(value).is_integer():
        return False
    if _is_near_any(value, _PROBLEM_NUMBERS):
        return False
    digits = normalise_number(value).replace(".", "").strip("0")
    if len(digits) >= _FEWEST_OF_A_FACTOR and _is_near_any(value, _UNIT_FACTORS):
        return False
    return len(digits) > 2 or (len(digits) == 2 and digits[1] != "5")


def find_collection_data(node: ast.expr, name: str, sources: SourceValues) -> LiteralData | None:
    """Return the data of a list, tuple, set or dict display; None where it holds none of its own.

    The borders by which values are sorted are none: `bins = [0, 14, 28]`.
    """
    if NAMES.borders.intersection(name.lower().split("_")):
        return None
    constants = [part.value for part in ast.walk(node) if isinstance(part, ast.Constant)][:_MAX_CONSTANTS]
    keys = _list_keys(node)
    values = [value for value in constants if is_number(value)]
    if not values and not keys:
        return None
    if keys and _are_symbols(keys):
        return None
    texts = [value for value in constants if isinstance(value, str) and value not in set(keys)]
    is_table = bool(keys) or bool(texts and values)
    if not is_table and len(values) < _FEWEST_OF_A_SERIES:
        return None
    return _find_data(Role.TABLE if is_table else Role.SERIES, values, texts, " ".join(keys), sources)


def _list_keys(node: ast.expr) -> list[str]:
    """Return the texts that are keys in a display."""
    dicts = [part for part in ast.walk(node) if isinstance(part, ast.Dict)]
    keys = [key.value for part in dicts for key in part.keys if isinstance(key, ast.Constant)]
    return [key for key in keys if isinstance(key, str)]


def _are_symbols(keys: Sequence[str]) -> bool:
    """Whether keys are numerals, letters or chemical elements."""
    return all(len(key) == 1 for key in keys) or set(keys) <= NAMES.elements


def find_text_data(text: str, sources: SourceValues, *, is_data: bool = False) -> LiteralData | None:
    """Return the data of a text in code: rows of CSV, JSON or SQL; else of a sentence with numbers.

    With `is_data`, code makes data of it: `float("45.75")`.
    """
    # Cells between commas are read apart as well: `9,45.75`.
    numbers = sorted(map(float, list_numbers(text)))
    if not numbers:
        return None
    is_rows = is_data or _is_json(text) or (len(numbers) > 1 and _ROWS.search(text) is not None)
    if is_rows and text.strip():
        head = text.strip().splitlines()[0]
    else:
        head = text
    return _find_data(Role.TABLE if is_rows else Role.TEXT, numbers, (), head, sources)


def find_default_data(text: str, sources: SourceValues) -> LiteralData | None:
    """Return the words put in place of what code did not get; None where they say that it is unknown."""
    words = text.strip()
    if not _FEWEST_LETTERS <= len(words) <= _MAX_WORDS or _UNKNOWN.fullmatch(words):
        return None
    if sources.says(words) or reports_failure(words) or not any(map(str.isalpha, words)):
        return None
    return LiteralData(Role.TEXT, cells=(words,))


def find_query_data(query: str, sources: SourceValues) -> LiteralData | None:
    """Return the values that a query writes down."""
    numbers = [float(number) for _, number in iter_numbers(query)]
    return _find_data(Role.TABLE, numbers, (), " ".join(iter_aliases(query)), sources)


def find_number_data(value: float, name: str, sources: SourceValues) -> LiteralData | None:
    """Return a number that code writes down under a name; None where it is no data."""
    if not is_specific(value) or NAMES.settings.intersection(name.lower().split("_")):
        return None
    number = normalise_number(abs(value))
    if sources.holds(number):
        return LiteralData(Role.SCALAR, sourced=True)
    return LiteralData(Role.SCALAR, list_topics(name), (number,), 1)


def _find_data(
    role: Role, values: Sequence[float], texts: Sequence[str], words: str, sources: SourceValues
) -> LiteralData | None:
    large = [abs(value) for value in values if abs(value) > SMALL or value % 1]
    numbers = list(dict.fromkeys(map(normalise_number, large)))
    own = [number for number in numbers if not sources.holds(number)]
    cells = [text for text in dict.fromkeys(texts) if _is_name(text) and not sources.says(text)]
    if len(own) * 2 < len(numbers) or (not numbers and not cells):
        return LiteralData(role, sourced=True) if numbers or texts else None
    specific = sum(is_specific(float(number)) for number in own)
    return LiteralData(role, list_topics(words), tuple(own[:_MAX_KEPT]), specific, tuple(cells[:_MAX_KEPT]))


def _is_name(text: str) -> bool:
    return 4 <= len(text) <= 60 and any(character.isalpha() for character in text)


def is_number(value: object) -> TypeGuard[int | float]:
    """Whether a constant is a number that can be one of data."""
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)


def _is_json(text: str) -> bool:
    if text.lstrip()[:1] not in ("{", "["):
        return False
    try:
        return isinstance(json.loads(text), dict | list)
    except (ValueError, RecursionError):
        return False
