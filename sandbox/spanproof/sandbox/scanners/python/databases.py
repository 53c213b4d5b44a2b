"""Databases a program opens and the statements it sends them.

In: a call of a driver and its abstract arguments. Out: findings for files and servers outside the
boundary, and for statements that reach out of the database. What a statement changes inside it is the
program's own affair.
"""

from __future__ import annotations

import re
from typing import Final

from spanproof.sandbox.scanners.boundary import Action
from spanproof.sandbox.scanners.python import payloads
from spanproof.sandbox.scanners.python.targets import NETWORK, Call, Check, plain_name
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


def _db_file(call: Call, value: Value) -> Value | None:
    for option in options_of(value):
        text = pieces_of(option)[0]
        if text is not None and (text == "" or text.startswith((":memory:", "file::memory:"))):
            continue
        if text is not None and text.startswith("file:"):
            option = text_value((text[5:].partition("?")[0], *pieces_of(option)[1:]), option.taint)
        call.judge_path(Action.WRITE, option)
    return Ref(f"{call.name}()")


def _db_server(call: Call, value: Value) -> Value | None:
    host = call.arguments.get(call.effect.position, "host") or call.arguments.named.get("server") or value
    text = pieces_of(host)[0]
    if text is not None and "://" in text:
        return _db_url(call, host)
    if text is not None and "=" in text:
        named = _SERVER.search(text)
        host = Const(named[1] if named is not None else "localhost")
    call.judge_host(host, None)
    return Ref(f"{call.name}()", NETWORK)


def _db_url(call: Call, value: Value) -> Value | None:
    for option in options_of(value):
        pieces = pieces_of(option)
        head = pieces[0]
        if head is not None and head.startswith(("sqlite", "duckdb")):
            path = head.partition("://")[2].removeprefix("/")
            if path and not path.startswith(":memory:"):
                call.judge_path(Action.WRITE, text_value((path, *pieces[1:]), option.taint))
            continue
        call.crossed(call.boundary.url(pieces))
    return Ref(f"{call.name}()")


def _sql(call: Call, value: Value) -> Value | None:
    for option in options_of(value):
        pieces = pieces_of(option)
        found = _SQL_REACHES_OUT.search(" ".join(piece or "?" for piece in pieces))
        if found is not None and isinstance(option, Const | Text):
            payloads.run_sql(call.m, pieces, call.name, call.node)
        elif len(pieces) > 1 and "any" in taint_of(option):
            call.add("query.dynamic", f"{plain_name(call.name)} takes a statement built from text")
    return None


CHECKS: Final[dict[str, Check]] = {"dbfile": _db_file, "dbserver": _db_server, "dburl": _db_url, "sql": _sql}
"""What judges each kind of effect on a database."""
