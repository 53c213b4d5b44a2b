"""LiveCodeBench: contest problems with their dates, tested by streams or by calls.

Fields: `question_id`, `question_title`, `question_content`, `platform`, `difficulty`, `contest_date`,
`starter_code`, `metadata` (with `func_name`), `public_test_cases`, `private_test_cases`. Private tests are
published as JSON, or packed: base64 of zlib of a pickle that holds one text.
"""

from __future__ import annotations

import base64
import binascii
import io
import json
import pickle
import zlib
from collections.abc import Iterator
from datetime import date, datetime
from pathlib import Path
from typing import Any, NoReturn

from spanproof.benchmarks.errors import BenchmarkError
from spanproof.benchmarks.files import get_text, iter_rows
from spanproof.benchmarks.model import Problem, Row
from spanproof.benchmarks.programs import Check, ProgramProblem

_MAX_UNPACKED = 512 * 1024 * 1024

_CALL = """
import json
def _plain(value):
    if isinstance(value, (list, tuple)):
        return [_plain(item) for item in value]
    return value
def test_call():
    given = [json.loads(line) for line in {given!r}.split("\\n") if line.strip()]
    wanted = json.loads({wanted!r})
    {solution}
    found = _plain({call}(*given))
    assert found == wanted or (isinstance(found, float) and abs(found - wanted) <= 1e-6)
"""

# Contest code takes these for granted, as the project's own harness does.
_HEAD = """from collections import *
from functools import *
from heapq import *
from itertools import *
from math import *
from string import *
from typing import *
from bisect import *
from operator import *
import sys, re, math, random, collections, functools, heapq, itertools, string, bisect, json
"""

_FUNCTION_TASK = "Solve this in Python."
_PROGRAM_TASK = "Solve this in Python; read the input from stdin and write the answer to stdout."


def iter_livecodebench(path: Path) -> Iterator[Problem]:
    """Yield the problems of LiveCodeBench.

    Raises:
        BenchmarkError: an entry lacks a field, or its tests cannot be read.
    """
    for location, row in iter_rows(path):
        public = _parse_tests(location, row.get("public_test_cases") or "[]")
        private = _parse_tests(location, row.get("private_test_cases") or "[]")
        function = _read_function_name(location, row)
        starter = str(row.get("starter_code") or "")
        prompt = get_text(location, row, "question_content")
        checks = [_build_check(location, test, function, starter) for test in (*public, *private)]
        groups = {name: row[name] for name in ("difficulty", "platform") if isinstance(row.get(name), str)}
        # Short ones, such as `1`, are in any text.
        hidden = tuple(test["input"] for test in private if len(str(test.get("input"))) > 20)
        yield ProgramProblem(
            id=get_text(location, row, "question_id"),
            prompt=f"{prompt}\n\n{starter}" if starter else prompt,
            checks={"tests": tuple(checks)},
            public=tuple(checks[: len(public)]),
            head=_HEAD,
            published=_find_date(location, row),
            groups=groups,
            instruction=_FUNCTION_TASK if function else _PROGRAM_TASK,
            hidden=hidden,
        )


def _build_check(location: str, test: Row, function: str, starter: str) -> Check:
    stdin, wanted = str(test.get("input", "")), str(test.get("output", ""))
    if test.get("testtype") != "functional" and not function:
        return Check(stdin=stdin, stdout=wanted)
    try:
        json.loads(wanted)
    except ValueError as problem:
        raise BenchmarkError(
            f"{location}: the output of a functional test is no JSON: {wanted!r:.60}"
        ) from problem
    of_class = "class Solution" in starter
    return Check(
        tests=_CALL.format(
            given=stdin,
            wanted=wanted,
            solution="solution = Solution()" if of_class else "pass",
            call=f"solution.{function}" if of_class else function,
        )
    )


def _read_function_name(location: str, row: Row) -> str:
    metadata = row.get("metadata") or "{}"
    try:
        if isinstance(metadata, str):
            read = json.loads(metadata)
        else:
            read = metadata
    except ValueError as problem:
        raise BenchmarkError(f"{location}: field 'metadata' is no JSON: {problem}") from problem
    name = str(read.get("func_name") or "") if isinstance(read, dict) else ""
    if name and not name.isidentifier():
        raise BenchmarkError(f"{location}: func_name {name!r:.60} is no name of a function")
    return name


def _find_date(location: str, row: Row) -> date | None:
    text = row.get("contest_date")
    if text is None:
        return None
    if isinstance(text, datetime):
        return text.date()
    try:
        return datetime.fromisoformat(str(text)).date()
    except ValueError as problem:
        raise BenchmarkError(f"{location}: contest_date {text!r:.40} is no date") from problem


def _parse_tests(location: str, packed: Any) -> list[dict[str, Any]]:
    if isinstance(packed, str):
        try:
            packed = json.loads(packed)
        except ValueError:
            packed = json.loads(_decode_tests(location, packed))
    if not isinstance(packed, list) or not all(isinstance(row, dict) for row in packed):
        raise BenchmarkError(f"{location}: tests must be a list of objects with 'input' and 'output'")
    return packed


def _decode_tests(location: str, packed: str) -> str:
    try:
        reader = zlib.decompressobj()
        data = reader.decompress(base64.b64decode(packed, validate=True), _MAX_UNPACKED)
        found = _TextOnly(io.BytesIO(data)).load()
    except (binascii.Error, zlib.error, pickle.UnpicklingError, EOFError, ValueError, IndexError) as problem:
        raise BenchmarkError(f"{location}: private_test_cases cannot be read: {problem}") from problem
    if not isinstance(found, str):
        raise BenchmarkError(f"{location}: private_test_cases hold a {type(found).__name__}, expected text")
    return found


class _TextOnly(pickle.Unpickler):
    """Reads plain data: a pickle that names a class or a function is refused, so nothing is called."""

    def find_class(self, module_name: str, global_name: str, /) -> NoReturn:
        """Refuse every name."""
        raise pickle.UnpicklingError(f"it names {module_name}.{global_name}")
