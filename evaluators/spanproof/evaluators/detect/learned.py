"""A small linear model over character trigrams: which language a text is in, where structure leaves it open.

Takes a text; gives the likeliest kind and how far it is ahead of the next, in the model's own units. The
weights lie beside this file, made by `training/detection/train.py`, whose README describes the data. In plain
Python: a text's distinct trigrams are looked up, and the weights of all kinds are added at once, packed into
one integer.
"""

from __future__ import annotations

import re
from functools import lru_cache
from importlib.resources import files
from itertools import repeat
from typing import Final

from spanproof.trace import Language

WEIGHTS: Final = "weights.txt"

MAX_CHARS: Final = 1_500
"""Read of a text, from its beginning, what comments say left out."""

MAX_READ_CHARS: Final = 6_000
"""Searched for comments."""

# Bits for each kind's sum: more than the most trigrams times the greatest weight.
_LANE: Final = 24

# Added to each weight in the file, so that none is below zero.
_OFFSET: Final = 128


def classify_by_model(text: str) -> tuple[Language | None, float]:
    """Return the likeliest kind (None is prose) and its lead over the next; 0 where nothing is known."""
    kinds, rows, bias, scale = _load_model()
    weights = [row for row in map(rows.get, list_trigrams(text), repeat(0)) if row]
    if not weights:
        return None, 0.0
    packed, mask = sum(weights), (1 << _LANE) - 1
    sums = [(packed >> (_LANE * at) & mask) - _OFFSET * len(weights) + first for at, first in enumerate(bias)]
    best = max(range(len(sums)), key=sums.__getitem__)
    rest = max(value for kind, value in zip(kinds, sums, strict=True) if kind is not kinds[best])
    return kinds[best], (sums[best] - rest) / scale


# What comments and docstrings say, without their marks: the marks reveal a language, the words do not.
_SAID: Final = re.compile(
    r"(?<=/\*).*?(?=\*/|\Z)|(?<=\"\"\").*?(?=\"\"\"|\Z)|(?<!:)(?<=//)[^\n]*"
    r"|(?:(?<=^--)|(?<=^#))[ \t][^\n]*|(?<=[ \t]#)[ \t][^\n]*",
    re.MULTILINE | re.DOTALL,
)


def list_trigrams(text: str) -> set[str]:
    """Return the distinct trigrams of a beginning, comments emptied; all digits count as one."""
    text = _SAID.sub("", text[:MAX_READ_CHARS])[:MAX_CHARS]
    text = f"\n{text}\n".translate(_DIGITS)
    return {text[at : at + 3] for at in range(len(text) - 2)}


_DIGITS: Final = str.maketrans("123456789", "0" * 9)


@lru_cache(maxsize=1)
def _load_model() -> tuple[list[Language | None], dict[str, int], list[int], float]:
    head, *lines = files(__package__).joinpath(WEIGHTS).read_text("utf-8").splitlines()
    names, bias, scale = head.split(" ")
    rows = {}
    for line in lines:
        trigram, weights = line.encode().decode("unicode_escape")[:3], line.rsplit(" ", 1)[1]
        lanes = bytes.fromhex(weights)
        rows[trigram] = sum(weight << (_LANE * at) for at, weight in enumerate(lanes))
    programs = [name.partition("/")[0] for name in names.split(",")]
    kinds = [None if name == "prose" else Language(name) for name in programs]
    return kinds, rows, [int(first) for first in bias.split(",")], float(scale)
