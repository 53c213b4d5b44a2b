"""A small linear model over words: how much a text sounds like an order to a model, where no rule shows it.

In: a text that a tool or a document brings. Out: its score, above 0 where it is likelier an order to a model
than not. `data/weights.txt` holds the weights of single words and of two or three in a row, made by
`training/rails/train.py`, whose README describes the texts. A long text is read in overlapping windows, of
which the highest score counts. Within a window, prose around a short order lowers its score.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache
from importlib.resources import files
from typing import Final

WEIGHTS: Final = "weights.txt"

SURE: Final = 2.25
"""From here an instruction is sure: of 520 harmless texts of sets left out of training none reaches it."""

LIKELY: Final = 1.5
"""From here a text is reviewed: of the same 520 a few reach it."""

# Words of a window, which is longer than most texts of the training, and of its overlap with the next.
_WINDOW: Final = 240
_STEP: Final = 120
_LONGEST: Final = 3

_TOKEN: Final = re.compile(
    r"(?P<url>https?://[^\s\"'<>()]{1,200})|(?P<mail>[\w.+-]{1,64}@[\w.-]{1,64})|(?P<number>\d[\d.,]{0,20})"
    r"|[^\W\d_]{1,40}(?:['’][^\W\d_]{1,8})?|(?P<line>\n)|[.!?:;<>\[\](){}\"*#@=|-]"
)


def compute_score(text: str) -> float:
    """Return the highest score of a window of a text in lower case."""
    bias, weights = _load_model()
    tokens = split_tokens(text)
    windows = (tokens[at : at + _WINDOW] for at in range(0, max(len(tokens) - _STEP, 1), _STEP))
    return (
        max(bias + sum(weights.get(gram, 0) for gram in set(iter_grams(window))) for window in windows) / 100
    )


def split_tokens(text: str) -> list[str]:
    """Return the words and marks of a text in lower case; URLs, addresses and numbers are one word."""
    return [_get_token(found) for found in _TOKEN.finditer(text)]


def iter_grams(tokens: list[str]) -> Iterator[str]:
    """Yield each run of one to three words, in a text whose ends are words too."""
    bounded = ["^", *tokens, "$"]
    for length in range(1, _LONGEST + 1):
        for at in range(len(bounded) - length + 1):
            yield " ".join(bounded[at : at + length])


def _get_token(found: re.Match[str]) -> str:
    kind = found.lastgroup
    return found[0] if kind is None else f"<{kind}>"


@lru_cache(maxsize=1)
def _load_model() -> tuple[int, dict[str, int]]:
    head, *lines = files(__package__).joinpath("data", WEIGHTS).read_text("utf-8").splitlines()
    rows = (line.partition(" ") for line in lines)
    return int(head), {gram: int(weight) for weight, _, gram in rows}
