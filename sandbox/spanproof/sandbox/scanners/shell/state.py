"""What is known while a script is read: variables, functions, and what flows between commands."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final, NamedTuple, Protocol

from tree_sitter import Node

from spanproof.sandbox.scanners.boundary import Pieces
from spanproof.sandbox.scanners.pieces import build_text_cover, covers, list_bounded_texts, normalise_pieces

Words = tuple[Pieces, ...]
"""The alternatives of one word."""


MAX_ALTERNATIVES: Final = 16
"""Alternatives kept of one word; those past it are widened into the last one."""

MAX_BRANCHED = 128
"""Variables that are copied for each branch; with more, copying would make the time quadratic."""

HOLE: Final[Words] = ((None,),)
"""A word of which nothing is known."""

EMPTY: Final[Words] = (("",),)

OWN_JOB: Final = "%own-job"
"""The value of `$$` and `$!`: a process that the script is, or has started."""


class Stream(NamedTuple):
    """What a command writes: its text as far as it is known, and its sources."""

    words: Words = HOLE
    origin: frozenset[str] = frozenset()


NOTHING: Final = Stream(EMPTY)
UNKNOWN_STREAM: Final = Stream()
UNKNOWN_DIRECTORY: Final = ""
"""Among the directories of a script: any."""


class ScriptReader(Protocol):
    """What follows the commands of one script."""

    def run_in(self, state: State, node: Node, stdin: Stream) -> Stream:
        """Follow a node of the script in another state."""
        ...


class Function(NamedTuple):
    """A function: its body, and the reader of the script that the body is a part of."""

    shell: ScriptReader
    body: Node


class Call(NamedTuple):
    """A call that is being read, and what was known when it began.

    `variables` and `functions` are kept of recursive calls only.
    """

    body: Node
    arguments: tuple[Words, ...] | None
    variables: Mapping[str, Words]
    functions: Mapping[str, Function]


@dataclass(slots=True)
class State:
    """Names and their values. A function's call gets a state of its own that shares the rest."""

    variables: dict[str, Words] = field(default_factory=dict)
    functions: dict[str, Function] = field(default_factory=dict)
    positional: tuple[Words, ...] | None = None
    origins: dict[str, frozenset[str]] = field(default_factory=dict)
    calls: tuple[Call, ...] = ()
    aliases: dict[str, str] = field(default_factory=dict)
    bodies: list[Function] = field(default_factory=list)
    """Every function that was defined, those that another definition replaced included."""
    called: set[int] = field(default_factory=set)
    """The bodies of functions that were read."""
    directories: list[str] = field(default_factory=list)
    """Where relative paths may begin besides the work directory: see `directories.py`."""
    start: str = ""
    """Where relative paths begin, from the work directory, by a `cd` that cannot have failed."""

    def with_call(self, call: Call) -> State:
        """Return the state in which a function is read when it is called."""
        return State(
            self.variables, self.functions, call.arguments, self.origins, (*self.calls, call), self.aliases,
            self.bodies, self.called, self.directories, self.start,
        )  # fmt: skip

    def update_variables(self, variables: dict[str, Words]) -> None:
        """Put these in place of all there are; in place, because a function's state shares its caller's."""
        values = dict(variables)
        self.variables.clear()
        self.variables.update(values)


def build_joined_word(parts: list[Words]) -> Words:
    """Join words one after another, alternatives multiplied up to the bound."""
    rows: list[list[str | None]] = [[]]
    for part in parts:
        rows = [[*row, *pieces] for row in rows for pieces in part]
        if len(rows) > MAX_ALTERNATIVES:
            rows = [
                list(row)
                for row in list_bounded_texts([normalise_pieces(row) for row in rows], MAX_ALTERNATIVES)
            ]
    return tuple(normalise_pieces(row) for row in rows)


def build_alternatives(first: Words, second: Words) -> Words:
    """Return the alternatives of both."""
    return list_bounded_texts((*first, *second), MAX_ALTERNATIVES)


def add_variables(into: dict[str, Words], variables: Mapping[str, Words]) -> None:
    """Add what variables hold on another way through the script."""
    for name, value in variables.items():
        kept = into.get(name)
        into[name] = value if kept is None else build_alternatives(kept, value)


def covers_word(wide: Words, word: Words) -> bool:
    """Whether each alternative of a word is covered by one of a wider word."""
    return all(any(covers(one, text) for one in wide) for text in word)


def build_word_cover(*words: Words) -> Words:
    """Return one alternative that covers all of these words."""
    return (build_text_cover([text for word in words for text in word]),)


def build_joined_stream(streams: list[Stream]) -> Stream:
    """Join what commands write that run one after another."""
    written = [stream for stream in streams if stream is not NOTHING]
    if not written:
        return NOTHING
    if len(written) == 1:
        return written[0]
    origin = frozenset[str]().union(*[stream.origin for stream in written])
    parts: list[Words] = []
    for stream in written:
        parts.append(stream.words)
        parts.append((("\n",),) if not _ends_line(stream.words) else EMPTY)
    return Stream(build_joined_word(parts), origin)


def _ends_line(words: Words) -> bool:
    return all((pieces[-1] or "").endswith("\n") for pieces in words)


def find_known_text(words: Words) -> str | None:
    """Return the text of a word with one alternative that is wholly known."""
    return words[0][0] if len(words) == 1 and len(words[0]) == 1 else None
