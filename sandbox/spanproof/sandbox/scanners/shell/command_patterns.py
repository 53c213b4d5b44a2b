"""Whether a policy names a command: a program (`docker`), or one of its sub-commands (`docker ps`).

In: the patterns of a policy, a program and its arguments. Out: the pattern that names them, or None. Each
word of a pattern matches as shells match file names.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from enum import Enum
from fnmatch import fnmatchcase
from itertools import islice
from typing import Final

from spanproof.sandbox.scanners.catalogue import read_sections
from spanproof.sandbox.scanners.shell.state import Words, find_known_text

_KNOWLEDGE: Final = read_sections("shell")
_GLOBAL_OPTIONS: Final = {
    program: frozenset(options.split()) for program, options in _KNOWLEDGE["global-options"].items()
}
_REMOTE_OPTIONS: Final = {
    program: frozenset(options.split()) for program, options in _KNOWLEDGE["remote-options"].items()
}

_SHOWN_OPERANDS: Final = 2


class Match(Enum):
    """How a command fits the patterns that deny some."""

    DENIED = "denied"
    """A pattern names it."""
    UNKNOWN = "unknown"
    """A pattern names it if a word of it that is not known is the pattern's."""
    NONE = "none"


def find_allowed(patterns: Iterable[str], program: str, arguments: Sequence[Words]) -> str | None:
    """Return the pattern that allows a command; None where there is none.

    A pattern with sub-commands holds where the first operands are known and are its words, and no option
    sends the command to another host.
    """
    for pattern in patterns:
        name, *words = pattern.split()
        if name != program:
            continue
        if not words:
            return pattern
        if _names_remote(program, arguments):
            continue
        operands = list(_iter_operands(program, arguments))[: len(words)]
        is_named = len(operands) == len(words) and all(
            operand is not None and fnmatchcase(operand, word)
            for operand, word in zip(operands, words, strict=True)
        )
        if is_named:
            return pattern
    return None


def classify_command(patterns: Iterable[str], program: str, arguments: Sequence[Words]) -> Match:
    """Return how a command fits the patterns: their words in this order, with any words between."""
    texts = [find_known_text(argument) for argument in arguments]
    found = Match.NONE
    for pattern in patterns:
        name, *words = pattern.split()
        if name != program:
            continue
        if _has_in_order(texts, words, unknown_fits=False):
            return Match.DENIED
        if _has_in_order(texts, words, unknown_fits=True):
            found = Match.UNKNOWN
    return found


def format_command(program: str, arguments: Sequence[Words]) -> str:
    """Return a program with its first operands that are known, as people name it: `kubectl delete pod`."""
    operands = (operand for operand in _iter_operands(program, arguments) if operand is not None)
    return " ".join([program, *islice(operands, _SHOWN_OPERANDS)])


def _has_in_order(texts: Sequence[str | None], words: Sequence[str], *, unknown_fits: bool) -> bool:
    rest = iter(texts)
    return all(any(unknown_fits if text is None else _fits(text, word) for text in rest) for word in words)


def _fits(text: str, word: str) -> bool:
    """Whether a word of the line is the pattern's: `secrets`, `pods,secrets`, `secret/db` or `--raw=/x`."""
    if text.startswith("-"):
        return fnmatchcase(text.partition("=")[0], word)
    return any(fnmatchcase(part.partition("/")[0], word) for part in text.split(","))


def _names_remote(program: str, arguments: Sequence[Words]) -> bool:
    options = _REMOTE_OPTIONS.get(program, frozenset())
    texts = [find_known_text(argument) or "" for argument in arguments]
    return any(
        text.partition("=")[0] in options
        or (not text.startswith("--") and len(text) > 2 and text[:2] in options)
        for text in texts
    )


def _iter_operands(program: str, arguments: Sequence[Words]) -> Iterator[str | None]:
    """Yield the arguments that are no options and no values of options; None for one that is not known."""
    valued = _GLOBAL_OPTIONS.get(program, frozenset())
    rest = iter(arguments)
    for argument in rest:
        text = find_known_text(argument)
        if text is None or not text.startswith("-"):
            yield text
        elif text in valued:
            next(rest, None)
