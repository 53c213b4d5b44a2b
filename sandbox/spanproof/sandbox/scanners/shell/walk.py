"""Follows a script: each node's handler is looked up, and what is known flows from one to the next.

In: the text of a script. Out: findings in the context's report. Variables are propagated in order; a function
is read with each call's arguments, and once with unknown ones if nothing calls it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from itertools import zip_longest

from tree_sitter import Node

from spanproof.sandbox.scanners.boundary import Action
from spanproof.sandbox.scanners.context import Context
from spanproof.sandbox.scanners.model import Verdict
from spanproof.sandbox.scanners.pieces import covers, merged, widened
from spanproof.sandbox.scanners.shell.state import (
    EMPTY,
    NOTHING,
    UNKNOWN_STREAM,
    State,
    Stream,
    Words,
    one_after_another,
)
from spanproof.sandbox.scanners.shell.syntax import Script
from spanproof.sandbox.scanners.shell.words import Expander
from spanproof.sandbox.scanners.source import Place

_MAX_CALLS = 8
_MAX_COMMANDS = 20_000
_CHECK_EVERY = 256
_SECRET_NAME = re.compile(r"(?i)secret|token|passw|api_?key|access_?key|private_?key|credential|_key$")


NodeHandler = Callable[["Shell", Node, Stream], Stream]
"""Follows one kind of node: the shell, the node, what it reads; gives what it writes."""

Handler = Callable[["Shell", str, list[Words], Stream, Node], Stream]
"""Judges one command: the shell, the program, its operands, what it reads; gives what it writes."""


class Shell:
    """Reads one script; a nested one begins with the state it is given."""

    def __init__(
        self, context: Context, text: str, handlers: Mapping[str, NodeHandler], state: State | None = None
    ) -> None:
        self.context = context
        self._handlers = handlers
        self.script = Script(text)
        self.state = state or State()
        self.words = Expander(self.script.data, self.state, self._substitute, self._missing)
        self.substituted_from: frozenset[str] = frozenset()
        """The sources of the last command substitution's text."""
        self._commands = 0
        self._called: set[str] = set()

    def read(self) -> None:
        """Read the whole script."""
        error = self.script.first_error()
        if error is not None:
            self.context.add("shell.syntax", error, "does not parse as shell")
        self.run(self.script.root, UNKNOWN_STREAM)
        self._read_uncalled()

    def read_nested(self, context: Context, text: str, state: State) -> None:
        """Read a script found inside this one, beginning with a state."""
        Shell(context, text, self._handlers, state).read()

    def run(self, node: Node, stdin: Stream) -> Stream:
        """Follow one node; gives what it writes."""
        handler = self._handlers.get(node.type)
        if handler is not None:
            return handler(self, node, stdin)
        if node.type.endswith("_expansion") or node.type in {"string", "concatenation", "word"}:
            self.words.word(node)
            return NOTHING
        return self.sequence(node, stdin)

    def sequence(self, node: Node, stdin: Stream) -> Stream:
        """Follow the children of a node in order; gives all that is written."""
        written: list[Stream] = []
        for child in node.named_children:
            if child.type not in {"comment", "heredoc_start", "heredoc_end"}:
                stream = self.run(child, stdin)
                if stream is not NOTHING:
                    written.append(stream)
        return one_after_another(written)

    def place(self, node: Node) -> Place:
        """The place of a node, in characters."""
        return self.script.place(node)

    def add(self, rule: str, node: Node, message: str, verdict: Verdict | None = None) -> None:
        """Report one finding; `rule` without the language."""
        self.context.add(f"shell.{rule}", self.place(node), message, verdict)

    def judge_path(self, action: Action, word: Words, who: str, node: Node) -> None:
        """Hold a path, in each of its alternatives, against the boundary."""
        for pieces in word:
            head = pieces[0]
            if head == "" and len(pieces) == 1:
                continue
            crossing = self.context.boundary.path(action, pieces)
            self.context.crossed("shell", crossing, self.place(node), f"{who}:")

    def count_command(self) -> None:
        """One command more; every 256th checks the time, which may end the scan."""
        self._commands += 1
        if self._commands % _CHECK_EVERY == 0:
            self.context.check_time()

    def define_function(self, name: str, body: Node) -> None:
        """From here on a call of this name reads this body."""
        self.state.functions[name] = body
        self._called.discard(name)

    def call_function(self, name: str, arguments: list[Words], stdin: Stream, node: Node) -> Stream:
        """Read a function of the script with these arguments."""
        self._called.add(name)
        depth = self.state.calls.count(name)
        if len(self.state.calls) >= _MAX_CALLS or self._commands > _MAX_COMMANDS:
            self.add("too-complex", node, f"calls {name} more often, or deeper, than is followed")
            return UNKNOWN_STREAM
        outer = self.state
        given: tuple[Words, ...] | None = tuple(arguments)
        before = outer.positional or ()
        if depth == 2:
            # From here on one reading covers every deeper call: its operands stand for all of theirs.
            pairs = zip_longest(before, arguments, fillvalue=EMPTY)
            given = tuple((widened((*one, *other)),) for one, other in pairs)
        elif depth == 3:
            pairs = zip_longest(before, arguments, fillvalue=EMPTY)
            if all(covers(one[0], text) for one, other in pairs for text in other):
                return UNKNOWN_STREAM
            given = None
        elif depth > 3:
            return UNKNOWN_STREAM
        self.state = self.words.state = outer.of_call(name, given)
        try:
            return self.run(outer.functions[name], stdin)
        finally:
            self.state = self.words.state = outer

    def _read_uncalled(self) -> None:
        for name, body in list(self.state.functions.items()):
            if name not in self._called:
                self._called.add(name)
                self.state.positional = None
                self.run(body, UNKNOWN_STREAM)

    def _substitute(self, node: Node) -> Words:
        stream = self.sequence(node, UNKNOWN_STREAM)
        self.substituted_from = stream.origin
        return tuple(_without_newline(pieces) for pieces in stream.words)

    def _missing(self, name: str, node: Node) -> None:
        """A variable nothing in the script sets comes from the environment, if it is one."""
        if not name.isupper() or name.startswith("__") or not name[0].isalpha():
            return
        crossing = self.context.boundary.environment(name)
        if crossing is not None and _SECRET_NAME.search(name):
            self.context.crossed("shell", crossing, self.place(node), f"${name}:")
        elif crossing is not None:
            self.add(crossing.rule, node, f"${name}: {crossing.message}", Verdict.REVIEW)


def _without_newline(pieces: tuple[str | None, ...]) -> tuple[str | None, ...]:
    last = pieces[-1]
    return merged([*pieces[:-1], last.rstrip("\n")]) if last is not None else pieces
