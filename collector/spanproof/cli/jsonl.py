"""The batch interface every `--jsonl` command shares.

JSON Lines on stdin, one line out per line in, in the same order, flushed as each is done. A bad line gives
`{"id": …, "error": "…"}` and the rest goes on. Handlers may run in several threads; order is kept.
"""

from __future__ import annotations

import json
import sys
from collections import deque
from collections.abc import Callable, Iterable
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any, BinaryIO

import orjson

from spanproof.cli.console import json_line

Row = dict[str, Any]
"""One decoded line: JSON from outside, so its values are checked where they are read."""

Handler = Callable[[Row], Row]


class BadRow(ValueError):  # noqa: N818 - names the input
    """A line whose content is not what the interface takes; the message names the field."""


def run_jsonl(
    handle: Handler,
    lines: Iterable[bytes] | None = None,
    out: BinaryIO | None = None,
    workers: int = 1,
) -> int:
    """Answer each line of JSON with one line of JSON; returns how many lines were bad.

    Args:
        handle: turns a row into an answer; what it raises becomes that row's `error`.
        lines: stdin when None.
        out: stdout when None.
        workers: how many rows are handled at once.
    """
    source = sys.stdin.buffer if lines is None else lines
    sink = sys.stdout.buffer if out is None else out
    bad = 0
    if workers == 1:
        for line in filter(bytes.strip, source):
            bad += _write(sink, _answer(handle, line))
        return bad
    with ThreadPoolExecutor(workers) as pool:
        waiting: deque[Future[Row]] = deque()
        for line in filter(bytes.strip, source):
            waiting.append(pool.submit(_answer, handle, line))
            while waiting and (waiting[0].done() or len(waiting) > 4 * workers):
                bad += _write(sink, waiting.popleft().result())
        while waiting:
            bad += _write(sink, waiting.popleft().result())
    return bad


def text_field(row: Row, name: str) -> str:
    """A required string field.

    Raises:
        BadRow: it is absent or no string.
    """
    value = row.get(name)
    if not isinstance(value, str):
        raise BadRow(f"field {name!r} must be a string, got {type(value).__name__}")
    return value


def _answer(handle: Handler, line: bytes) -> Row:
    row_id: Any = None
    try:
        row = _decode(line)
        row_id = row.get("id")
        return handle(row)
    except BadRow as problem:
        return {"id": row_id, "error": str(problem)}
    except Exception as failure:  # noqa: BLE001 - one row's trouble must not end the batch
        return {"id": row_id, "error": f"{type(failure).__name__}: {failure}"}


def _decode(line: bytes) -> Row:
    try:
        row = orjson.loads(line)
    except orjson.JSONDecodeError as strict:
        try:
            # The standard decoder takes lone surrogates, which snippets found in the wild do hold.
            row = json.loads(line)
        except (ValueError, RecursionError):
            raise BadRow(f"not a line of JSON: {strict}") from strict
    if not isinstance(row, dict):
        raise BadRow(f"a line must be a JSON object, got {type(row).__name__}")
    return row


def _write(sink: BinaryIO, answer: Row) -> int:
    sink.write(json_line(answer))
    sink.flush()
    return 1 if "error" in answer else 0
