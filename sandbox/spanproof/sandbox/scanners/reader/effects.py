"""From a call that reaches outside to findings: each effect's argument is held against the boundary.

In: what a call does, as the data files say it, and its arguments. Out: findings, and the call's result where
an effect decides it. Known targets are judged, unknown ones reviewed; nothing is ever opened or reached.
"""

# ruff: noqa: ARG001 - functions of one table share one signature

from __future__ import annotations

import difflib
import shlex
from collections import abc
from collections.abc import Callable, Collection, Sequence
from typing import Any, Final, Generic, NamedTuple, TypeVar

from spanproof.sandbox.scanners.boundary import Action, Boundary, Crossing, Pieces
from spanproof.sandbox.scanners.catalogue import locate_entry, read_sections
from spanproof.sandbox.scanners.model import Verdict
from spanproof.sandbox.scanners.pieces import merge_pieces
from spanproof.sandbox.scanners.reader.state import Arguments, Reader
from spanproof.sandbox.scanners.reader.values import (
    NAME,
    Const,
    Items,
    Mapping,
    Ref,
    Unknown,
    Value,
    build_text,
    collect_taint,
    join_all,
    list_options,
    to_pieces,
)
from spanproof.sandbox.scanners.rules import CALL_MEANINGS, explain_call
from spanproof.sandbox.scanners.sql_connections import IN_MEMORY, Connection, Database

R = TypeVar("R", bound=Reader)

FILE: Final = frozenset({"file"})
NETWORK: Final = frozenset({"network"})
"""The taint of what came over the network."""

ENVIRONMENT: Final = frozenset({"environment"})

_OWNER, _NO_ARGUMENT = -1, -2
# The end of a kind that counts only where the argument is given.
_OPTIONAL: Final = "opt"
# Kinds that have a rule whatever the arguments.
_RULED: Final = ("deny", "review")


class Condition(NamedTuple):
    """A keyword argument that decides whether an effect counts.

    `if KEYWORD` counts where the keyword is given and may be true, `unless KEYWORD` where it may be false.
    `unless KEYWORD=TEXT` counts where the keyword may be another text, `if KEYWORD=TEXT` where it may be
    this one.
    """

    keyword: str
    counts_if: bool
    text: str = ""

    def holds(self, arguments: Arguments) -> bool:
        """Whether the effect counts for a call with these arguments."""
        value = arguments.named.get(self.keyword)
        if self.counts_if and self.text:
            return value is not None and not (isinstance(value, Const) and value.value != self.text)
        if self.counts_if:
            return value is not None and not (isinstance(value, Const) and not value.value)
        return not (isinstance(value, Const) and value.value == (self.text or True))


class Effect(NamedTuple):
    """One thing a call does; `position` -1 is the receiver, -2 no argument at all."""

    kind: str
    position: int
    keyword: str = ""
    condition: Condition | None = None


def read_effects(table: dict[str, str]) -> dict[str, tuple[Effect, ...]]:
    """Return the effects of calls by their names, from a data file: `read 0 src; write 1 dst`."""
    return {
        name: tuple(_parse_effect(part.split()) for part in effects.split(";"))
        for name, effects in table.items()
    }


def _parse_effect(words: list[str]) -> Effect:
    condition = None
    if words[-2:-1] in (["if"], ["unless"]):
        *words, word, keyword = words
        keyword, _, text = keyword.partition("=")
        condition = Condition(keyword, word == "if", text)
    kind, *rest = words
    if rest and rest[0].isdigit():
        return Effect(kind, int(rest[0]), rest[1] if len(rest) > 1 else "", condition)
    position = _OWNER if kind == "pathself" else _NO_ARGUMENT
    return Effect(kind, position, rest[0] if rest else "", condition)


def check_effects(
    effects: abc.Mapping[str, tuple[Effect, ...]], checks: abc.Mapping[str, Check], *files: str
) -> None:
    """Refuse effects that nothing judges, when the data files are loaded.

    Args:
        effects: of calls, by their names.
        checks: what judges an effect, by its kind.
        files: the names of the data files that the effects were read from, below `data` and without `.txt`.

    Raises:
        ValueError: a kind or a rule is not known; names file, line and what would be right.
    """
    kinds = {*checks, *_RULED}
    for name, judged in effects.items():
        for effect in judged:
            kind = effect.kind.removesuffix(_OPTIONAL)
            if kind not in kinds:
                problem = f"the kind {effect.kind!r}, which is not known; {_suggest(effect.kind, kinds)}"
            elif kind in _RULED and effect.keyword not in CALL_MEANINGS:
                suggestion = _suggest(effect.keyword, CALL_MEANINGS)
                problem = f"the rule {effect.keyword!r}, which is not known; {suggestion}"
            else:
                continue
            raise ValueError(f"{locate_entry(name, *files)}: {name} has {problem}")


