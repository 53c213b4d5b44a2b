"""The Python scanner: reads what a program would do, by its meaning, without running it.

In: a source and the context of the scan. Out: findings in the context's report. `parse` gives the tree, and
`plain` sees whether it only computes, as most cells of notebooks do. Otherwise `machine` walks it with the
tables of `expressions`, `statements` and `calls`, and `effects` holds what reaches outside against the
boundary. Never executes, imports or opens anything the program names.
"""

from __future__ import annotations

import ast
from collections.abc import Sequence
from typing import Final

from spanproof.sandbox.scanners import nested
from spanproof.sandbox.scanners.context import Context
from spanproof.sandbox.scanners.python.calls import call, call_exit_handlers, read_uncalled
from spanproof.sandbox.scanners.python.conditions import Conditions
from spanproof.sandbox.scanners.python.effects import check_attribute
from spanproof.sandbox.scanners.python.expressions import EXPRESSIONS
from spanproof.sandbox.scanners.python.handed_environment import find_handed_on
from spanproof.sandbox.scanners.python.machine import Machine, Tables
from spanproof.sandbox.scanners.python.parse import Parsed, parse_strictly
from spanproof.sandbox.scanners.python.plain import is_plain
from spanproof.sandbox.scanners.python.statements import STATEMENTS
from spanproof.sandbox.scanners.source import START, Place, Source
from spanproof.sandbox.words import split_words

_TABLES = Tables(EXPRESSIONS, STATEMENTS, call, check_attribute)


def scan(context: Context, source: Source) -> None:
    """Report what a Python program would do beyond its boundary."""
    parsed = source.python
    _report_unparsed(context, parsed)
    for line, command in parsed.commands.items():
        nested.scan("bash", context.nested(Place(line, 1, line, 1), "a notebook command: "), command)
    # A plain program may still import what the program around it has written.
    may_import = bool(context.own_files.list_written())
    if parsed.module is not None and (may_import or not is_plain(source.python_nodes, context.boundary)):
        nodes = None if parsed.is_repaired else source.python_nodes
        read_program(context, source.text, parsed.module, nodes)


def read_program(context: Context, text: str, module: ast.Module, nodes: Sequence[ast.AST] | None) -> None:
    """Report what a program would do by following its values, statement by statement.

    Args:
        context: where to report.
        text: the program.
        module: its tree.
        nodes: all nodes of the tree; None where it is not that of the whole text.
    """
    machine = Machine(context, _TABLES, text, parse_strictly)
    machine.conditions = Conditions(module, text, nodes) if nodes is not None else None
    machine.sure_calls = _find_sure_changes(text, module)
    if "environ" in text:
        machine.handed_on = find_handed_on(module)
    try:
        machine.execute(module.body)
        call_exit_handlers(machine)
        read_uncalled(machine)
        call_exit_handlers(machine)
    except RecursionError:
        context.add("python.too-deep", START, "nests deeper than can be judged")


# What may change the directory, or reach what does, unseen, or make a directory that lies elsewhere.
_UNSEEN: Final = split_words(
    "getattr exec eval globals vars importlib __ link extract unpack subprocess system popen spawn"
)


def _find_sure_changes(text: str, module: ast.Module) -> frozenset[ast.expr]:
    """Return the calls of `os.chdir` that are statements of the program, where nothing else may be one."""
    if "chdir" not in text or any(word in text for word in _UNSEEN):
        return frozenset()
    values = [one.value for one in module.body if isinstance(one, ast.Expr)]
    calls = [one for one in values if isinstance(one, ast.Call) and ast.unparse(one.func) == "os.chdir"]
    if text.count("chdir") == len(calls):
        return frozenset(calls)
    return frozenset()


def _report_unparsed(context: Context, parsed: Parsed) -> None:
    if parsed.too_deep:
        context.add("python.too-deep", START, "nests deeper than the parser goes")
    elif parsed.module is None:
        context.add("python.syntax", START, "does not parse as Python")
    for line in parsed.dropped:
        context.add("python.syntax", Place(line, 1, line, 1), "this line does not parse as Python")
