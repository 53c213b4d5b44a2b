"""How a guest ends, as a plain interpreter does: traceback, exit code, exit functions, flushed streams.

In: what ended a program. Out: text on the standard descriptors, and an exit code. What it needs is bound
before any program runs, because a program may replace it.
"""

from __future__ import annotations

import _thread
import atexit
import sys
import threading
import traceback

_print_exception = traceback.print_exception
_run_exit_functions = atexit._run_exitfuncs  # noqa: SLF001 - what the interpreter itself calls at its end
_join_threads = threading._shutdown  # type: ignore[attr-defined]  # noqa: SLF001
_count_threads = _thread._count  # noqa: SLF001
_exit_functions_of_threads: list[object] = threading._threading_atexits  # type: ignore[attr-defined]  # noqa: SLF001
_default_hook = sys.__excepthook__
_stdout, _stderr = sys.stdout, sys.stderr


def print_exception(exception: BaseException) -> None:
    """Print the traceback on stderr, without the runner's frames; a hook the program set is honoured."""
    trace = exception.__traceback__
    while trace is not None and trace.tb_frame.f_globals.get("__name__", "").startswith("spanproof."):
        trace = trace.tb_next
    hook = sys.excepthook
    try:
        if hook is not _default_hook:
            hook(type(exception), exception, trace)
        else:
            _print_exception(type(exception), exception, trace)
    except BaseException:  # noqa: BLE001 - a broken hook or stderr must not hide how the program ended
        return


def resolve_exit_code(exception: SystemExit) -> int:
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


def shut_down(code: int) -> int:
    """Run what the interpreter does at its end, as far as a program can see it."""
    threaded = _count_threads() > 0 or _exit_functions_of_threads  # else there is nothing to wait for
    for step in (_join_threads, _run_exit_functions, _flush) if threaded else (_run_exit_functions, _flush):
        try:
            step()
        except BaseException as failure:  # noqa: BLE001 - an exit function may raise anything
            if isinstance(failure, SystemExit):
                code = resolve_exit_code(failure)
    return code


def _flush() -> None:
    for stream in (sys.stdout, sys.stderr, _stdout, _stderr):
        try:
            stream.flush()
        except (OSError, ValueError, AttributeError):
            continue
