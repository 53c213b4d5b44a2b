"""The process that holds a program's tests: forked before the program runs, and closed to it.

In: the tests, from the supervisor, after the fork; answers of the program's process: plain data or handles.
Out: each test's result, under a token of its own. The program's code never runs here, and its process can
neither read nor write this one: whatever it does, it can only answer. Tests that need to share an interpreter
with the program (they patch, capture, draw lots …) are handed over; that is decided from their text alone.
"""

from __future__ import annotations

import ast
import builtins
import os
import socket
import sys
from collections.abc import Iterable, Iterator
from typing import Any, NoReturn

from spanproof.sandbox import kernel
from spanproof.sandbox.guest import candidate
from spanproof.sandbox.guest.crossing import NoPlainForm, decode, encode, resolve_exception_class
from spanproof.sandbox.guest.ending import print_exception, resolve_exit_code
from spanproof.sandbox.guest.inbox import Inbox
from spanproof.sandbox.guest.reporter import CONTROL_FD, Reporter, describe
from spanproof.sandbox.guest.testing import TESTS_FILENAME, Tally, plan_tests, run_plan

RECORDER = "_record_test"
_LIBRARY = frozenset(
    [
        "bisect",
        "cmath",
        "collections",
        "copy",
        "datetime",
        "decimal",
        "fractions",
        "functools",
        "heapq",
        "itertools",
        "json",
        "math",
        "operator",
        "re",
        "statistics",
        "string",
        "typing",
    ]
)
_SHARED = frozenset(
    [
        "globals",
        "locals",
        "vars",
        "exec",
        "eval",
        "compile",
        "open",
        "input",
        "__import__",
        "dir",
        "id",
        "type",
        "super",
        "setattr",
        "delattr",
        "hasattr",
        "getattr",
        "callable",
    ]
)
_BUILTINS = frozenset(dir(builtins))


def can_run_apart(tests: str) -> bool:
    """Whether tests can do with what a program answers, without sharing its interpreter."""
    try:
        nodes = list(ast.walk(ast.parse(tests)))
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return True  # they do not compile, and the plan says so
    for node in nodes:
        if isinstance(node, ast.Import) and not {name.name for name in node.names} <= _LIBRARY:
            return False
        if isinstance(node, ast.ImportFrom) and node.module not in _LIBRARY:
            return False
        if isinstance(node, ast.ClassDef | ast.AsyncFunctionDef | ast.Global | ast.With | ast.AsyncWith):
            return False
        if isinstance(node, ast.Name) and node.id in _SHARED:
            return False
        if isinstance(node, ast.Attribute) and node.attr.startswith("__"):
            return False
    return True


class Names(dict[str, Any]):
    """The tests' global names; what they do not define themselves is the program's."""

    def __init__(self, program: Program, program_first: frozenset[str]) -> None:
        super().__init__(__name__="__main__", __builtins__=builtins)
        self._program = program
        self._first = program_first

    def __missing__(self, name: str) -> Any:
        # A builtin the program has replaced must not decide its own test.
        if name in _BUILTINS and name not in self._first:
            return getattr(builtins, name)
        return self._program.name(name)


def find_program_builtins(tests: str, entry_point: str | None) -> frozenset[str]:
    """Return builtin names that mean the program's: its entry point, or all if tests use no others."""
    if entry_point is not None:
        return frozenset((entry_point,))
    nodes = list(ast.walk(ast.parse(tests)))
    called = {
        node.func.id for node in nodes if isinstance(node, ast.Call) and isinstance(node.func, ast.Name)
    }
    own = {node.id for node in nodes if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)}
    own |= {node.name for node in nodes if isinstance(node, ast.FunctionDef)}
    return frozenset() if called - own - _BUILTINS else frozenset(called & _BUILTINS)


