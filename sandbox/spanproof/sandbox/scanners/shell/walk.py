"""Follows a script: each node's handler is looked up, and what is known flows from one to the next.

In: the text of a script. Out: findings in the context's report. Variables are propagated in order; a function
is read with each call's arguments, and once with unknown ones if nothing calls it. What the grammar reads
wrongly or crashes on is put in other words of the same length first, so that places stay those of the text.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import cached_property
from itertools import zip_longest

from tree_sitter import Node

from spanproof.sandbox.scanners import grammar
from spanproof.sandbox.scanners.boundary import Action, Pieces, is_git_setting
from spanproof.sandbox.scanners.context import Context
from spanproof.sandbox.scanners.model import Verdict
from spanproof.sandbox.scanners.pieces import find_place, merge_pieces
from spanproof.sandbox.scanners.reader.state import Reporter
from spanproof.sandbox.scanners.reader.values import CLEAN, Value, build_text, join_all
from spanproof.sandbox.scanners.shell.catalogue import SECRET_NAME, SET_BY_SHELL
from spanproof.sandbox.scanners.shell.state import (
    EMPTY,
    HOLE,
    NOTHING,
    UNKNOWN_DIRECTORY,
    UNKNOWN_STREAM,
    Call,
    Function,
    State,
    Stream,
    Words,
    covers_word,
    join_streams,
    merge_variables,
    read_known_text,
    widen_words,
)
from spanproof.sandbox.scanners.shell.words import Expander
from spanproof.sandbox.scanners.source import START, Place

# A command that is one brace expansion, `{cat,file}`: the shell runs it, the grammar does not read it.
_BRACED_COMMAND = re.compile(r"(?m)(?:^|(?<=[;&|(]))([ \t]{0,8}+)\{([^\s{}]{1,400}+)\}(?=[\s;&|)]|$)")

# The base of a number before a variable, `$((10#$h))`: the grammar reads a comment from the `#` on.
_NUMBER_BASE = re.compile(r"(\(\([^()\n]{0,200}?\b\d{1,2})#(?=[$\w])")

# A line that begins with an escaped name: the grammar takes it for the end of the line before.
_ESCAPED_COMMAND = re.compile(r"\n([ \t]{0,8}+)\\(?=\w)")

# Characters the grammar's own scanner hands to `isalpha`, which reads outside its table for them and may end
# the process; each is replaced by one letter, so that columns stay.
_WIDE = re.compile(r"[^\x00-\xff]")


def build_value(word: Words) -> Value:
    """Return a word as a value of the readers of other languages."""
    return join_all(build_text(pieces, CLEAN) for pieces in word)


class Script:
    """A parsed script: its bytes, its tree."""

    __slots__ = ("_lines", "data", "root")

    def __init__(self, text: str) -> None:
        text = _ESCAPED_COMMAND.sub(r"\n\1 ", _WIDE.sub("é", text.replace("\0", " ")))
        self.data = text.encode("utf-8", "replace")
        self.root = _parse(self.data)
        while self.root.has_error and (joined := _NUMBER_BASE.sub(r"\1+", text)) != text:
            # `10+$h` has as many characters and reads the same variables.
            text = joined
            self.data = text.encode("utf-8", "replace")
            self.root = _parse(self.data)
        if self.root.has_error and "{" in text:
            self.data = _BRACED_COMMAND.sub(_expand_braces, text).encode("utf-8", "replace")
            self.root = _parse(self.data)
        self._lines = self.data.split(b"\n")

    def place(self, node: Node) -> Place:
        """Return the place of a node, in characters."""
        return grammar.place_of(node, self._lines)

    def first_error(self) -> Place | None:
        """Return where the script first fails to parse; None where it parses."""
        pending = [self.root] if self.root.has_error else []
        while pending:
            node = pending.pop()
            if node.type == "ERROR" or node.is_missing:
                return self.place(node)
            pending.extend(child for child in reversed(node.children) if child.has_error)
        return START if self.root.has_error else None


class TooSlow(Exception):  # noqa: N818 - named after what happened
    """The grammar needs more time than is given."""


def _parse(data: bytes) -> Node:
    tree = grammar.parse("bash", data)
    if tree is None:
        raise TooSlow
    return tree.root_node


def _expand_braces(found: re.Match[str]) -> str:
    """Return the words of a brace expansion, in as many characters, so that places stay."""
    inner = found[2]
    if "," in inner:
        return f"{found[1]} {inner.replace(',', ' ')} "
    return found[0]


# What precedes a path or URL within a word: `--file=`, `of=`, `@`, `-I`.
_IN_OPTION = re.compile(r"-{1,2}[\w-]{1,60}=|[\w.-]{1,60}=|@|-[A-Za-z](?=[/~])|\+")

# Options whose value is what a program does not touch.
_LEFT_OUT = re.compile(r"-{1,2}(?:exclude|ignore|prune|include|iglob|skip|omit)")

_MAX_CALLS = 8
_MAX_COMMANDS = 20_000
_CHECK_EVERY = 256


# A subscript with a command in it.
_SUBSCRIPT = re.compile(r"\w\[[^\]$`]*+(?:\$\(|`)")

NodeHandler = Callable[["Shell", Node, Stream], Stream]
"""Follows one kind of node: the shell, the node, what it reads; gives what it writes."""

Handler = Callable[["Shell", str, list[Words], Stream, Node], Stream]
"""Judges one command: the shell, the program, its operands, what it reads; gives what it writes."""


class Shell(Reporter):
    """Reads one script; a nested one begins with the state it is given."""

    language = "shell"

    def __init__(
        self,
        context: Context,
        text: str,
        handlers: Mapping[str, NodeHandler],
        ends_script: Callable[[Shell, Node], bool],
        state: State | None = None,
    ) -> None:
        super().__init__(context)
        self._handlers = handlers
        self._ends_script = ends_script
        self.script = Script(text)
        self.state = state or State()
        self.words = Expander(
            self.script.data,
            self.state,
            self._substitute,
            self.judge_variable,
            self._judge_reference,
            self._expand_again,
        )
        # The sources of the last command substitution's text.
        self.substituted_from: frozenset[str] = frozenset()

        # Variables that are set for the command at hand alone.
        self.given: dict[str, Words] = {}
        # Whether the command at hand has no other variables: `env -i`.
        self.clears_environment = False
        self._commands = 0

    @cached_property
    def program_text(self) -> str:
        """The source that is read."""
        return self.script.data.decode("utf-8", "replace")

    def read(self, *, whole: bool = True) -> None:
        """Read the script; where it is the whole of one, also the functions that nothing calls."""
        error = self.script.first_error()
        if error is not None:
            self.context.add("shell.syntax", error, "does not parse as shell")
        self.run(self.script.root, UNKNOWN_STREAM)
        if whole:
            self._read_uncalled()

    def read_nested(self, context: Context, text: str, state: State, *, whole: bool = True) -> None:
        """Read a script found inside this one, beginning with a state."""
        Shell(context, text, self._handlers, self._ends_script, state).read(whole=whole)

    def nest(self, node: Node, origin: str) -> Context:
        """Return the context of a program that the script runs: it has the variables that the script sets."""
        context = self.context.nested(self.place(node), origin)
        for name, word in (self.state.variables | self.given).items():
            context.variables.add(name)
            context.values[name] = build_value(word)
        return replace(context, owns_environment=context.owns_environment or self.clears_environment)

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
                if self._ends_script(self, child):
                    break
        return join_streams(written)

    def place(self, node: Node) -> Place:
        """Return the place of a node, in characters."""
        return self.script.place(node)

    def judge_literals(self, word: Words, who: str, node: Node) -> None:
        """Judge a path or URL outside that a word names, whatever it is for."""
        for pieces in word:
            head = pieces[0]
            if head is None or _LEFT_OUT.match(head):
                continue
            named = _IN_OPTION.match(head)
            text = head[named.end() :] if named is not None else head
            for begun in _begin_at(self.state, (text, *pieces[1:])):
                place = find_place(self.context.boundary, begun, hosts=False)
                if place is not None:
                    self.add("call.unknown", node, f"{who} gets a target outside: {place.message}")
                    break

    def judge_path(
        self, action: Action, word: Words, who: str, node: Node, *, is_followed: bool = False
    ) -> None:
        """Hold a path, in each of its alternatives, against the boundary.

        With `is_followed`, the caller notes what is written to it; otherwise that is not known from here on.
        """
        if action is Action.WRITE and not is_followed:
            self.context.own_files.forget(self.find_path(word))
        for pieces in word:
            if action is Action.WRITE and is_git_setting(pieces):
                self.add("exec.dynamic", node, f"{who} writes a file of git whose commands run")
            if pieces != ("",):
                self._judge_in_directories(action, pieces, who, node)

    def find_path(self, word: Words) -> str | None:
        """Return the absolute path that a word names; None where it is not known."""
        text = read_known_text(word)
        if text is None:
            return None
        return self.context.boundary.work_path(text)

    def find_own_text(self, word: Words) -> str | None:
        """Return the text of a file that the script has written itself; None where that is not known."""
        path = self.find_path(word)
        if path is None:
            return None
        return self.context.own_files.find_text(path)

    def add_unread_script(self, word: Words, program: str, node: Node) -> None:
        """Report that a program runs a script of which the snippet does not show what it holds then."""
        is_written = self.find_path(word) in self.context.own_files.list_written()
        if is_written:
            why = "may have changed since the snippet wrote it"
        else:
            why = "is not in the snippet"
        self.add("exec.dynamic", node, f"{program} runs a script that {why}")

    def _judge_in_directories(self, action: Action, pieces: Pieces, who: str, node: Node) -> None:
        """Judge a path from the work directory, and from each other one that it may begin at.

        What is outside only from the work directory is reviewed: there it begins where a `cd` has failed.
        """
        begun = _begin_at(self.state, pieces)
        first, *others = [self.context.boundary.path(action, one) for one in begun]
        may_stay = UNKNOWN_DIRECTORY in self.state.directories or None in others
        if first is not None and may_stay and _is_climbing(pieces):
            self.add("file.dynamic", node, f"{who}: {first.message} where a `cd` before it fails")
            first = None
        crossing = next((each for each in (first, *others) if each is not None), None)
        self.crossed(crossing, who, node)

    def run_substitutions(self, word: Words, who: str, node: Node) -> None:
        """Read the command substitutions in a text that the shell expands once more."""
        for pieces in word:
            text = "".join("$__unknown" if piece is None else piece for piece in pieces)
            # In a here-document quotes are text, but in its substitutions they are quotes; of backquotes the
            # grammar reads none there.
            quoted = text.replace('"', '\\"')
            lines = {"$(": f": <<_end_of_text\n{text}\n_end_of_text\n", "`": f': "{quoted}"'}
            for mark, line in lines.items():
                if mark in text:
                    context = self.nest(node, f"{self.context.origin}{who} runs a command: ")
                    self.read_nested(
                        context,
                        line,
                        replace(self.state, directories=list(self.state.directories)),
                        whole=False,
                    )

    def run_subscripts(self, word: Words, node: Node) -> None:
        """Read the commands in a subscript, which arithmetic runs: `a[$(id)]`."""
        if any(_SUBSCRIPT.search(piece) for pieces in word for piece in pieces if piece is not None):
            self.run_substitutions(word, "arithmetic", node)

    def count_command(self) -> None:
        """Count one command more; every 256th checks the time, which may end the scan."""
        self._commands += 1
        if self._commands % _CHECK_EVERY == 0:
            self.context.check_time()

    def define_function(self, name: str, body: Node) -> None:
        """Make a call of this name read this body from here on."""
        function = Function(self, body)
        self.state.functions[name] = function
        self.state.bodies.append(function)

    def call_function(self, name: str, arguments: list[Words], stdin: Stream, node: Node) -> Stream:
        """Read a function of the script with these arguments."""
        state = self.state
        function = state.functions[name]
        state.called.add(function.body.id)
        if len(state.calls) >= _MAX_CALLS or self._commands > _MAX_COMMANDS:
            self.add("too-complex", node, f"calls {name} more often, or deeper, than is followed")
            return UNKNOWN_STREAM
        earlier = [call for call in state.calls if call.body.id == function.body.id]
        given: tuple[Words, ...] | None = tuple(arguments)
        if len(earlier) == 2:
            # From here on one reading covers every deeper call: what it is given, and the variables as it
            # finds them, stand for those of all of them.
            before = earlier[1]
            pairs = zip_longest(before.given or (), arguments, fillvalue=EMPTY)
            given = tuple(widen_words(one, other) for one, other in pairs)
            for variable, value in state.variables.items():
                held = before.variables.get(variable, HOLE)
                if held != value:
                    state.variables[variable] = widen_words(held, value)
        elif len(earlier) >= 3:
            if _covers_call(earlier[-1], arguments, state):
                return UNKNOWN_STREAM
            if len(earlier) > 3:
                self.add("too-complex", node, f"calls {name} with more than is followed")
                return UNKNOWN_STREAM
            given = None
            state.variables.update(dict.fromkeys(state.variables, HOLE))
        kept = (dict(state.variables), dict(state.functions)) if earlier else ({}, {})
        return function.shell.run_in(state.of_call(Call(function.body, given, *kept)), function.body, stdin)

    def repeat(self, read: Callable[[], Stream], node: Node) -> Stream:
        """Follow what may run any number of times, until no variable changes by following it once more.

        Where that takes long, every variable may hold anything the last time.
        """
        variables = self.state.variables
        for turn in range(4):
            before = dict(variables)
            stream = read()
            changed = [
                name
                for name, value in variables.items()
                if name not in before or not covers_word(before[name], value)
            ]
            merge_variables(variables, before)
            if not any(name in before for name in changed) or turn == 3:
                break
            if self._commands > _MAX_COMMANDS:
                self.add("too-complex", node, "is read more often than is followed")
                break
            for name in changed if turn < 2 else variables:
                variables[name] = HOLE if turn == 2 else widen_words(before.get(name, HOLE), variables[name])
        return stream

    def run_in(self, state: State, node: Node, stdin: Stream) -> Stream:
        """Follow a node of this script in another state."""
        outer = self.state
        self.state = self.words.state = state
        try:
            return self.run(node, stdin)
        finally:
            self.state = self.words.state = outer

    def _read_uncalled(self) -> None:
        """Read the functions that nothing called."""
        for function in self.state.bodies:
            if function.body.id not in self.state.called:
                self.state.called.add(function.body.id)
                function.shell.run_in(replace(self.state, positional=None), function.body, UNKNOWN_STREAM)

    def run_apart(self, node: Node, stdin: Stream) -> Stream:
        """Follow a node that a shell of its own runs: what it changes of the directory ends with it."""
        before = list(self.state.directories)
        written = self.sequence(node, stdin)
        self.state.directories[:] = before
        return written

    def _substitute(self, node: Node) -> Words:
        stream = self.run_apart(node, UNKNOWN_STREAM)
        self.substituted_from = stream.origin
        return tuple(_strip_newline(pieces) for pieces in stream.words)

    def _expand_again(self, word: Words, node: Node) -> None:
        self.run_substitutions(word, "an expansion", node)

    def _judge_reference(self, node: Node) -> None:
        """Judge reading a variable whose name is not known, and so perhaps one of the environment."""
        if not self.context.owns_environment:
            self.add("environment.read", node, "reads a variable whose name is not known", Verdict.REVIEW)

    def judge_variable(self, name: str, node: Node) -> None:
        """Judge reading a variable that the script does not set, and so comes from the environment."""
        if (
            name in self.state.variables
            or not name.isupper()
            or not name[0].isalpha()
            or name in SET_BY_SHELL
        ):
            return
        crossing = self.context.judge_variable(name)
        if crossing is not None and SECRET_NAME.search(name):
            self.crossed(crossing, f"${name}", node)
        elif crossing is not None:
            self.add(crossing.rule, node, f"${name}: {crossing.message}", Verdict.REVIEW)


def _begin_at(state: State, pieces: Pieces) -> list[Pieces]:
    """Return a path as it is from each directory that it may begin at."""
    head = pieces[0]
    if head is None or head.startswith(("/", "~")) or "://" in head:
        return [pieces]
    known = [directory for directory in state.directories if directory != UNKNOWN_DIRECTORY]
    # `cd -` leads back: to the work directory, for one.
    back = [""] if state.start and UNKNOWN_DIRECTORY in state.directories else []
    starts = [*back, state.start, *known]
    return [(posixpath.join(one, head), *pieces[1:]) if one else pieces for one in starts]


def _is_climbing(pieces: Pieces) -> bool:
    """Whether a path leads above the directory that it begins at."""
    return pieces[0] is not None and posixpath.normpath(pieces[0]).startswith("..")


def _covers_call(wide: Call, given: list[Words], state: State) -> bool:
    """Whether the reading of an earlier call covers one that begins in this state."""
    if wide.functions != state.functions or not state.variables.keys() >= wide.variables.keys():
        return False
    pairs = zip_longest(wide.given, given, fillvalue=EMPTY) if wide.given is not None else ()
    if not all(covers_word(one, other) for one, other in pairs):
        return False
    held = wide.variables
    return all(covers_word(held.get(name, HOLE), value) for name, value in state.variables.items())


def _strip_newline(pieces: tuple[str | None, ...]) -> tuple[str | None, ...]:
    last = pieces[-1]
    if last is not None:
        return merge_pieces([*pieces[:-1], last.rstrip("\n")])
    return pieces
