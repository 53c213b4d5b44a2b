"""Databases a program opens and the statements it sends them.

In: a call of a driver and its abstract arguments. Out: findings for files and servers outside the
boundary, and for statements that reach out of the database. What a statement changes inside it is the
program's own affair.
"""

# ruff: noqa: ARG001 - functions of one table share one signature

from __future__ import annotations

import ast
import re
from typing import Final

from spanproof.sandbox.scanners.boundary import Action
from spanproof.sandbox.scanners.python import payloads
from spanproof.sandbox.scanners.python.machine import Arguments, Check, Machine
from spanproof.sandbox.scanners.python.sinks import Effect
from spanproof.sandbox.scanners.python.targets import NETWORK, judge_host, judge_path, plain_name
from spanproof.sandbox.scanners.python.values import (
    Const,
    Ref,
    Text,
    Value,
    options_of,
    pieces_of,
    taint_of,
    text_value,
)

_SQL_REACHES_OUT: Final = re.compile(
    r"\b(?:attach\s+(?:database\b|['\"])|load_extension|load_file|into\s+(?:outfile|dumpfile)|xp_cmdshell"
    r"|pg_read_file|pg_ls_dir|lo_import|lo_export|dblink|utl_http|readfile|writefile"
    r"|sys_exec|openrowset|read_csv|read_parquet|read_text|install\s+httpfs|copy\s|\.shell)",
    re.IGNORECASE,
)


_SERVER: Final = re.compile(r"(?i)(?:^|[\s;])(?:host|hostaddr|server|data source)\s{0,4}=\s{0,4}([^\s;,]+)")
"""The server in a connection string of keys and values."""


def _db_file(
    m: Machine, function: Ref, value: Value, effect: Effect, arguments: Arguments, node: ast.expr
) -> Value | None:
    for option in options_of(value):
        text = pieces_of(option)[0]
        if text is not None and (text == "" or text.startswith((":memory:", "file::memory:"))):
            continue
        if text is not None and text.startswith("file:"):
            option = text_value((text[5:].partition("?")[0], *pieces_of(option)[1:]), option.taint)
        judge_path(m, Action.WRITE, option, function.name, node)
    return Ref(f"{function.name}()")


def _db_server(
    m: Machine, function: Ref, value: Value, effect: Effect, arguments: Arguments, node: ast.expr
) -> Value | None:
    host = arguments.get(effect.position, "host") or arguments.named.get("server") or value
    text = pieces_of(host)[0]
    if text is not None and "://" in text:
        return _db_url(m, function, host, effect, arguments, node)
    if text is not None and "=" in text:
        named = _SERVER.search(text)
        host = Const(named[1] if named is not None else "localhost")
    judge_host(m, host, None, function.name, node)
    return Ref(f"{function.name}()", NETWORK)


def _db_url(
    m: Machine, function: Ref, value: Value, effect: Effect, arguments: Arguments, node: ast.expr
) -> Value | None:
    for option in options_of(value):
        pieces = pieces_of(option)
        head = pieces[0]
        if head is not None and head.startswith(("sqlite", "duckdb")):
            path = head.partition("://")[2].removeprefix("/")
            if path and not path.startswith(":memory:"):
                judge_path(
                    m, Action.WRITE, text_value((path, *pieces[1:]), option.taint), function.name, node
                )
            continue
        m.context.crossed(
            "python", m.context.boundary.url(pieces), m.place(node), f"{plain_name(function.name)}:"
        )
    return Ref(f"{function.name}()")


def _sql(
    m: Machine, function: Ref, value: Value, effect: Effect, arguments: Arguments, node: ast.expr
) -> Value | None:
    for option in options_of(value):
        pieces = pieces_of(option)
        found = _SQL_REACHES_OUT.search(" ".join(piece or "?" for piece in pieces))
        if found is not None and isinstance(option, Const | Text):
            payloads.run_sql(m, pieces, function.name, node)
        elif len(pieces) > 1 and "any" in taint_of(option):
            m.add("query.dynamic", node, f"{plain_name(function.name)} takes a statement built from text")
    return None


CHECKS: Final[dict[str, Check]] = {"dbfile": _db_file, "dbserver": _db_server, "dburl": _db_url, "sql": _sql}
"""What judges each kind of effect on a database."""
