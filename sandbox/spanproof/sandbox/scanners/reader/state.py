"""The state of one reading of a program, whatever its language: scopes, budgets, stores and calls.

In: the context of a scan. Out: findings. Nothing of the program is ever run. The budgets bound unrolling and
inlining, so that the time of a scan is linear in the size of the source.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar, Final, NamedTuple, TypeVar

from spanproof.sandbox.catalogue import split_entry
from spanproof.sandbox.scanners import nested
from spanproof.sandbox.scanners.boundary import Action, Crossing, Pieces, is_git_setting
from spanproof.sandbox.scanners.catalogue import read_sections
from spanproof.sandbox.scanners.context import Context
from spanproof.sandbox.scanners.model import Verdict
from spanproof.sandbox.scanners.pieces import find_place
from spanproof.sandbox.scanners.reader.values import (
    ANY,
    MAX_ITEMS,
    NAME,
    UNKNOWN,
    Const,
    Function,
    Items,
    Mapping,
    OneOf,
    Partial,
    Path,
    Ref,
    Scope,
    Taint,
    Text,
    Unknown,
    Value,
    collect_taint,
    covers,
    covers_all,
    join,
    join_all,
    limit_values,
    list_options,
    to_pieces,
    walk_parts,
    widen,
)
from spanproof.sandbox.scanners.source import Place
from spanproof.sandbox.scanners.sql import scan_given, scan_sent
from spanproof.sandbox.scanners.sql_connections import Connection, Database, is_held

T = TypeVar("T")

# Steps between two checks of the clock; one step may fold a text of many characters.
_CHECK_EVERY: Final = 64

# Kinds of values that are no functions and hold none.
_DATA: Final = frozenset({Const, Text, Path, Unknown})
# Values that are looked at for functions; what holds more is taken to hold one.
_MOST_HELD: Final = 20_000


@dataclass(slots=True)
class Arguments:
    """The arguments of a call; `more` when some are not known (`*unknown`)."""

    positional: list[Value]
    named: dict[str, Value] = field(default_factory=dict)
    more: bool = False

    def get(self, index: int, name: str = "") -> Value | None:
        """Return the argument at a position or by a name; None where it is not given."""
        if name and name in self.named:
            return self.named[name]
        if 0 <= index < len(self.positional):
            return self.positional[index]
        return UNKNOWN if self.more else None

    def all(self) -> list[Value]:
        """Return every argument."""
        return [*self.positional, *self.named.values()]


@dataclass(slots=True)
class Frame:
    """One call of a function of the program that is being read."""

    key: object
    written: int
    """Stores before it, in `Reader.written`."""
    uncertain: int
    """Branches and loops around it, in `Reader.uncertain`."""
    may_have_ended: bool = False
    """Whether one way through a branch left the function, or the rest of a loop, before what is read now."""
    given: dict[str, Value] = field(default_factory=dict)
    returned: list[Value] = field(default_factory=list)
    yielded: list[Value] = field(default_factory=list)


class Kind(NamedTuple):
    """What is judged of a value that goes to a call whose effects are not known."""

    paths: bool = True
    hosts: bool = True


_ALL: Final = Kind()


class Reporter:
    """What reports on one source: the context of its scan, and the places in it."""

    language = ""
    """What the ids of its rules begin with."""

    def __init__(self, context: Context) -> None:
        self.context = context

    @property
    def program_text(self) -> str:
        """The source that is read."""
        raise NotImplementedError

    def place(self, node: Any) -> Place:
        """Return the place of a node, in characters."""
        raise NotImplementedError

    def plain_name(self, name: str) -> str:
        """Return a resolved name as people write it."""
        return name

    def add(
        self, rule: str, node: Any, message: str, verdict: Verdict | None = None, *, policy_line: str = ""
    ) -> None:
        """Report one finding; `rule` without the language, `policy_line` would allow it."""
        place = self.place(node)
        self.context.add(f"{self.language}.{rule}", place, message, verdict, policy_line=policy_line)

    def crossed(self, crossing: Crossing | None, who: str, node: Any) -> bool:
        """Report a crossing of the boundary, if it is one; `who` is the name of a call or a program."""
        return self.context.crossed(self.language, crossing, self.place(node), f"{self.plain_name(who)}:")

    def read_all_variables(self, who: str, node: Any) -> bool:
        """Report that the environment as a whole is read; returns whether it may not be."""
        return self.crossed(self.context.judge_variable(""), who, node)

    def run_sql(self, pieces: Pieces, who: str, node: Any, connection: Connection) -> None:
        """Scan a statement that is sent to a database, unless it is unknown and held to nothing."""
        if pieces != (None,) or is_held(self.context, connection):
            context = self.context.nested(self.place(node), f"{who.removeprefix('?.')} runs a statement: ")
            scan_sent(context, pieces, connection)
            if not is_held(self.context, connection) and connection.kind is not Database.MEMORY:
                self._judge_emptied_tables(pieces, who, node)

    def _judge_emptied_tables(self, pieces: Pieces, who: str, node: Any) -> None:
        """Judge the loss of tables that the program does not fill itself, in a database that outlives it."""
        text = "".join(" " if piece is None else piece for piece in pieces)
        for name in _EMPTIED.findall(text):
            filled = rf"(?i)\b(?:create|into)\b[^;]{{0,60}}\b{name}\b|to_sql\(\s*[fr]?['\"]{name}['\"]"
            if not name or not re.search(filled, self.program_text):
                table = name or "tables that are not known"
                message = f"{self.plain_name(who)} empties or drops {table}, which the program does not fill"
                self.add("statement.unbounded", node, message, Verdict.REVIEW)


# The table that a statement empties or drops as a whole; without a name where that is not known. A drop that
# expects no table (`IF EXISTS`) only makes room where the table is named.
_EMPTIED: Final = re.compile(
    r"(?i)(?:^|;)\s*+(?:drop\s++table(?!\s++if\s++exists\s++[\"'`\[]?\w)|truncate(?:\s++table)?"
    r"|delete\s++from(?![^;]*\bwhere\b))\s++(?:if\s++exists\s++)?[\"'`\[]?(\w*)"
)


class Reader(Reporter):
    """Reads one program. What is different in a language is in the reader of that language."""

    unknown_call = ""
    """What is said of a call that gets a place outside, with its name and that place."""

    downloaded = "what came over the network"
    """What is said of a command that is."""

    called_too_often = ""
    targets: frozenset[str] = frozenset()
    """Keys of mappings, and attributes of objects of a library, that say where it goes."""

    sinks: Collection[str] = ()
    sensitive: frozenset[str] = frozenset()
    """Names of calls and of modules that reach outside."""

    defaults: ClassVar[dict[str, Value]] = {}
    """What kinds of effects are judged by where nothing is given."""

    own_processes: frozenset[str] = frozenset()
    """Names of the numbers of processes that the program is, or has started itself."""

    max_call_depth = 0

    def __init__(self, context: Context) -> None:
        super().__init__(context)
        self.scope = Scope()
        self.frames: list[Frame] = []
        self.functions: list[Function] = []
        self.called: set[object] = set()
        # The databases that each driver's function was called for.
        self.connections: dict[str, set[Connection]] = {}
        # How many branches and loops are being read that may not run, or run more than once.
        self.uncertain = 0

        self.changes = 0
        # For each store into an object, what widens the value there to one that is not known.
        self.written: list[Callable[[], None]] = []

        self.steps = 0
        self.call_limit = 0
        self._next_check = _CHECK_EVERY

    def call(self, function: Value, arguments: Arguments, node: Any) -> Value:
        """Return what calling a value gives."""
        raise NotImplementedError

    def count_step(self) -> None:
        """Count one node more; some steps check the time, which may end the scan."""
        self.steps += 1
        if self.steps > self._next_check:
            self.check_time()

    def check_time(self) -> None:
        """Check the time now, and again after some steps.

        Raises:
            OutOfTime: the deadline has passed.
        """
        self._next_check = self.steps + _CHECK_EVERY
        self.context.check_time()

    def reaches_outside(self, value: Value) -> bool:
        """Whether a value is, or holds, a function or a module that reaches outside."""
        if value.__class__ in _DATA:
            return False
        for seen, one in enumerate(walk_parts(value)):
            called = one.called if isinstance(one, Partial) else one
            name = called.name if isinstance(called, Ref) else "()"
            if seen == _MOST_HELD or ("()" not in name and (name in self.sinks or name in self.sensitive)):
                return True
        return False

    def end_patience(self) -> None:
        """Give a loop in which a function calls itself no more steps than others: each turn takes many."""

    @property
    def overspent(self) -> bool:
        """Whether functions that were read before are not read again, and are reviewed instead."""
        return self.steps > self.call_limit

    # --- stores

    def store(self, table: dict[Any, Value], key: object, value: Value, scope: Scope | None = None) -> None:
        """Put a value into the table of an object or a scope.

        In what may not run, the value before stays possible.
        """
        if self.frames or self.uncertain:
            self.written.append(lambda: _widen_entry(table if scope is None else scope.names, key))
        before = table.get(key)
        if before is not None and self.uncertain:
            if covers_all(before, value):
                return
            value = join(before, value)
        table[key] = value
        self.changes += 1

    def store_in_any(self, table: dict[Any, Value], value: Value) -> None:
        """Put a value into a table under one of its keys, of which it is not known which."""
        for key, held in list(table.items()):
            self.store(table, key, join(held, value))

    def store_anywhere(self, owner: Mapping, value: Value) -> None:
        """Put a value under a key that is not known: under any of those there are, or another one."""
        if not any(covers_all(one, value) for one in owner.rest):
            owner.rest.append(value)
            self.changes += 1
        if owner.is_of_object:
            self.store_in_any(owner.entries, value)
        if self.frames or self.uncertain:
            self.written.append(lambda: owner.rest.append(UNKNOWN) if UNKNOWN not in owner.rest else None)

    def add_items(self, owner: Items, values: Sequence[Value]) -> None:
        """Add values to the end of a list; past its bound they are widened into its last item."""
        self.change_items(owner, values)
        owner.items.extend(values)
        if len(owner.items) > MAX_ITEMS:
            owner.items[:] = limit_values(owner.items, MAX_ITEMS)
            owner.more = True

    def change_items(self, owner: Items, added: Sequence[Value] = ()) -> None:
        """Note that a list changes; its order is no longer known in what may run more than once."""
        if self.uncertain:
            held = join_all(owner.items)
            if not owner.more or not all(covers_all(held, one) for one in added):
                self.changes += 1
            owner.more = True
        if self.frames or self.uncertain:
            self.written.append(lambda: _widen_items(owner))

    # --- what runs more than once

    def repeat(self, read: Callable[[], T], node: Any, since: int | None = None) -> T:
        """Read what may run any number of times, until no object changes by reading it once more.

        Where that takes long, each location that was stored to `since` then may hold anything the last time.
        """
        start = len(self.written) if since is None else since
        self.uncertain += 1
        try:
            for _ in range(2):
                changes = self.changes
                result = read()
                if self.changes == changes:
                    return result
            if self.overspent:
                self.add("too-complex", node, "is read more often than is followed")
                return result
            for widen_location in self.written[start:]:
                widen_location()
            return read()
        finally:
            self.uncertain -= 1

    def read_call(
        self, key: object, scope: Scope, bind: Callable[[], None], read: Callable[[], Any], node: Any
    ) -> Frame | None:
        """Read the body of a function with the arguments of a call; None where the call is not followed.

        Args:
            key: the function, by what all its values share.
            scope: what it closes over.
            bind: gives its parameters their values.
            read: reads its body.
            node: the place of a finding that it is not followed.
        """
        earlier = [frame for frame in self.frames if frame.key == key]
        if (len(self.frames) >= self.max_call_depth or self.overspent) and key in self.called:
            self.add("too-complex", node, self.called_too_often)
            return None
        if len(earlier) > 3:
            return None
        self.called.add(key)
        if earlier:
            self.end_patience()
        outer, self.scope = self.scope, Scope(scope)
        frame = Frame(key, len(self.written), self.uncertain)
        self.frames.append(frame)
        try:
            bind()
            given = self.scope.names
            if len(earlier) == 2:
                # From here on one reading covers every deeper call: its arguments stand for all of theirs.
                readings = [*(one.given for one in earlier), given]
                given.update(
                    {name: _widen_over(one.get(name, UNKNOWN) for one in readings) for name in given}
                )
            elif len(earlier) == 3:
                if all(covers(earlier[2].given.get(name, UNKNOWN), value) for name, value in given.items()):
                    return None
                given.update(dict.fromkeys(given, UNKNOWN))
            frame.given = dict(given)
            if len(earlier) >= 2:
                self.repeat(read, node, earlier[0].written)
            else:
                read()
        finally:
            self.frames.pop()
            self.scope = outer
        return frame

    # --- findings

    def judge_path(self, action: Action, value: Value, who: str, node: Any) -> None:
        """Hold a path, in each of its alternatives, against the boundary; of a container each item once."""
        pending, seen = [*list_options(value)], set[int]()
        while pending:
            option = pending.pop()
            if id(option) in seen or self.is_no_path(option):
                continue
            seen.add(id(option))
            if isinstance(option, Items | OneOf):
                pending.extend(option.items if isinstance(option, Items) else option.options)
                continue
            names = collect_taint(option) == NAME
            if action is Action.WRITE and is_git_setting(to_pieces(option)):
                self.add("exec.dynamic", node, f"{who} writes a file of git whose commands run")
            for pieces in self.begin_at_directories(to_pieces(option)):
                crossing = self.context.boundary.path(action, pieces, holes_are_names=names)
                self.crossed(crossing, who, node)

    def begin_at_directories(self, pieces: Pieces) -> list[Pieces]:
        """Return a path as it is from each directory that it may begin at."""
        return [pieces]

    def is_no_path(self, value: Value) -> bool:
        """Whether a value opens nothing where a path is expected: a number, a buffer."""
        return isinstance(value, Const) and not isinstance(value.value, str | bytes)

    def judge_host(self, value: Value, port: Value | None, who: str, node: Any) -> None:
        """Hold a host, in each of its alternatives, against the boundary."""
        if isinstance(port, Const) and isinstance(port.value, int):
            number = port.value
        else:
            number = None
        for option in list_options(value):
            if isinstance(option, Items) and option.items:
                self.judge_host(option.items[0], port, who, node)
            else:
                self.crossed(self.context.boundary.host_in_pieces(to_pieces(option), number), who, node)

    def judge_literal(self, value: Value, name: str, node: Any, kind: Kind = _ALL) -> None:
        """Judge what a call gets whose effects are not known, where it names a place outside."""
        pending, seen = [value], set[int]()
        who = self.plain_name(name)
        while pending:
            one = pending.pop()
            self.steps += 1
            if "place" in one.taint:
                self.add("call.unknown", node, f"{who} gets one of many targets, of which some are outside")
            elif isinstance(one, Const | Text | Path):
                place = find_place(self.context.boundary, to_pieces(one), paths=kind.paths, hosts=kind.hosts)
                if place is not None:
                    message = self.unknown_call.format(who, place.message)
                    self.add("call.unknown", node, message, policy_line=self.format_allowed_call(name))
            elif isinstance(one, Items | Mapping | OneOf) and id(one) not in seen:
                seen.add(id(one))
                pending.extend(self._list_held_places(one))

    def format_allowed_call(self, name: str) -> str:
        """Return the line of a policy that allows a call by its resolved name; empty where none does."""
        return ""

    def _list_held_places(self, value: Items | Mapping | OneOf) -> Iterable[Value]:
        if isinstance(value, OneOf):
            return value.options
        if isinstance(value, Items):
            return value.items
        return [*(entry for key, entry in value.entries.items() if key in self.targets), *value.rest]

    def judge_statement(self, value: Value, who: str, node: Any) -> None:
        """Judge a text that may be a statement, and goes to a call that is not known to send one."""
        if isinstance(value, Const | Text):
            who = self.plain_name(who).removeprefix("?.")
            context = self.context.nested(self.place(node), f"{who} gets a statement: ")
            scan_given(context, to_pieces(value))

    # --- sources within the source

    def run_command(self, pieces: Pieces, taint: Taint, who: str, node: Any) -> None:
        """Scan a command line; holes in it become variables that nothing sets."""
        if "network" in taint and all(piece is None for piece in pieces):
            self.add("exec.download", node, f"{who} runs {self.downloaded}")
            return
        if pieces and pieces[0] is None:
            self.add("command.dynamic", node, f"{who} runs a command that is not known")
            return
        text = "".join("$__unknown" if piece is None else piece for piece in pieces)
        nested.scan("bash", self.context.nested(self.place(node), f"{who} runs a command: "), text)

    def judge_variables(self, variables: Iterable[tuple[object, Value]], who: str, node: Any) -> None:
        """Judge variables that a program gets, as the shell judges them where it sets them.

        What their names make of them counts: commands that a program runs, libraries that it loads, proxies.
        """
        assigned = [
            f"{name}={_quote(to_pieces(value))}"
            for name, value in variables
            if isinstance(name, str) and (name in _ACTING_VARIABLES or _ACTING_VARIABLE.fullmatch(name))
        ]
        if assigned:
            context = self.context.nested(self.place(node), f"{who} sets a variable: ")
            nested.scan("bash", context, " ".join(assigned[:_MOST_VARIABLES]) + " :")


# Variables by whose names a shell judges what they are set to.
_VARIABLES: Final = read_sections("shell")["variables"]
_ACTING_VARIABLES: Final = split_entry(_VARIABLES, "commands") | split_entry(_VARIABLES, "loading")
_ACTING_VARIABLE: Final = re.compile(r"GIT_CONFIG\w*|PS\d|\w+_(?:PROXY|proxy)")
_MOST_VARIABLES: Final = 32


def _quote(pieces: Pieces) -> str:
    """Return a text as a word of the shell; its holes are variables that nothing sets."""
    return "".join('"$__unknown"' if piece is None else shlex.quote(piece) for piece in pieces)


def _widen_over(values: Iterable[Value]) -> Value:
    joined = join_all(values)
    if isinstance(joined, OneOf):
        return widen(list(joined.options))
    return joined


def _widen_entry(table: dict[Any, Value], key: object) -> None:
    value = table.get(key)
    if value is not None:
        table[key] = join(value, Unknown(collect_taint(value) | ANY))


def _widen_items(owner: Items) -> None:
    owner.more = True
    if not any(one.__class__ is Unknown and one.taint >= ANY for one in owner.items):
        owner.items.append(Unknown(collect_taint(owner) | ANY))