def _suggest(word: str, known: Collection[str]) -> str:
    near = difflib.get_close_matches(word, list(known), 1)
    if near:
        return f"did you mean {near[0]!r}?"
    return f"known are: {', '.join(sorted(known))}"


class Call(NamedTuple, Generic[R]):
    """One call of something outside the program, and the effect that is judged."""

    m: R
    function: Ref
    effect: Effect
    arguments: Arguments
    node: Any

    @property
    def name(self) -> str:
        """The resolved name of what is called."""
        return self.function.name

    @property
    def who(self) -> str:
        """Its name as people write it."""
        return self.m.plain_name(self.function.name)

    @property
    def boundary(self) -> Boundary:
        """What its arguments are held against."""
        return self.m.context.boundary

    def add(self, rule: str, message: str, verdict: Verdict | None = None) -> None:
        """Report one finding; `rule` without the language."""
        self.m.add(rule, self.node, message, verdict)

    def crossed(self, crossing: Crossing | None, who: str = "") -> bool:
        """Report a crossing of the boundary, if it is one."""
        return self.m.crossed(crossing, who or self.name, self.node)

    def judge_path(self, action: Action, value: Value) -> None:
        """Hold a path against the boundary."""
        self.m.judge_path(action, value, self.name, self.node)

    def judge_host(self, value: Value, port: Value | None = None) -> None:
        """Hold a host against the boundary."""
        self.m.judge_host(value, port, self.name, self.node)


Check = Callable[[Call[Any], Value], Value | None]
"""Judges an effect by one alternative of its argument; gives the call's result where the effect decides."""


_IN_PLACE: Final = "in place of "


def mark_replaced(name: str) -> Value:
    """Return what a function gets that a program puts in the place of another one."""
    return Unknown(frozenset({_IN_PLACE + name}))


def apply_effects(
    m: Reader,
    function: Ref,
    effects: Sequence[Effect],
    arguments: Arguments,
    node: Any,
    checks: abc.Mapping[str, Check],
) -> Value | None:
    """Judge every effect of a call; gives the call's result where an effect decides it."""
    result: Value | None = None
    for effect in effects:
        if effect.condition is not None and not effect.condition.holds(arguments):
            continue
        if effect.kind in _RULED:
            verdict = Verdict.DENY if effect.kind == "deny" else Verdict.REVIEW
            message = explain_call(m.plain_name(function.name), effect.keyword)
            line = m.format_allowed_call(function.name)
            m.add(effect.keyword, node, message, verdict, policy_line=line)
            continue
        value = _select_argument(m, effect, function, arguments)
        if isinstance(value, Unknown) and _IN_PLACE + function.name in value.taint:
            continue  # judged where the function that has its place is called
        check = checks[effect.kind.removesuffix(_OPTIONAL)]
        call = Call(m, function, effect, arguments, node)
        if value is not None:
            given = [check(call, option) for option in list_options(value)]
        else:
            given = []
        decided = [one for one in given if one is not None]
        if decided:
            result = join_all(decided)
    return result


def _select_argument(m: Reader, effect: Effect, function: Ref, arguments: Arguments) -> Value | None:
    if effect.position == _OWNER:
        return function.owner
    if effect.position == _NO_ARGUMENT:
        return Const("")
    value = arguments.get(effect.position, effect.keyword)
    if effect.kind.endswith(_OPTIONAL):
        is_given = effect.position < len(arguments.positional) or effect.keyword in arguments.named
        if is_given and not (isinstance(value, Const) and value.value is None):
            return value
        return None
    return m.defaults.get(effect.kind) if value is None else value


def to_whole_text(value: Value | None) -> str:
    """Return a text that is wholly known, or nothing."""
    pieces = to_pieces(value) if value is not None else ()
    return pieces[0] if len(pieces) == 1 and pieces[0] is not None else ""


