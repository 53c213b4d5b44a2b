"""Answers of a model, as harnesses write them: JSON lines or JSON, one answer or several per problem.

| field of the problem | `task_id`, `question_id`, `instance_id`, `name`, `id` |
|---|---|
| whole answers | `solution`, `code_list`, `model_patch`, `result`, `response`, `query`, `traj` |
| continuations of the prompt | `completion`, `completions` |
| the model that answered | `model` |

A fenced block in an answer is taken out of it. A file of one JSON object maps problems to answers.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

from spanproof.benchmarks.errors import BenchmarkError
from spanproof.benchmarks.files import iter_rows, read_text, read_value
from spanproof.benchmarks.model import Answer, Row

_IDS: Final = ("task_id", "question_id", "instance_id", "name", "id")
_WHOLE: Final = ("solution", "code_list", "model_patch", "result", "response", "query", "traj")
_CONTINUED: Final = ("completion", "completions")
_BIRD_MARK: Final = "\t----- bird -----\t"
_FENCE = re.compile(r"^[ \t]*(`{3,}|~{3,})[^\n]*\n(.*?)^[ \t]*\1[ \t]*$", re.DOTALL | re.MULTILINE)


def iter_samples(path: Path) -> Iterator[Answer]:
    """Yield the answers in a file.

    Raises:
        BenchmarkError: an entry names no problem or has no answer.
        OSError: it cannot be read.
    """
    if path.suffix in (".sql", ".txt"):
        for number, line in enumerate(read_text(path).splitlines()):
            yield Answer(str(number), line.partition("\t")[0], is_whole=True)
        return
    by_problem = _load_mapping(path)
    if by_problem is not None:
        for problem, text in by_problem.items():
            yield Answer(problem, text.partition(_BIRD_MARK)[0], is_whole=True)
        return
    for location, row in iter_rows(path):
        yield from _iter_answers(location, row)


def read_code(text: str) -> tuple[str, bool]:
    """Return the code in a model's words, and whether it is whole: a fenced block that is not indented.

    Of several blocks the longest is taken. Text without a block is code as it is.
    """
    blocks = [found[2] for found in _FENCE.finditer(text)]
    if not blocks:
        return text, False
    code = max(blocks, key=len)
    return code, not code[:1].isspace()


def _load_mapping(path: Path) -> dict[str, str] | None:
    if path.is_dir() or path.suffix != ".json":
        return None
    value = read_value(path) if read_text(path).startswith("{") else None
    if isinstance(value, dict) and value and all(isinstance(text, str) for text in value.values()):
        return value if not set(value) & {*_WHOLE, *_CONTINUED} else None
    return None


def _iter_answers(location: str, row: Row) -> Iterator[Answer]:
    named = next((str(row[key]) for key in _IDS if row.get(key) is not None), None)
    if named is None:
        raise BenchmarkError(f"{location}: it names no problem; expected one of {', '.join(_IDS)}")
    for keys, is_whole in ((_WHOLE, True), (_CONTINUED, False)):
        for key in keys:
            if key in row:
                for text in _read_texts(row[key], key):
                    code, fenced = read_code(text)
                    yield Answer(named, code, is_whole=is_whole or fenced, model=str(row.get("model") or ""))
                return
    expected = ", ".join((*_WHOLE, *_CONTINUED))
    raise BenchmarkError(f"{location}: it has no answer; expected one of {expected}")


def _read_texts(value: Any, key: str) -> list[str]:
    if value is None:
        return [""]
    if isinstance(value, str):
        return [value]
    several = key in ("code_list", "completions", "solution", "completion")
    if several and isinstance(value, list) and all(isinstance(text, str) for text in value):
        return value
    return [json.dumps(value, ensure_ascii=False)]
