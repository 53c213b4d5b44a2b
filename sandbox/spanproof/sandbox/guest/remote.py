"""The program as its tests see it: plain data where a value has some, else a handle on it.

In: what test code does with names of the program. Out: questions on one socket, and answers, which are data
chosen by the program in ignorance of what a test expects. Where the program's own methods decide a
comparison, the tests are no longer apart from it, and that is reported; where a test hands over an object
that has no plain form, the tests move into the program's interpreter, and that is reported, too.
"""

from __future__ import annotations

import builtins
import operator
import os
import secrets
import socket
import sys
import threading
from collections.abc import Callable, Iterator
from typing import Any, NoReturn

from spanproof.sandbox.guest import candidate
from spanproof.sandbox.guest.crossing import (
    NoPlainForm,
    decode_form,
    encode_value,
    find_items,
    get_exception_class,
    is_plain,
)
from spanproof.sandbox.guest.prepared import TYPE_OF
from spanproof.sandbox.guest.trusted import TrustedImports

# Modules and functions that tests use by the program's own import of them, by the usual name.
_USUAL_NAMES = {"np": "numpy", "pd": "pandas", "plt": "matplotlib.pyplot", "mpl": "matplotlib"}
_LENDABLE_MODULES = frozenset(
    (
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
        "numpy",
        "operator",
        "pandas",
        "pytest",
        "re",
        "statistics",
        "string",
        "typing",
        "unittest",
    )
)
# Whose values cross, or compare by methods of their own: a program's object equals none of them.
_COMPARED_HERE = frozenset(("__main__", "_pytest", "case_tests", "numpy", "pandas", "pytest", "unittest"))
_OPERATORS = ("add", "sub", "mul", "truediv", "floordiv", "mod", "pow", "and_", "or_", "xor", "matmul")