def build_command_line(words: Sequence[Value], *, more: bool = False) -> Pieces:
    """Return a program and its arguments as one line of a shell."""
    pieces: list[str | None] = []
    for index, word in enumerate(words):
        pieces.extend([" "] if index else [])
        pieces.extend(piece if piece is None else shlex.quote(piece) for piece in to_pieces(word))
    if more:
        pieces.extend([" ", None] if pieces else [None])
    return merge_pieces(pieces)


def remember(call: Call[Any], connection: Connection) -> None:
    """Note the database that a driver's function was called for."""
    call.m.connections.setdefault(call.name, set()).add(connection)


def _make_path_check(action: Action) -> Check:
    def check(call: Call[Reader], value: Value) -> Value | None:
        call.judge_path(action, value)
        if action is Action.READ:
            return Ref(f"{call.name}()", FILE)
        return None

    return check


def _judge_shell(call: Call[Reader], value: Value) -> Value | None:
    call.m.run_command(to_pieces(value), collect_taint(value), call.name, call.node)
    return None


def _judge_environment(call: Call[Reader], value: Value) -> Value | None:
    held = read_variable(call.m, to_whole_text(value), call.name, call.node)
    default = call.arguments.get(1, "default") if not isinstance(held, Const) else None
    return held if default is None else join_all([held, default])


# Variables that name a folder, which is judged where it is opened.
_FOLDERS: Final = {name: read_sections("shell")["predefined"][name] for name in ("HOME", "PWD", "TMPDIR")}


# Those that name a folder of the program's own, below the work directory.
_OWN_FOLDERS: Final = frozenset({"DATA_DIR", "INPUT_DIR", "OUTPUT_DIR"})


def read_variable(m: Reader, name: str, who: str, node: Any) -> Value:
    """Judge the reading of a variable of the environment, and return what it gives."""
    if m.crossed(m.context.judge_variable(name), who, node):
        return Unknown(ENVIRONMENT)
    own = m.context.values.get(name)
    if own is not None and name in m.context.variables:
        return own
    outer: Value = Unknown(frozenset())
    if name in _FOLDERS and name not in m.context.variables:
        outer = Const(_FOLDERS[name])
    elif name in _OWN_FOLDERS and name not in m.context.variables:
        outer = build_text((m.context.boundary.work_path("."), "/", None), NAME)
    return join_all([own, outer]) if own is not None else outer


def _judge_whole_environment(call: Call[Reader], value: Value) -> Value | None:
    variables = Unknown(ENVIRONMENT if call.m.read_all_variables(call.name, call.node) else frozenset())
    if call.name == "os.environ.copy":
        return Mapping({}, [variables])
    return variables


def _judge_database_file(call: Call[Reader], value: Value) -> Value | None:
    text = to_pieces(value)[0]
    if text is not None and (text == "" or text.startswith((":memory:", "file::memory:"))):
        return Ref(f"{call.name}{IN_MEMORY}")
    if text is not None and text.startswith(("md:", "motherduck:")):
        call.add("network.host", f"{call.who} reaches the database {text[:60]} of a service")
        return Ref(f"{call.name}()")
    if text is not None and text.startswith("file:"):
        value = build_text((text[5:].partition("?")[0], *to_pieces(value)[1:]), value.taint)
    call.judge_path(Action.WRITE, value)
    remember(call, Connection(Database.FILE, file=to_whole_text(value)))
    return Ref(f"{call.name}()")


def _judge_listen(call: Call[Reader], value: Value) -> Value | None:
    """Judge the address of a server: a host, or a pair of host and port."""
    host = value.items[0] if isinstance(value, Items) and value.items else value
    if isinstance(host, Const) and host.value is None:
        host = Const("")
    call.crossed(call.boundary.listen(to_pieces(host)))
    return None


def _judge_signal(call: Call[Reader], value: Value) -> Value | None:
    """Judge the process that a signal goes to: the program itself and those that it starts are its own."""
    if not (isinstance(value, Ref) and value.name in call.m.own_processes):
        call.add("process.signal", explain_call(call.who, "process.signal"))
    return None


def _judge_nothing(call: Call[Reader], value: Value) -> Value | None:
    return None


CHECKS: Final[dict[str, Check]] = {
    **{str(action): _make_path_check(action) for action in Action},
    "shell": _judge_shell,
    "env": _judge_environment,
    "envall": _judge_whole_environment,
    "dbfile": _judge_database_file,
    "listen": _judge_listen,
    "listenlocal": _judge_listen,
    "signal": _judge_signal,
    "none": _judge_nothing,
}
"""What judges the kinds of effects that are the same in each language."""
