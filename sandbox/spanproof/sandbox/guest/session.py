"""Several programs in one interpreter: steps that share a namespace, with tools the host answers.

In: messages that bear a step's source. Out: a report per step; output stays on the standard descriptors. An
exception ends the step, not the session.
"""

from __future__ import annotations

import ast
import functools
import os
import sys
from collections.abc import Callable
from typing import Any, TextIO

from spanproof.sandbox.guest.ending import get_exit_code, write_exception
from spanproof.sandbox.guest.inbox import Inbox
from spanproof.sandbox.guest.python import FILENAME, build_code, build_main_module, record_source
from spanproof.sandbox.guest.reporter import Reporter, encode_exception
from spanproof.sandbox.guest.tools import Toolbox
from spanproof.sandbox.guest.values import format_truncated, to_json_form, to_text

# Of a result's JSON form, and of its text, as JSON: both have room in one frame.
_RESULT_BYTES = 384 * 1024
# Calls from C to Python between the loop and a step: some 500 bytes of stack each, by which the supervisor
# knows that it is the loop that reads; see `held_channel`.
_LEVELS = 6

_STDOUT = 1

_eval, _exec, _getpid, _partial = eval, exec, os.getpid, functools.partial

_Run = Callable[[dict[str, Any]], tuple[Any, bool]]


def run_session(spec: dict[str, Any], inbox: Inbox, reporter: Reporter) -> tuple[int, bool]:
    """Run steps until the host closes the session; returns as `run_job`.

    No one waits for a thread then: the supervisor ends what the steps have left running.
    """
    sys.stdout = sys.__stdout__ = _open_output()  # type: ignore[misc, assignment]
    module = build_main_module()
    toolbox = Toolbox(inbox, reporter)
    for name, parameters in spec["tools"]:
        module.__dict__[name] = toolbox.build_stub(name, parameters)
    getpid, own = _getpid, _getpid()
    # Bound here: a step can put others in their places in the modules.
    next_message, send, run_step, flush = inbox.wait_for_message, reporter.send, _run_step, _write_streams
    send("ready")
    while True:
        try:
            header, parts = next_message("step")
        except EOFError:
            return 0, False
        report = run_step(parts[0].decode("utf-8", "surrogatepass"), module.__dict__)
        flush()
        if getpid() != own:  # a child that the step has forked comes to its end: the steps are its parent's
            return (0 if report["outcome"] == "ok" else 1), True
        send("step", step=header["step"], **report)


def _open_output() -> TextIO:
    """Open stdout as the executors of agents have it: what UTF-8 has no form for is escaped.

    The stream that is there was opened for another file, and cannot be configured anew.
    """
    output = open(  # noqa: SIM115 - a descriptor, for good
        _STDOUT, "w", buffering=1, encoding="utf-8", errors="backslashreplace", closefd=False
    )
    output.buffer.raw.name = sys.stdout.name  # type: ignore[attr-defined]
    return output


def _run_step(source: str, namespace: dict[str, Any]) -> dict[str, Any]:
    """Run one; what is reported about how it went."""
    try:
        run = _build_step(source)
    except (SyntaxError, ValueError, OverflowError, MemoryError, RecursionError) as problem:
        write_exception(problem.with_traceback(None))
        return {"outcome": "syntax", "raised": encode_exception(problem, FILENAME)}
    try:
        value, is_expression = _run_deeper(_LEVELS, run, namespace)
        return {"outcome": "ok", **(_encode_result(value) if is_expression else {})}
    except BaseException as exception:  # noqa: BLE001 - whatever a step raises ends that step only
        if isinstance(exception, SystemExit) and get_exit_code(exception) == 0:
            return {"outcome": "ok"}
        write_exception(exception)
        return {"outcome": "raised", "raised": encode_exception(exception, FILENAME)}


def _run_deeper(levels: int, run: _Run, namespace: dict[str, Any]) -> tuple[Any, bool]:
    """Run a step, with that many calls from C to Python on the stack below the loop."""
    return _partial(_run_deeper, levels - 1, run, namespace)() if levels else run(namespace)


def _build_step(source: str) -> _Run:
    """Return the step as a function of its namespace; the value of a last expression is what it gives."""
    record_source(source)
    try:
        return _build_step_run(ast.parse(source, FILENAME))
    except (SyntaxError, ValueError, OverflowError, MemoryError, RecursionError) as found:
        problem = found.with_traceback(None)
    build_code(source)  # for a problem that is reported as a plain interpreter does
    raise problem


def _build_step_run(tree: ast.Module) -> _Run:
    if not tree.body or not isinstance(tree.body[-1], ast.Expr):
        whole = compile(tree, FILENAME, "exec", dont_inherit=True)
        return lambda namespace: (_exec(whole, namespace), False)
    last = ast.Expression(tree.body.pop().value)  # type: ignore[attr-defined]
    before = compile(tree, FILENAME, "exec", dont_inherit=True) if tree.body else None
    expression = compile(last, FILENAME, "eval", dont_inherit=True)

    def run(namespace: dict[str, Any]) -> tuple[Any, bool]:
        if before is not None:
            _exec(before, namespace)
        return _eval(expression, namespace), True

    return run


def _encode_result(value: Any) -> dict[str, Any]:
    form, _has_one = to_json_form(value, _RESULT_BYTES)
    text = to_text(value)
    head = format_truncated(text, _RESULT_BYTES)
    cut = {"characters": len(text)} if len(head) < len(text) else {}
    return {"result": form, "text": head, **cut}


def _write_streams() -> None:
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except Exception:  # noqa: BLE001, S112 - the program may have put anything there
            continue
