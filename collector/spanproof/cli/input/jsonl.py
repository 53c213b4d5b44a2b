"""The batch interface every `--jsonl` command shares.

JSON Lines on stdin, one line out per line in, in the same order, each flushed as soon as it and those before
it are done, whether or not a further line has come: a program may wait for an answer before it sends the
next line. A bad line gives `{"id": …, "error": "…"}` and the rest goes on; at the end stderr counts the bad
ones. The exit code stays 0: the batch was answered, and each answer says whether its line was bad.
"""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from queue import Queue
from typing import Any, BinaryIO

import click

from spanproof.cli.exit_codes import EXIT_PASS
from spanproof.cli.output.console import encode_json_line, write_warning
from spanproof.cli.output.words import format_count
from spanproof.cli.problems import UsageProblem
from spanproof.trace.codec import MalformedDocument, load_json

Row = dict[str, Any]
"""One decoded line: JSON from outside, so its values are checked where they are read."""

Handler = Callable[[Row], Row]

# Lines read ahead of the oldest one that is not answered: what bounds the memory of a batch.
_WAITING_PER_WORKER = 4

_JSON_NAMES = {str: "a string", bool: "a boolean", int: "a number", float: "a number", list: "an array"}

jsonl_option = click.option(
    "--jsonl", "--json", "jsonl", is_flag=True, help="Read JSON Lines from stdin, write one line per line."
)


class BadRow(ValueError):  # noqa: N818 - names the input
    """A line whose content is not what the interface takes; the message names the field."""


def handle_lines(handle: Handler, workers: int = 1) -> int:
    """Answer stdin on stdout and return the exit code; stderr counts the bad lines."""
    bad = run_jsonl(handle, workers=workers)
    if bad:
        write_warning(f"{format_count(bad, 'line was', 'lines were')} bad: the answer's 'error' says why")
    return EXIT_PASS


def check_jsonl(command: str, *, jsonl: bool) -> None:
    """Raise UsageProblem where a command that takes nothing but JSON Lines is called without `--jsonl`."""
    if not jsonl:
        raise UsageProblem(
            f"{command} reads JSON Lines from stdin and needs --jsonl",
            f"spanproof {command} --jsonl < rows.jsonl",
        )


def check_no_files(files: Sequence[object]) -> None:
    """Raise UsageProblem where files are named beside `--jsonl`."""
    if files:
        raise UsageProblem("--jsonl reads stdin, and files were named too", "leave out one of them")


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
    stream = sys.stdin.buffer if lines is None else lines
    numbered = ((number, line) for number, line in enumerate(stream, start=1) if line.strip())
    sink = sys.stdout.buffer if out is None else out
    bad = 0
    for answer in _iter_answers(handle, numbered, workers):
        sink.write(encode_json_line(answer))
        sink.flush()
        bad += "error" in answer
    return bad


def read_text_field(row: Row, name: str) -> str:
    """Return a required string field; raises BadRow where it is absent or no string."""
    if name not in row:
        raise BadRow(f"field {name!r} is missing: it must be a string")
    value = row[name]
    if not isinstance(value, str):
        raise BadRow(f"field {name!r} must be a string, got {get_json_type(value)}")
    return value


def get_json_type(value: object) -> str:
    """Return JSON's name for a value's type, with its article."""
    if value is None:
        return "null"
    return _JSON_NAMES.get(type(value), "an object")


def _iter_answers(handle: Handler, numbered: Iterator[tuple[int, bytes]], workers: int) -> Iterator[Row]:
    """Yield the answers in the order of the lines, each as soon as those before it are out.

    A thread of its own reads, because it may wait for the next line for ever; it is a daemon, and an
    interrupted command waits neither for it nor for the programs that still run.
    """
    if workers == 1:
        yield from (_handle_row(handle, number, line) for number, line in numbered)
        return
    in_order: Queue[Future[Row] | BaseException | None] = Queue(_WAITING_PER_WORKER * workers)
    pool = ThreadPoolExecutor(workers, "jsonl")

    def read() -> None:
        try:
            for number, line in numbered:
                in_order.put(pool.submit(_handle_row, handle, number, line))
            in_order.put(None)
        except BaseException as failure:  # noqa: BLE001 - raised where the answers are read
            in_order.put(failure)

    threading.Thread(target=read, name="jsonl-reader", daemon=True).start()
    try:
        while (answer := in_order.get()) is not None:
            if isinstance(answer, BaseException):
                raise answer
            yield answer.result()
    finally:
        pool.shutdown(wait=False, cancel_futures=True)


def _handle_row(handle: Handler, number: int, line: bytes) -> Row:
    row_id: Any = None
    try:
        row = _decode_row(line, number)
        row_id = row.get("id")
        return handle(row)
    except BadRow as problem:
        return {"id": row_id, "error": str(problem)}
    except Exception as failure:  # noqa: BLE001 - one row's trouble must not end the batch
        return {"id": row_id, "error": f"{type(failure).__name__}: {failure}"}


def _decode_row(line: bytes, number: int) -> Row:
    try:
        # Lone surrogates too, which snippets found in the wild do hold.
        row = load_json(line)
    except MalformedDocument as problem:
        reason = str(problem).replace("not JSON", "not a line of JSON", 1)
        raise BadRow(f"line {number}: {reason}") from problem
    if not isinstance(row, dict):
        raise BadRow(f"line {number}: must be a JSON object, got {get_json_type(row)}")
    return row
