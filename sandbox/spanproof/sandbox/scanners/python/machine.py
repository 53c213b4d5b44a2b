"""The reading of one Python program: evaluators of expressions, executors of statements, budgets of loops.

`evaluate` gives the abstract value of an expression, `execute` reads statements in order; both dispatch by
node class over the tables of `expressions` and `statements`.
"""

# ruff: noqa: ARG001 - models share one signature

from __future__ import annotations

import ast
import posixpath
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, ClassVar, Final, TypeAlias

from spanproof.sandbox.scanners.boundary import Pieces
from spanproof.sandbox.scanners.context import ARGUMENTS, Context
from spanproof.sandbox.scanners.policy_lines import format_addition
from spanproof.sandbox.scanners.python.conditions import Conditions
from spanproof.sandbox.scanners.python.names import OWN_PROCESSES, SENSITIVE, SINKS, TARGETS
from spanproof.sandbox.scanners.python.parse import compute_column
from spanproof.sandbox.scanners.reader.state import Arguments, Reader
from spanproof.sandbox.scanners.reader.values import UNKNOWN, Const, Klass, Ref, Value
from spanproof.sandbox.scanners.source import Place
from spanproof.sandbox.scanners.sql_connections import strip_database
from spanproof.sandbox.words import split_words

Flow: TypeAlias = str | None
"""How a block ended when it did not run to its end: `return`, `raise`, `break`, `continue`."""

Evaluator = Callable[["Machine", Any], Value]
"""Takes the node class its table names, which a type cannot say."""

Executor = Callable[["Machine", Any], Flow]
Caller = Callable[["Machine", Value, Arguments, ast.expr], Value]
Model = Callable[["Machine", Ref, Arguments, ast.expr], Value | None]
"""What a call outside the program gives; None where it is like any other."""

FREE_STEPS = 4_000
"""Nodes that unrolled loops and inlined calls may read beyond the source's own."""

DECODING_STEPS = 60_000
"""The same for loops that put a text together, which is how payloads hide."""

CALL_STEPS = 40_000
"""The same for calls, which are followed for longer than loops."""

# Directories outside the work directory that a program changes to; more are not followed.
_MOST_DIRECTORIES: Final = 8
_BUFFERS: Final = tuple(
    split_words("io. open() requests. urllib. tempfile. sys. gzip. zipfile. httpx. sqlite3.")
)


@dataclass(slots=True)
class Tables:
    """What the machine dispatches over; handed in so that modules need not import one another."""

    expressions: dict[type, Evaluator]
    statements: dict[type, Executor]
    call: Caller
    set_attribute: Callable[[Machine, Ref, str, Value, ast.expr], None]
    """Judges what an attribute of something outside the program is set to."""