class Program:
    """The other process, as the tests see it."""

    def __init__(
        self,
        stream: socket.socket,
        trusted: TrustedImports,
        *,
        note_word: Callable[[], None],
        move_inside: Callable[[], NoReturn],
    ) -> None:
        """Speak to the program.

        Args:
            stream: to its process.
            trusted: modules that the tests may have in this process.
            note_word: called where the program's own word decides a comparison.
            move_inside: hands the tests over to the program's process.
        """
        self._stream = stream
        self._trusted = trusted
        self._note_word, self._move_inside = note_word, move_inside
        self._lent: list[Any] = []
        self._remotes: dict[int, Remote] = {}
        self._made: dict[str, type[BaseException]] = {}
        # Functions, classes and modules by the program's names, until it binds them anew.
        self._bound: dict[str, Any] = {}
        self._lock = threading.RLock()
        self.questions = 0

    def get_global(self, name: str) -> Any:
        """Return a global name of the program.

        Raises:
            KeyError: it has none such.
        """
        if name in self._bound:
            return self._bound[name]
        answer = self._fetch_reply(["name", name])
        if answer[0] == "missing":
            raise KeyError(name)
        origin = answer[2] if len(answer) > 2 else None
        own = self._get_own(name, origin)
        value = self._decode_value(answer[1]) if own is None else own
        if origin is not None:
            self._bound[name] = value
        return value

    def _get_own(self, name: str, origin: Any) -> Any:
        """Return our own of a library's module or function, where its name leaves the program no choice."""
        if not isinstance(origin, list) or len(origin) != 2:
            return None
        module, function = str(origin[0]), str(origin[1])
        is_usual = name in (module, function) or _USUAL_NAMES.get(name) == module
        if not is_usual or module.partition(".")[0] not in _LENDABLE_MODULES:
            return None
        return self._trusted.get_object(module, function)

    def load_module(self, name: str, names: tuple[str, ...]) -> Any:
        """Import one of the program's own modules over there, as `__import__` does."""
        return self.run_deed("import", name, list(names))

    def run_deed(self, deed: str, *args: Any) -> Any:
        """Run a deed in the program's process, with its values or ours."""
        with self._lock:
            try:
                forms = [encode_value(arg, self._add_lent) for arg in args]
            except NoPlainForm:
                self._move_inside()
            answer = self._fetch_reply(["do", deed, forms])
            try:
                outcome, value, changed, rebound = answer
                self._bound = {name: handle for name, handle in self._bound.items() if name not in rebound}
            except (TypeError, ValueError) as problem:
                self._close_tests(problem)
            if deed == "call" and changed:
                for argument, after in zip((*args[1], *args[2].values()), changed, strict=True):
                    _update_argument(argument, self._decode_value(after))
            if outcome == "raised":
                kind, arguments = value
                raise _build_exception(self._get_class(kind), self._decode_value(arguments))
            return self._decode_value(value)

    def record_word(self) -> None:
        """Note that the program's own methods decide."""
        self._note_word()

    def run_inside(self) -> NoReturn:
        """Move the tests into the program's interpreter; does not return."""
        self._move_inside()

    def _fetch_reply(self, question: list[Any]) -> list[Any]:
        self.questions += 1
        try:
            candidate.send_message(self._stream, question)
            while (answer := candidate.wait_for_message(self._stream))[0] == "back":
                candidate.send_message(self._stream, self._handle_callback(answer))
        except (EOFError, OSError, ValueError, TypeError, KeyError, IndexError, RecursionError) as problem:
            self._close_tests(problem)
        return list(answer)

    @staticmethod
    def _close_tests(problem: Exception) -> NoReturn:
        """Abandon the tests: the program's process ended, or does not speak, so none left can pass."""
        print(f"the program ended before its tests: {type(problem).__name__}", file=sys.stderr, flush=True)
        os._exit(0)

    def _handle_callback(self, message: list[Any]) -> list[Any]:
        self._bound.clear()
        function = self._lent[message[1]]
        args, kwargs = self._decode_value(message[2]), self._decode_value(message[3])
        try:
            return ["value", encode_value(function(*args, **kwargs), self._add_lent), []]
        except NoPlainForm:
            self._move_inside()
        except Exception as problem:  # noqa: BLE001 - the program sees it as its callback's failure
            return ["raised", type(problem).__name__, str(problem)]

    def _decode_value(self, form: Any) -> Any:
        try:
            return decode_form(form, self._get_value)
        except Exception as problem:  # noqa: BLE001 - libraries refuse malformed data in their own ways
            self._close_tests(problem)

    def _get_class(self, form: Any) -> type[BaseException]:
        try:
            return get_exception_class(form, self._made)
        except Exception as problem:  # noqa: BLE001 - it is of any form
            self._close_tests(problem)

    def _get_value(self, tag: str, body: Any) -> Any:
        if tag == "error":
            return get_exception_class(body, self._made)
        if tag in ("object", "kind"):
            return self._remotes.setdefault(int(body), Remote(self, tag, int(body)))
        if tag == "back":
            return self._lent[body]
        raise ValueError("no form of a value")

    def _add_lent(self, value: Any) -> list[Any]:
        if type(value) is Remote:
            return [value._tag, value._number]  # noqa: SLF001
        items = find_items(value)
        if items is not None:
            return ["I", [encode_value(item, self._add_lent) for item in items]]
        is_function = type(value).__name__ in ("function", "method", "builtin_function_or_method", "partial")
        if not is_function and not isinstance(value, type):
            raise NoPlainForm(f"a {type(value).__name__} cannot be handed to the program")
        if isinstance(value, type) and issubclass(value, BaseException):
            return ["error", value.__name__]
        self._lent.append(value)
        return ["back", len(self._lent) - 1]


