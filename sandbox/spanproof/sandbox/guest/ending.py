"""How a guest ends, as an interpreter does: traceback, exit code, exit functions, teardown of its modules.

In: what ended a program. Out: text on the standard descriptors, and an exit code. What it needs is bound
before any program runs, because a program may replace it.

The teardown is CPython's own (`Py_FinalizeEx`): it closes files, runs `__del__` and what generators have in
`finally`, and lets no other thread run. What was loaded before the program is kept from it: to tear that down
costs more than most programs take, and it holds nothing of theirs.
"""

from __future__ import annotations

import _thread
import atexit
import builtins
import ctypes
import gc
import os
import sys
import threading
import traceback
from collections.abc import Callable
from types import ModuleType
from typing import NoReturn

# Not the function that prints: it does so by the builtin `print`, which the program may have replaced.
_format_exception = traceback.format_exception
_run_exit_functions = atexit._run_exitfuncs  # noqa: SLF001 - what the interpreter itself calls at its end
_join_threads = threading._shutdown  # type: ignore[attr-defined]  # noqa: SLF001
_count_threads = _thread._count  # noqa: SLF001
_exit_functions_of_threads: list[Callable[[], object]] = threading._threading_atexits  # type: ignore[attr-defined]  # noqa: SLF001
_default_hook = sys.__excepthook__
_exit, _get_objects = os._exit, gc.get_objects
# Tears the interpreter down and ends the process; does not return.
_finalize = ctypes.pythonapi.Py_Exit
_modules = sys.modules
_IS_TRACKED = 1 << 14  # Py_TPFLAGS_HAVE_GC, of a class whose instances the collector tracks
_LAST = "last_of_all"  # A name of `sys`; one with an underscore would be cleared before others
# Those that no program has loaded, by name; none are known before `record_modules`.
_kept: dict[str, ModuleType] = {}


def record_modules() -> None:
    """Keep all that is loaded now from the teardown.

    Called before any program runs; by what guests are forked from too, so that they need not write to each
    module.
    """
    if len(_kept) != len(_modules):
        _kept.update(_modules)
    gc.freeze()


def write_exception(exception: BaseException) -> None:
    """Print the traceback on stderr, without the runner's frames; a hook the program set is honoured."""
    trace = exception.__traceback__
    while trace is not None and trace.tb_frame.f_globals.get("__name__", "").startswith("spanproof."):
        trace = trace.tb_next
    hook = sys.excepthook
    try:
        if hook is not _default_hook:
            hook(type(exception), exception, trace)
        elif sys.stderr is not None:
            sys.stderr.write("".join(_format_exception(type(exception), exception, trace)))
    except BaseException:  # noqa: BLE001 - a broken hook or stderr must not hide how the program ended
        return


def get_exit_code(exception: SystemExit) -> int:
    """Return what the interpreter would exit with."""
    code = exception.code
    if code is None:
        return 0
    if isinstance(code, int):
        return code & 0xFF
    try:
        print(code, file=sys.stderr)
    except BaseException:  # noqa: BLE001 - the value's __str__ is the program's
        return 1
    return 1


def run_shutdown(code: int, *, waits: bool) -> NoReturn:
    """Do what the interpreter does at its end, and end the process.

    Args:
        code: it exits with, unless an exit function says otherwise.
        waits: whether threads that are no daemons are waited for.
    """
    steps: list[Callable[[], object]] = [_run_exit_functions, _flush]
    if _count_threads() > 0 or _exit_functions_of_threads:  # else there is nothing to wait for
        steps[:0] = [_join_threads] if waits else reversed(_exit_functions_of_threads)
    for step in steps:
        try:
            step()
        except BaseException as failure:  # noqa: BLE001 - an exit function may raise anything
            if isinstance(failure, SystemExit):
                code = get_exit_code(failure)
    if _needs_teardown():
        _close_interpreter(code)
    _exit(code)


def _needs_teardown() -> bool:
    """Whether the end of what the program made may be seen: most small programs leave numbers and texts.

    A teardown takes 1 ms, as much as all else of such a program. What ends visibly is tracked by the
    collector, or of a class that is: files, generators, and what has a `__del__`.
    """
    try:
        made = _get_objects()
        return any(map(_ends_visibly, {*map(type, made), *filter(_has_untracked_instances, made)}))
    except BaseException:  # noqa: BLE001 - a metaclass of the program's may do anything
        return True


def _has_untracked_instances(made: object) -> bool:
    """Whether it is a class whose instances the collector does not list: one with empty `__slots__`."""
    return isinstance(made, type) and not made.__flags__ & _IS_TRACKED


def _ends_visibly(kind: type) -> bool:
    return hasattr(kind, "__del__")


def _close_interpreter(code: int) -> None:
    """Let CPython tear down what the program made and loaded; returns only where it cannot."""
    loaded = {name: module for name, module in _modules.items() if _kept.get(name) is not module}
    _modules.clear()
    _modules.update({"sys": sys, "builtins": builtins}, **loaded)
    del loaded  # a module that something holds is emptied, and not deleted
    # `sys` is torn down after all modules, and its last name last: then the process ends.
    vars(sys)[_LAST] = _build_last(code)
    _finalize(code)


def _build_last(code: int) -> object:
    """Return an object whose own end is the process's.

    All that it uses is bound to it: the interpreter's modules are empty by then.
    """
    flush, leave = _flush, _exit

    class Last:
        def __del__(self) -> None:
            flush()
            leave(code)

    return Last()


def _build_flush() -> Callable[[], None]:
    """Return what flushes the streams; it holds all that it uses, and works in a torn down interpreter."""
    own, failures, find = (sys.stdout, sys.stderr), (OSError, ValueError, AttributeError), vars(sys).get

    def flush() -> None:
        for stream in (find("stdout"), find("stderr"), *own):
            try:
                stream.flush()  # type: ignore[union-attr]
            except failures:
                continue

    return flush


_flush = _build_flush()