class Machine(Reader):
    """Reads one program."""

    language = "python"
    unknown_call = "{}, which is not in the catalogue, gets a target outside: {}"
    called_too_often = "is called more often, or deeper, than is followed"
    targets = TARGETS
    sinks = SINKS
    sensitive = SENSITIVE
    own_processes = OWN_PROCESSES
    max_call_depth = 12
    defaults: ClassVar = {
        "dbserver": Const("localhost"), "dbfile": Const(":memory:"), "netrc": Const("~/.netrc"),
        "model": Const(""), "listen": Const(""), "listenlocal": Const("127.0.0.1"), "bind": Const(""),
    }  # fmt: skip

    def __init__(
        self, context: Context, tables: Tables, text: str, parse: Callable[[str], ast.Module | None]
    ) -> None:
        super().__init__(context)
        self.tables = tables
        self.parse = parse
        self.text = text
        self.binds_socket = False
        # Expressions that copy the environment only for programs that are started.
        self.handed_on: frozenset[ast.expr] = frozenset()
        self.command_arguments: dict[str, Value] = {}
        # Paths that are known by their values alone, kept so that each has an identity of its own.
        self._unknown_paths: list[Value] = []
        self.raised: list[Value] = []  # What the program raises, which a handler may get
        self.classes: list[Klass] = []
        # Whether code that is not read gets an object that it can leave, as an `ExitStack` does.
        self.hands_over_managers = False
        self.overrides: dict[str, Value] = {}
        if ARGUMENTS in context.values:
            self.overrides["sys.argv"] = context.values[ARGUMENTS]
        # Functions that are called when the program ends, with what they get.
        self.exit_handlers: list[tuple[Value, Arguments, ast.expr]] = []
        self.endless: set[Value] = set()  # What can be gone through without an end
        self.imported_all: list[str] = []
        # Paths and texts of the program's own modules that were read.
        self.imported_files: set[tuple[str, str]] = set()
        self.conditions: Conditions | None = None
        # Where relative paths may begin besides the work directory: a change of it may fail, or be undone.
        self.directories: list[str] = []
        # Where relative paths begin besides, from the work directory; None where that is not sure.
        self.start: str | None = ""
        # The calls that are statements of the program itself, in no branch, loop, function or `try`.
        self.sure_calls: frozenset[ast.expr] = frozenset()
        self.soft_limit = self._plain_limit = FREE_STEPS + len(text) // 2
        self.hard_limit = DECODING_STEPS + len(text) // 2
        self.call_limit = CALL_STEPS + 2 * len(text)
        self._lines = () if text.isascii() else text.split("\n")

    @property
    def program_text(self) -> str:
        """The source that is read."""
        return self.text

    def evaluate(self, node: ast.expr) -> Value:
        """Return the abstract value of an expression."""
        self.steps += 1
        if self.steps > self._next_check:
            self.check_time()
        evaluator = self.tables.expressions.get(node.__class__)
        if evaluator is not None:
            return evaluator(self, node)
        return self._read_newer_syntax(node)

    def execute(self, block: Sequence[ast.stmt]) -> Flow:
        """Read statements in order; returns how the block ended early, if that is certain."""
        statements = self.tables.statements
        for statement in block:
            self.count_step()
            executor = statements.get(statement.__class__)
            if executor is None:
                self._read_newer_syntax(statement)
                continue
            flow = executor(self, statement)
            if flow is not None:
                return flow
        return None

    def find_truth(self, test: ast.expr) -> bool | None:
        """Return what a test gives whenever it is reached; None where that is not known."""
        if self.conditions is not None:
            return self.conditions.find_truth(test)
        return None

    def name_unknown_path(self, value: Value) -> str:
        """Return a name for a path that is known in part: the same for the same value alone."""
        if not any(value is one for one in self._unknown_paths):
            self._unknown_paths.append(value)
        return f"{id(value)}?"

    def format_allowed_call(self, name: str) -> str:
        """Return the line of a policy that allows a call; none does where its object is not known."""
        if name.startswith("?"):
            return ""
        return format_addition("allowed_calls", name)

    def read_all_variables(self, who: str, node: Any) -> bool:
        """Report that the environment as a whole is read, unless it is only handed on."""
        return node not in self.handed_on and super().read_all_variables(who, node)

    def call(self, function: Value, arguments: Arguments, node: ast.expr) -> Value:
        """Return what calling a value gives."""
        return self.tables.call(self, function, arguments, node)

    def read_environment(self, value: Value, node: ast.expr, how: str = "copy") -> None:
        """Judge a value that may be the environment as a whole, where what is done to it reads all of it."""
        if isinstance(value, Ref) and value.name == "os.environ":
            self.call(Ref(f"os.environ.{how}"), Arguments([]), node)

    @contextmanager
    def patience(self, *, decoding: bool) -> Iterator[None]:
        """Read what is inside with the larger budget, if it decodes."""
        before, started = self.soft_limit, self.steps
        outermost = decoding and before < self.hard_limit
        if outermost:
            self._plain_limit, self.soft_limit = before, self.hard_limit
        try:
            yield
        finally:
            if outermost:
                self.soft_limit = self._plain_limit = before + (self.steps - started)

    def end_patience(self) -> None:
        """Read what is inside a loop that decodes with the plain budget from here on."""
        self.soft_limit = self._plain_limit

    @property
    def exhausted(self) -> bool:
        """Whether the steps for unrolling and inlining are spent."""
        return self.steps > self.soft_limit

    def place(self, node: ast.AST) -> Place:
        """Return the place of a node, in characters."""
        line = getattr(node, "lineno", 1)
        column = getattr(node, "col_offset", 0)
        end_line = getattr(node, "end_lineno", None) or line
        end_column = getattr(node, "end_col_offset", None) or column
        return Place(
            line,
            compute_column(self._lines, line, column),
            end_line,
            compute_column(self._lines, end_line, end_column),
        )

    def plain_name(self, name: str) -> str:
        """Return a resolved name as people write it."""
        return strip_database(name).replace("()", "").removeprefix("?.")

    def change_directory(self, path: str, call: ast.expr | None) -> None:
        """Note a directory that relative paths may begin at, or begin at from here on.

        Args:
            path: the directory; empty where it is not known.
            call: what changes it for good: at the head of the program, the program goes on there or ends.
        """
        if call in self.sure_calls and path[:1] not in {"", "~"} and self.start is not None:
            self.start = posixpath.normpath(posixpath.join(self.start, path))
            return
        if self.start:
            self.directories.append(self.start)
        self.start = None
        entered = [posixpath.join(one, path) for one in ("", *self.directories)]
        outside = [one for one in entered if one.startswith(("/", "~")) and one not in self.directories]
        self.directories += outside[: max(0, _MOST_DIRECTORIES - len(self.directories))]

    def begin_at_directories(self, pieces: Pieces) -> list[Pieces]:
        """Return a path as it is from the work directory and, where it is relative, from each other one."""
        head = pieces[0]
        if head is None or head.startswith(("/", "~")):
            return [pieces]
        starts = [self.start or "", *self.directories]
        return [(posixpath.join(one, head), *pieces[1:]) if one else pieces for one in starts]

    def is_no_path(self, value: Value) -> bool:
        """Whether a value opens nothing where a path is expected: a number, a buffer."""
        if isinstance(value, Ref):
            return value.name.startswith(_BUFFERS) and not value.name.startswith("sys.argv")
        return super().is_no_path(value)

    def _read_newer_syntax(self, node: ast.AST) -> Value:
        """Read what is inside a node of a Python newer than the tables all the same."""
        for child in ast.iter_child_nodes(node):
            if isinstance(child, ast.expr):
                self.evaluate(child)
            elif isinstance(child, ast.stmt):
                self.execute([child])
            else:
                self._read_newer_syntax(child)
        return UNKNOWN


def make_pass_through(*keywords: str) -> Model:
    """Return a model that gives its first argument, by whichever of these names it is given."""

    def model(m: Machine, function: Ref, arguments: Arguments, node: ast.expr) -> Value | None:
        given = (arguments.get(0, keyword) for keyword in keywords)
        return next((one for one in given if one is not None), None)

    return model


def make_constant_model(value: Value) -> Model:
    """Return a model that gives the same whatever the arguments."""

    def model(m: Machine, function: Ref, arguments: Arguments, node: ast.expr) -> Value | None:
        return value

    return model