class Program:
    """The other process, as the tests see it."""

    def __init__(self, stream: socket.socket) -> None:
        self._stream = stream
        self._lent: list[Any] = []
        self._remotes: dict[int, Remote] = {}
        self._made: dict[str, type[BaseException]] = {}

    def name(self, name: str) -> Any:
        """Return a global name of the program.

        Raises:
            KeyError: it has none such.
        """
        answer = self._query_program(["name", name])
        if answer[0] == "missing":
            raise KeyError(name)
        value = self._decode_value(answer[1])
        if isinstance(value, Remote) and name in _LIBRARY:
            return sys.modules.get(name, value)
        return value

    def do(self, deed: str, *args: Any) -> Any:
        """Run a deed in the program's process, with its values or ours."""
        answer = self._query_program(["do", deed, [encode(arg, self._lend) for arg in args]])
        if deed == "call" and answer[2]:
            for given, after in zip((*args[1], *args[2].values()), answer[2], strict=True):
                _bring_up_to_date(given, self._decode_value(after))
        if answer[0] == "raised":
            name, base, arguments = answer[1]
            details = self._decode_value(arguments)
            raise _make_exception(resolve_exception_class(str(name), str(base), self._made), details)
        return self._decode_value(answer[1])

    def _query_program(self, question: list[Any]) -> list[Any]:
        try:
            candidate.send(self._stream, question)
            while (answer := candidate.receive(self._stream))[0] == "back":
                candidate.send(self._stream, self._answer_callback(answer))
        except (EOFError, OSError, ValueError, TypeError, KeyError, IndexError, RecursionError) as problem:
            self._abandon_tests(problem)
        return list(answer)

    @staticmethod
    def _abandon_tests(problem: Exception) -> NoReturn:
        """Abandon the tests: the program's process ended, or does not speak, so none left can pass."""
        print(f"the program ended before its tests: {type(problem).__name__}", file=sys.stderr, flush=True)
        os._exit(0)

    def _answer_callback(self, message: list[Any]) -> list[Any]:
        function = self._lent[message[1]]
        args, kwargs = self._decode_value(message[2]), self._decode_value(message[3])
        try:
            return ["value", encode(function(*args, **kwargs), self._lend), []]
        except Exception as problem:  # noqa: BLE001 - the program sees it as its callback's failure
            return ["raised", str(problem)]

    def _decode_value(self, form: Any) -> Any:
        try:
            return decode(form, self._resolve_handle)
        except (ValueError, TypeError, KeyError, IndexError, ArithmeticError, RecursionError) as problem:
            self._abandon_tests(problem)

    def _resolve_handle(self, tag: str, body: Any) -> Any:
        if tag == "error":
            return resolve_exception_class(str(body[0]), str(body[1]), self._made)
        if tag in ("object", "kind"):
            return self._remotes.setdefault(int(body), Remote(self, tag, int(body)))
        if tag == "back":
            return self._lent[body]
        raise ValueError("no form of a value")

    def _lend(self, value: Any) -> list[Any]:
        if isinstance(value, Remote):
            return [value._tag, value._number]  # noqa: SLF001
        if isinstance(value, Iterable):
            return ["I", [encode(item, self._lend) for item in value]]
        if not callable(value):
            raise NoPlainForm(f"a {type(value).__name__} cannot be handed to the program")
        self._lent.append(value)
        return ["back", len(self._lent) - 1]


