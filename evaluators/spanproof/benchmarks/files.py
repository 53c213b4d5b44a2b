"""Files as projects publish them: JSON, JSON lines and Parquet, gzipped or not, to rows."""

from __future__ import annotations

import gzip
import io
import json
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from spanproof.benchmarks.errors import BenchmarkError
from spanproof.benchmarks.model import Row
from spanproof.sandbox.untrusted_files import UnsafeFileError, read_regular

MAX_FILE_BYTES = 2 * 1024**3
"""The largest published file, of LiveCodeBench, has 1.3 GB."""
_GZIP = b"\x1f\x8b"

_LISTS = ("data", "examples", "problems", "results")


def iter_rows(path: Path) -> Iterator[tuple[str, Row]]:
    """Yield each row of a file with its place, for errors; a folder gives the rows of its files.

    Raises:
        BenchmarkError: the file is none of the forms, or a row is no object.
        OSError: it cannot be read.
    """
    if path.is_dir():
        for file in sorted(path.iterdir()):
            if file.is_file() and not file.name.startswith("."):
                yield from iter_rows(file)
        return
    for number, row in enumerate(_iter_entries(path), start=1):
        location = f"{path}, entry {number}"
        if not isinstance(row, dict):
            raise BenchmarkError(f"{location}: expected an object, got {type(row).__name__}")
        yield location, row


def read_value(path: Path) -> Any:
    """Return a JSON file as it is.

    Raises:
        BenchmarkError: it is no JSON.
        OSError: it cannot be read.
    """
    try:
        return json.loads(read_text(path))
    except (ValueError, RecursionError) as problem:
        raise BenchmarkError(f"{path}: it is no JSON: {problem}") from problem


def get_field(location: str, row: Row, *names: str) -> Any:
    """Return the first of these fields that the row has.

    Raises:
        BenchmarkError: it has none of them.
    """
    for name in names:
        if row.get(name) is not None:
            return row[name]
    raise BenchmarkError(
        f"{location}: field {' or '.join(map(repr, names))} is missing; it has {', '.join(row)}"
    )


def get_text(location: str, row: Row, *names: str) -> str:
    """Return the first of these fields, which must be text.

    Raises:
        BenchmarkError: it is not there or is no text.
    """
    value = get_field(location, row, *names)
    if not isinstance(value, str):
        raise BenchmarkError(f"{location}: field {names[0]!r} must be text, got {type(value).__name__}")
    return value


def get_list(location: str, row: Row, *names: str) -> list[Any]:
    """Return the first of these fields, a list or the JSON text of one.

    Raises:
        BenchmarkError: it is not there or is no list.
    """
    value = get_field(location, row, *names)
    if isinstance(value, str):
        try:
            value = json.loads(value)
        except (ValueError, RecursionError):
            value = None
    if not isinstance(value, list):
        raise BenchmarkError(f"{location}: field {names[0]!r} must be a list, or JSON of one")
    return value


def _iter_entries(path: Path) -> Iterator[Any]:
    if path.name.endswith(".parquet"):
        from pyarrow import parquet  # loads much: only where a file needs it

        yield from parquet.read_table(path).to_pylist()
        return
    text = read_text(path)
    try:
        whole = json.loads(text)
    except (ValueError, RecursionError):
        yield from _iter_lines(path, text)
        return
    if isinstance(whole, dict):
        named = next((whole[name] for name in _LISTS if isinstance(whole.get(name), list)), None)
        whole = [whole] if named is None else named
    if not isinstance(whole, list):
        raise BenchmarkError(f"{path}: expected a list of objects, or one object a line")
    yield from whole


def _iter_lines(path: Path, text: str) -> Iterator[Any]:
    for number, line in enumerate(text.split("\n"), start=1):
        if not line.strip():
            continue
        try:
            yield json.loads(line)
        except (ValueError, RecursionError) as problem:
            raise BenchmarkError(f"{path}, line {number}: it is no JSON: {problem}") from problem


def read_text(path: Path) -> str:
    """Return the text of a regular file, gzipped or not.

    Raises:
        BenchmarkError: it is no regular file, no UTF-8, or has more than `MAX_FILE_BYTES`.
        OSError: it cannot be read.
    """
    try:
        data = read_regular(path, MAX_FILE_BYTES)
    except UnsafeFileError as problem:
        raise BenchmarkError(str(problem)) from problem
    if data.startswith(_GZIP):
        data = _decode_gzip(path, data)
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as problem:
        raise BenchmarkError(
            f"{path}: it is not UTF-8: {problem.reason} at byte {problem.start}"
        ) from problem


def _decode_gzip(path: Path, data: bytes) -> bytes:
    """Return the content of gzipped data: a small file may hold more than there is memory."""
    try:
        with gzip.open(io.BytesIO(data)) as file:
            content = file.read(MAX_FILE_BYTES + 1)
    except (OSError, EOFError, zlib.error) as problem:
        raise BenchmarkError(f"{path}: it is no gzip: {problem}") from problem
    if len(content) > MAX_FILE_BYTES:
        raise BenchmarkError(f"{path}: more than {MAX_FILE_BYTES >> 30} GiB when unzipped; split the file")
    return content
