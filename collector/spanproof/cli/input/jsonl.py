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
from concurrent.futures import Future
from queue import SimpleQueue
from typing import Any, BinaryIO

from spanproof.cli.exit_codes import EXIT_PASS
from spanproof.cli.output.console import json_line, warn
from spanproof.cli.output.words import format_count
from spanproof.cli.problems import UsageProblem
from spanproof.trace.codec import MalformedDocument, load_json

Row = dict[str, Any]
"""One decoded line: JSON from outside, so its values are checked where they are read."""

Handler = Callable[[Row], Row]

_WAITING_PER_WORKER = 4
"""Lines read ahead of the oldest one that is not answered: what bounds the memory of a batch."""

_JSON_NAMES = {str: "a string", bool: "a boolean", int: "a number", float: "a number", list: "an array"}


class BadRow(ValueError):  # noqa: N818 - names the input
    """A line whose content is not what the interface takes; the message names the field."""


def answer_lines(handle: Handler, workers: int = 1) -> int:
    """Answer stdin on stdout and return the exit code; stderr counts the bad lines."""
    bad = run_jsonl(handle, workers=workers)
    if bad:
        warn(f"{format_count(bad, 'line was', 'lines were')} bad: the answer's 'error' says why")
    return EXIT_PASS


def refuse_files(files: Sequence[object]) -> None:
    """Refuse files beside `--jsonl`.

    Raises:
        UsageProblem: there are some.
    """
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
    numbered = _numbered(sys.stdin.buffer if lines is None else lines)
    sink = sys.stdout.buffer if out is None else out
    if workers == 1:
        return sum(_write(sink, _answer(handle, number, line)) for number, line in numbered)
    return _Workers(handle, sink, workers).answer(numbered)


def text_field(row: Row, name: str) -> str:
    """Return a required string field.

    Raises:
        BadRow: it is absent or no string.
    """
    if name not in row:
        raise BadRow(f"field {name!r} is missing: it must be a string")
    value = row[name]
    if not isinstance(value, str):
        raise BadRow(f"field {name!r} must be a string, got {json_name(value)}")
    return value


def json_name(value: object) -> str:
    """Return JSON's name for a value's type, with its article."""
    return "null" if value is None else _JSON_NAMES.get(type(value), "an object")


class _Workers:
    """Threads that answer rows, and one that writes the answers in order.

    The writer is a thread of its own because the reader may wait for the next line for ever. All of them are
    daemons: when the reader is interrupted, nothing waits for a program that still runs.
    """

    def __init__(self, handle: Handler, sink: BinaryIO, workers: int) -> None:
        self._handle = handle
        self._sink = sink
        self._todo: SimpleQueue[tuple[Future[Row], int, bytes] | None] = SimpleQueue()
        self._in_order: SimpleQueue[Future[Row] | None] = SimpleQueue()
        self._room = threading.Semaphore(_WAITING_PER_WORKER * workers)
        self._bad = 0
        self._broken: OSError | None = None
        self._stopped = False
        self._writer = threading.Thread(target=self._write_all, name="jsonl-writer", daemon=True)
        self._workers = [
            threading.Thread(target=self._work, name=f"jsonl-{number}", daemon=True)
            for number in range(workers)
        ]

    def answer(self, numbered: Iterable[tuple[int, bytes]]) -> int:
        """Answer every line and return how many were bad."""
        for thread in (self._writer, *self._workers):
            thread.start()
        try:
            self._hand_out(numbered)
        except BaseException:
            # What still runs is about to be killed: its failure is no answer to its line.
            self._stopped = True
            raise
        for _ in self._workers:
            self._todo.put(None)
        self._in_order.put(None)
        self._writer.join()
        if self._broken is not None:
            raise self._broken
        return self._bad

    def _hand_out(self, numbered: Iterable[tuple[int, bytes]]) -> None:
        for number, line in numbered:
            self._room.acquire()
            if self._stopped:
                return
            answer: Future[Row] = Future()
            self._in_order.put(answer)
            self._todo.put((answer, number, line))

    def _work(self) -> None:
        while (job := self._todo.get()) is not None:
            answer, number, line = job
            try:
                answer.set_result(_answer(self._handle, number, line))
            except BaseException as failure:  # noqa: BLE001 - the writer waits for this very answer
                answer.set_exception(failure)

    def _write_all(self) -> None:
        while (answer := self._in_order.get()) is not None:
            row = answer.result()
            # Once the reading end of stdout has gone, answers are dropped until the reader notices.
            if not self._stopped:
                try:
                    self._bad += _write(self._sink, row)
                except OSError as broken:
                    self._broken = broken
                    self._stopped = True
            self._room.release()


def _numbered(lines: Iterable[bytes]) -> Iterator[tuple[int, bytes]]:
    """Return the lines that are not blank, with their numbers from 1."""
    return ((number, line) for number, line in enumerate(lines, start=1) if line.strip())


def _answer(handle: Handler, number: int, line: bytes) -> Row:
    row_id: Any = None
    try:
        row = _decode(line, number)
        row_id = row.get("id")
        return handle(row)
    except BadRow as problem:
        return {"id": row_id, "error": str(problem)}
    except Exception as failure:  # noqa: BLE001 - one row's trouble must not end the batch
        return {"id": row_id, "error": f"{type(failure).__name__}: {failure}"}


def _decode(line: bytes, number: int) -> Row:
    try:
        # Lone surrogates too, which snippets found in the wild do hold.
        row = load_json(line)
    except MalformedDocument as problem:
        reason = str(problem).replace("not JSON", "not a line of JSON", 1)
        raise BadRow(f"line {number}: {reason}") from problem
    if not isinstance(row, dict):
        raise BadRow(f"line {number}: must be a JSON object, got {json_name(row)}")
    return row


def _write(sink: BinaryIO, answer: Row) -> int:
    sink.write(json_line(answer))
    sink.flush()
    return 1 if "error" in answer else 0