class Remote:
    """A value of the program's that has no plain form; what is done to it is done over there."""

    __slots__ = ("_number", "_program", "_tag")

    def __init__(self, program: Program, tag: str, number: int) -> None:
        self._program = program
        self._tag = tag
        self._number = number

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Call it over there."""
        return self._program.do("call", self, list(args), kwargs)

    def __getattr__(self, name: str) -> Any:
        return self._program.do("getattr", self, name)

    def __eq__(self, other: object) -> Any:
        if not isinstance(other, Remote) and (plain := self._program.do("plain", self)) is not None:
            return plain == other
        answer = self._program.do("eq", self, other)
        # An object's own claim to equal plain data is not taken: it has no plain form that would show it.
        return answer if isinstance(other, Remote) or answer is not True else False

    def __ne__(self, other: object) -> Any:
        if not isinstance(other, Remote) and (plain := self._program.do("plain", self)) is not None:
            return plain != other
        answer = self._program.do("ne", self, other)
        return answer if isinstance(other, Remote) or answer is not False else True

    def __hash__(self) -> int:
        return hash(self._number)

    def __iter__(self) -> Iterator[Any]:
        over_there = self._program.do("iter", self)
        while True:
            try:
                yield over_there.__next__()
            except StopIteration:
                return

    def __next__(self) -> Any:
        return self._program.do("next", self)

    def __instancecheck__(self, value: object) -> bool:
        return isinstance(value, Remote) and self._program.do("isinstance", value, self) is True


def _forward(deed: str) -> Any:
    def method(self: Remote, *args: Any) -> Any:
        return self._program.do(deed, self, *args)

    return method


def _forward_swapped(deed: str) -> Any:
    def method(self: Remote, other: Any) -> Any:
        return self._program.do(deed, other, self)

    return method


for _name in "add sub mul truediv floordiv mod pow and_ or_ xor".split():  # noqa: SIM905
    setattr(Remote, f"__{_name.strip('_')}__", _forward(_name))
    setattr(Remote, f"__r{_name.strip('_')}__", _forward_swapped(_name))
for _name in "lt le gt ge neg abs getitem setitem delitem contains len bool str repr float int".split():  # noqa: SIM905
    setattr(Remote, f"__{_name}__", _forward(_name))


def _make_exception(kind: type[BaseException], details: Any) -> BaseException:
    try:
        return kind(*details)
    except Exception:  # noqa: BLE001 - some take other arguments than they show
        return kind()


def _bring_up_to_date(given: Any, after: Any) -> None:
    if type(given) is not type(after) or isinstance(given, Remote) or given == after:
        return
    if isinstance(given, list):
        given[:] = after
    elif isinstance(given, dict | set):
        given.clear()
        given.update(after)


def judge_main(stream: socket.socket, inbox: Inbox, initial: Reporter, entry_point: str | None) -> None:
    """Judge the program at the other end; in a process of its own, before the program has run."""
    reporter = initial
    try:
        initial.send("judge", hidden=_hide())
        header, parts = inbox.next("tests")
        reporter = Reporter(CONTROL_FD, header["token"])
        code = _judge(parts[0].decode("utf-8", "surrogatepass"), entry_point, stream, reporter)
        candidate.send(stream, ["done", code])
    except BaseException as failure:  # noqa: BLE001 - must not unwind into the program's process
        reporter.send("raised", raised=describe(failure, TESTS_FILENAME))
    finally:
        os._exit(0)


def _hide() -> bool:
    """Close our memory to every process of our user; the caller decides what a refusal means."""
    try:
        kernel.prctl(kernel.PR_SET_DUMPABLE, 0)
    except OSError:
        return False
    return True


def _judge(tests: str, entry_point: str | None, stream: socket.socket, reporter: Reporter) -> int:
    """Run the tests; returns the exit code the program's process shall end with."""
    try:
        plan = plan_tests(tests, entry_point, RECORDER)
    except (SyntaxError, ValueError, OverflowError, MemoryError, RecursionError) as problem:
        reporter.send("syntax", raised=describe(problem, TESTS_FILENAME))
        print_exception(problem.with_traceback(None))
        return 1
    reporter.send("planned", total=plan.total)
    if not can_run_apart(tests):
        reporter.send("inside")
        candidate.send(stream, ["inside", tests])
        os._exit(0)
    candidate.send(stream, ["apart"])
    try:
        ready = candidate.receive(stream)
    except EOFError:
        os._exit(0)  # the program ended before its tests, and has reported how itself
    if ready != ["ready"]:
        return 1
    sys.path[:] = []  # what lies in the work directory is the program's
    tally = Tally(reporter)
    names = Names(Program(stream), find_program_builtins(tests, entry_point))
    try:
        run_plan(plan, names, entry_point, RECORDER, tally)
    except BaseException as exception:  # noqa: BLE001 - whatever test code raises ends the tests
        return _report_end(exception, reporter)
    if tally.first_failure is not None:
        return _report_end(tally.first_failure, reporter)
    _flush()
    return 0


def _report_end(exception: BaseException, reporter: Reporter) -> int:
    if isinstance(exception, SystemExit):
        return resolve_exit_code(exception)
    reporter.send("raised", raised=describe(exception, "<snippet>"))
    print_exception(exception)
    _flush()
    return 1


def _flush() -> None:
    sys.stdout.flush()
    sys.stderr.flush()