class Remote:
    """A value of the program's that has no plain form; what is done to it is done over there."""

    __slots__ = ("_number", "_program", "_tag")

    def __init__(self, program: Program, tag: str, number: int) -> None:
        for name, value in (("_program", program), ("_tag", tag), ("_number", number)):
            object.__setattr__(self, name, value)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Call it over there."""
        return self._program.run_deed("call", self, list(args), kwargs)

    def __getattr__(self, name: str) -> Any:
        return self._program.run_deed("getattr", self, name)

    def __setattr__(self, name: str, value: Any) -> None:
        self._program.run_deed("setattr", self, name, value)

    def __delattr__(self, name: str) -> None:
        self._program.run_deed("delattr", self, name)

    def __eq__(self, other: object) -> Any:
        if other is self:
            return True
        if isinstance(other, _RemoteType):
            return self._is_equal(other)
        plain = self._program.run_deed("plain", self)
        if plain is not None:
            return plain == other
        if _must_compare_over_there(other):
            self._program.run_inside()
        # An object's own claim to equal plain data does not count: the question would hold the answer.
        # What the tests compare with may have a method of its own for it.
        return NotImplemented

    def __ne__(self, other: object) -> Any:
        same = self.__eq__(other)
        return same if same is NotImplemented else not same

    def _is_equal(self, other: Remote) -> bool:
        one, two = self._program.run_deed("plain", self), self._program.run_deed("plain", other)
        if one is not None and two is not None:
            return bool(one == two)
        if self._program.run_deed("eq", self, other) is not True:
            return False
        self._program.record_word()
        # What equals a new random text equals everything.
        return self._program.run_deed("eq", self, secrets.token_hex(16)) is not True

    def __hash__(self) -> int:
        return hash(self._number)

    def __iter__(self) -> Iterator[Any]:
        over_there = self._program.run_deed("iter", self)
        if type(over_there) is not Remote:
            yield from over_there
            return
        while True:
            try:
                yield over_there.__next__()
            except StopIteration:
                return

    def __next__(self) -> Any:
        return self._program.run_deed("next", self)

    def __contains__(self, item: object) -> bool:
        items = self._program.run_deed("items", self)
        if items is not None:
            return item in items
        found = self._program.run_deed("contains", self, item)
        self._program.record_word()
        return bool(found) and not self._program.run_deed("contains", self, secrets.token_hex(16))

    def __await__(self) -> Any:
        return self._program.run_deed("await", self)
        yield  # a coroutine of ours may wait for it

    async def __aenter__(self) -> Any:
        return self._program.run_deed("aenter", self)

    async def __aexit__(self, kind: object, value: object, trace: object) -> Any:
        return self._program.run_deed("aexit", self, kind, None, None)

    def __aiter__(self) -> Any:
        return self._program.run_deed("aiter", self)

    async def __anext__(self) -> Any:
        return self._program.run_deed("anext", self)

    def __enter__(self) -> Any:
        return self._program.run_deed("enter", self)

    def __exit__(self, kind: object, value: object, trace: object) -> Any:
        return self._program.run_deed("exit", self, kind, None, None)

    def __mro_entries__(self, bases: tuple[Any, ...]) -> tuple[Any, ...]:
        self._program.run_inside()  # a class of the tests' that derives from one of the program's
        return bases

    def __instancecheck__(self, value: object) -> bool:
        return type(value) is Remote and self._program.run_deed("isinstance", value, self) is True


_RemoteType = Remote


def _must_compare_over_there(value: object) -> bool:
    """Whether a value of the tests' is of a library whose values do not cross."""
    module = (value if isinstance(value, type) else type(value)).__module__.partition(".")[0]
    return module not in _COMPARED_HERE and module not in sys.stdlib_module_names


def _build_method(deed: str) -> Any:
    def method(self: Remote, *args: Any) -> Any:
        return self._program.run_deed(deed, self, *args)

    return method


def _build_operator(deed: str, *, swapped: bool) -> Any:
    """Return an operator; the program's word, where it makes plain data of ours."""

    def method(self: Remote, other: Any) -> Any:
        ask = self._program.run_deed
        result = ask(deed, other, self) if swapped else ask(deed, self, other)
        if type(result) is Remote or type(other) is Remote or ask("plain", self) is not None:
            return result
        self._program.record_word()
        if isinstance(other, int | float):
            # An operator that does not look at its operand has not computed with it.
            decoy = other + 1 + secrets.randbelow(1_000_000)
            same = ask(deed, decoy, self) if swapped else ask(deed, self, decoy)
            if is_plain(same) and same == result and deed in ("add", "sub", "mul"):
                raise TypeError(f"the program's {deed} does not depend on its operand")
        return result

    return method


def _build_comparison(deed: str) -> Any:
    def method(self: Remote, other: Any) -> Any:
        if type(other) is not Remote:
            plain = self._program.run_deed("plain", self)
            if plain is None:
                plain = self._program.run_deed("number", self)
            if plain is not None:
                return getattr(operator, deed)(plain, other)
        self._program.record_word()
        return self._program.run_deed(deed, self, other)

    return method


for _name in _OPERATORS:
    setattr(Remote, f"__{_name.strip('_')}__", _build_operator(_name, swapped=False))
    setattr(Remote, f"__r{_name.strip('_')}__", _build_operator(_name, swapped=True))
for _name in ("lt", "le", "gt", "ge"):
    setattr(Remote, f"__{_name}__", _build_comparison(_name))
for _name in [
    "neg",
    "pos",
    "invert",
    "abs",
    "round",
    "index",
    "getitem",
    "setitem",
    "delitem",
    "len",
    "bool",
    "str",
    "repr",
    "float",
    "int",
    "complex",
    "bytes",
]:
    setattr(Remote, f"__{_name}__", _build_method(_name))


class Names(dict[str, Any]):
    """The tests' global names; what they do not define themselves is the program's."""

    def __init__(self, program: Program, trusted: TrustedImports, program_first: frozenset[str]) -> None:
        super().__init__(__name__="__main__", __builtins__=build_builtins(program, trusted))
        self._program = program
        self._first = program_first

    def __missing__(self, name: str) -> Any:
        # A builtin the program has replaced must not decide its own test.
        own = self["__builtins__"]
        if name in own and name not in self._first:
            return own[name]
        return self._program.get_global(name)


def build_builtins(program: Program, trusted: TrustedImports) -> dict[str, Any]:
    """Return the builtins of tests: those that look at a value see what it is over there."""

    def find_type(value: Any, *rest: Any) -> Any:
        return program.run_deed("type", value) if type(value) is Remote and not rest else type(value, *rest)

    def is_callable(value: Any) -> bool:
        return bool(program.run_deed("callable", value)) if type(value) is Remote else callable(value)

    def is_subclass(kind: Any, parents: Any) -> bool:
        if type(kind) is Remote or type(parents) is Remote:
            return bool(program.run_deed("issubclass", kind, parents))
        return issubclass(kind, parents)

    def is_instance(value: Any, kinds: Any) -> bool:
        if isinstance(value, kinds):
            return True
        if type(value) is not Remote:
            return False
        alternatives = kinds if isinstance(kinds, tuple) else (kinds,)
        builtin_kinds = [kind for kind in alternatives if getattr(builtins, kind.__name__, None) is kind]
        return bool(builtin_kinds) and program.run_deed("isinstance", value, tuple(builtin_kinds)) is True

    def import_name(
        name: str,
        _globals: Any = None,
        _locals: Any = None,
        fromlist: Any = (),
        level: int = 0,
    ) -> Any:
        if level == 0 and trusted.has(name):
            return __import__(name, {}, {}, fromlist, 0)
        if level:
            program.run_inside()
        return program.load_module(name, tuple(fromlist or ()))

    return {
        **vars(builtins),
        TYPE_OF: find_type,
        "callable": is_callable,
        "isinstance": is_instance,
        "issubclass": is_subclass,
        "__import__": import_name,
    }


def _build_exception(kind: type[BaseException], details: Any) -> BaseException:
    try:
        return kind(*details)
    except Exception:  # noqa: BLE001 - some take other arguments than they show
        made = kind.__new__(kind)
        made.args = tuple(details) if isinstance(details, tuple | list) else ()
        return made


def _update_argument(argument: Any, after: Any) -> None:
    """Give an argument of the tests' what a call left of it."""
    if type(argument) is not type(after) or isinstance(argument, Remote):
        return
    if isinstance(argument, list):
        argument[:] = after
    elif isinstance(argument, dict | set):
        argument.clear()
        argument.update(after)
    elif type(argument).__name__ == "ndarray" and argument.shape == after.shape and argument.flags.writeable:
        argument[...] = after
    elif type(argument).__name__ == "deque":
        argument.clear()
        argument.extend(after)
