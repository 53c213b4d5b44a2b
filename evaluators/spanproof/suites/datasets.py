"""Cases from files: JSON lines, CSV, and dataset exports of other products.

| form | recognised by |
|---|---|
| spanproof | `task` |
| langfuse | `input`, `expectedOutput` |
| langsmith | `inputs`, `outputs`; columns `input_…`, `output_…` |
| braintrust | `input`, `expected` |
| phoenix | `input`, `output`; `messages` |
| table | any other CSV: a column for the task, one for the answer, the rest are inputs |

An item becomes a task, inputs, and a requirement of its expected answer. Its id there, the trace it came from
and its metadata are kept as `source`, so that a second import finds the same case.
"""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from pathlib import Path
from typing import Any, Final

from spanproof.sandbox.untrusted_files import UnsafeFileError, read_bounded
from spanproof.suites.case import Case
from spanproof.suites.errors import SuiteError
from spanproof.suites.records import build_case_name, read_record
from spanproof.suites.requirements import encode_answer
from spanproof.trace import JsonValue


class Form(StrEnum):
    """Whose file it is."""

    SPANPROOF = "spanproof"
    PHOENIX = "phoenix"
    LANGFUSE = "langfuse"
    LANGSMITH = "langsmith"
    BRAINTRUST = "braintrust"
    TABLE = "table"


class Expect(StrEnum):
    """The requirement for the answer if an item has an expected answer that is text."""

    CONTAINS = "contains"
    EQUALS = "equals"
    NOTHING = "nothing"


@dataclass(frozen=True, slots=True)
class Reading:
    """How items are read.

    Attributes:
        form: None where it is recognised.
        expect: of text; a number is compared as one, other JSON as a whole.
        task_key, expected_key: names within an item's input and its expected output, or of columns; empty
            where they are recognised.
        tags: added to every case.
    """

    form: Form | None = None
    expect: Expect = Expect.CONTAINS
    task_key: str = ""
    expected_key: str = ""
    tags: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class _Item:
    """One entry of a dataset of any form."""

    form: Form
    entry: Any
    expected: Any
    key: str = ""
    metadata: Any = None
    tags: Sequence[str] = ()
    trace_id: str = ""


_TASK_KEYS: Final = (
    "task", "question", "query", "input", "prompt", "user_input", "instruction", "message", "text",
)  # fmt: skip
_EXPECTED_KEYS: Final = (
    "answer", "expected", "expected_output", "output", "response", "ideal", "reference", "label",
    "text", "content",
)  # fmt: skip
_FILE_BYTES: Final = 1024**3
_ID_KEYS: Final = ("id", "example_id", "item_id")
_LISTS: Final = ("examples", "events", "items", "data", "cases")


def iter_dataset(path: Path, how: Reading = Reading()) -> Iterator[Case]:
    """Yield the cases of a file; a `.csv` is a table, anything else JSON or JSON lines.

    Raises:
        SuiteError: an entry is no case; names the file, the entry and what is expected.
        OSError: the file cannot be read.
    """
    try:
        text = read_bounded(path, _FILE_BYTES).decode("utf-8-sig")
    except UnsafeFileError as problem:
        raise SuiteError(str(problem)) from problem
    except UnicodeDecodeError as problem:
        raise SuiteError(f"{path}: it is not UTF-8: {problem.reason} at byte {problem.start}") from problem
    entries = _iter_table_rows(path, text) if path.suffix.lower() == ".csv" else _iter_json_rows(path, text)
    for number, entry in enumerate(entries, start=1):
        location = f"{path}, entry {number}"
        case = _build_case(location, entry, how)
        yield replace(case, tags=tuple(dict.fromkeys((*case.tags, *how.tags))))


def _iter_table_rows(path: Path, text: str) -> Iterator[dict[str, Any]]:
    csv.field_size_limit(1 << 24)
    try:
        for row in csv.DictReader(io.StringIO(text, newline="")):
            yield {
                name: _decode_cell(value) for name, value in row.items() if name and value not in (None, "")
            }
    except csv.Error as problem:
        raise SuiteError(f"{path}: not CSV: {problem}") from problem


def _decode_cell(value: str) -> Any:
    """Return a cell; one that holds a JSON object or list is decoded."""
    if value[:1] in "{[":
        try:
            return json.loads(value)
        except (ValueError, RecursionError):
            return value
    return value


def _iter_json_rows(path: Path, text: str) -> Iterator[Any]:
    stripped = text.lstrip()
    try:
        document = json.loads(stripped)
    except (ValueError, RecursionError):
        yield from _iter_line_rows(path, text)
        return
    while isinstance(document, dict):
        inner = next((document[name] for name in _LISTS if isinstance(document.get(name), list | dict)), None)
        if inner is None or _find_form(document) is not None:
            break
        document = inner
    yield from document if isinstance(document, list) else [document]


def _iter_line_rows(path: Path, text: str) -> Iterator[Any]:
    for number, line in enumerate(text.split("\n"), start=1):
        if line.strip():
            try:
                yield json.loads(line)
            except (ValueError, RecursionError) as problem:
                raise SuiteError(f"{path}, line {number}: not JSON: {problem}") from problem


def _find_form(entry: Mapping[str, Any]) -> Form | None:
    keys = entry.keys()
    if "expectedOutput" in keys or keys >= {"input", "datasetId"}:
        return Form.LANGFUSE
    if "inputs" in keys and not keys.isdisjoint({"outputs", "dataset_id"}):
        return Form.LANGSMITH
    if "input" in keys and not keys.isdisjoint({"expected", "_xact_id"}):
        return Form.BRAINTRUST
    if isinstance(entry.get("input"), dict) and "output" in keys:
        return Form.PHOENIX
    if isinstance(entry.get("messages"), list):
        return Form.PHOENIX
    prefixes = {name.partition("_")[0] for name in keys if "_" in name}
    if {"input", "output"} <= prefixes:
        if "example_id" in keys:
            return Form.PHOENIX
        return Form.LANGSMITH
    return Form.SPANPROOF if "task" in keys else None


def _build_case(location: str, entry: Any, how: Reading) -> Case:
    if not isinstance(entry, dict):
        raise SuiteError(f"{location}: expected an object, got {type(entry).__name__}")
    form = how.form or (_find_form(entry) if not how.task_key else None) or Form.TABLE
    if form is Form.SPANPROOF:
        return read_record(location, _parse_tags(entry))
    item = _read_item(form, entry, how)
    task, inputs = _parse_task(location, item.entry, how.task_key)
    must = _build_requirements(item.expected, how)
    source: dict[str, Any] = {"form": form.value}
    source |= {"id": item.key} if item.key else {}
    source |= {"trace_id": item.trace_id} if item.trace_id else {}
    source |= {"metadata": item.metadata} if item.metadata else {}
    identity = item.key or json.dumps([task, inputs, item.expected], sort_keys=True, default=str)
    record = {
        "id": build_case_name(task, f"{form.value} {identity}"),
        "task": task,
        "inputs": inputs,
        "must": must,
    }
    return read_record(location, {**record, "tags": list(item.tags), "source": source})


def _parse_tags(entry: dict[str, Any]) -> dict[str, Any]:
    """Return a row of our own CSV with its tags as a list."""
    tags = entry.get("tags")
    if isinstance(tags, str):
        return {**entry, "tags": tags.split()}
    return entry


def _read_item(form: Form, entry: dict[str, Any], how: Reading) -> _Item:
    key = next((str(entry[name]) for name in _ID_KEYS if entry.get(name)), "")
    metadata = entry.get("metadata")
    tags = entry.get("tags") if isinstance(entry.get("tags"), list) else []
    match form:
        case Form.LANGFUSE:
            trace_id = str(entry.get("sourceTraceId") or "")
            return _Item(form, entry.get("input"), entry.get("expectedOutput"), key, metadata, (), trace_id)
        case Form.LANGSMITH if "inputs" in entry:
            return _Item(form, entry["inputs"], entry.get("outputs"), key, metadata)
        case Form.BRAINTRUST:
            trace_id = str((entry.get("origin") or {}).get("object_id") or "")
            return _Item(form, entry.get("input"), entry.get("expected"), key, metadata, tags or (), trace_id)
        case Form.PHOENIX if "messages" in entry:
            return _parse_conversation(entry, key)
        case Form.PHOENIX if "input" in entry:
            return _Item(form, entry["input"], entry.get("output"), key, metadata)
        case Form.TABLE:
            return _read_row(entry, key, how)
        case _:
            parts = [_select_prefixed(entry, prefix) for prefix in ("input_", "output_", "metadata_")]
            return _Item(form, parts[0], parts[1], key, parts[2])


def _parse_conversation(entry: Mapping[str, Any], key: str) -> _Item:
    """Return messages as Phoenix exports them; the last one is the answer where the assistant gave it."""
    messages = entry["messages"]
    last = messages[-1] if messages else {}
    if isinstance(last, dict) and last.get("role") == "assistant":
        expected = entry.get("ideal", last.get("content"))
        return _Item(Form.PHOENIX, {"messages": messages[:-1]}, expected, key)
    return _Item(Form.PHOENIX, {"messages": messages}, entry.get("ideal"), key)


def _select_prefixed(entry: Mapping[str, Any], prefix: str) -> dict[str, Any]:
    return {name.removeprefix(prefix): value for name, value in entry.items() if name.startswith(prefix)}


def _read_row(entry: dict[str, Any], key: str, how: Reading) -> _Item:
    """Return a row of a table: all but id, tags and the expected answer is what the agent is given."""
    rest = {name: value for name, value in entry.items() if name not in (*_ID_KEYS, "tags", "metadata")}
    answer_keys = (how.expected_key,) if how.expected_key else _EXPECTED_KEYS[:-2]
    column = next((name for name in rest if name.lower() in answer_keys and name != how.task_key), None)
    expected = rest.pop(column) if column else None
    return _Item(Form.TABLE, rest, expected, key, entry.get("metadata"), str(entry.get("tags") or "").split())


def _parse_task(location: str, entry: Any, wanted: str) -> tuple[str, dict[str, JsonValue]]:
    """Return the task that an item's input holds, and what is given to the agent beside."""
    if isinstance(entry, str) and entry.strip():
        return entry, {}
    if isinstance(entry, list):
        entry = {"messages": entry}
    if not isinstance(entry, dict) or not entry:
        raise SuiteError(f"{location}: it has no input")
    if not wanted and isinstance(entry.get("messages"), list):
        return _format_conversation(location, entry["messages"]), _select_others(entry, "messages")
    texts = [name for name, value in entry.items() if isinstance(value, str) and value.strip()]
    chosen = wanted or _get_task_key(texts)
    if not chosen and len(entry) == 1 and texts:
        chosen = texts[0]
    if chosen not in texts:
        names = ", ".join(map(str, entry))
        raise SuiteError(f"{location}: none of {names} is known to be the task; name it with --task-key")
    return entry[chosen], _select_others(entry, chosen)


def _select_others(values: Mapping[str, JsonValue], key: str) -> dict[str, JsonValue]:
    return {name: value for name, value in values.items() if name != key}


def _get_task_key(names: Sequence[str]) -> str:
    """Return the first of these names under which tasks are known; empty where there is none."""
    by_name = {name.lower(): name for name in names}
    return next((by_name[name] for name in _TASK_KEYS if name in by_name), "")


def _format_conversation(location: str, messages: Sequence[Any]) -> str:
    """Return messages as a task: the one message of the user, or all turns with who said them."""
    turns = [
        (str(message.get("role", "user")), _get_text(message))
        for message in messages
        if isinstance(message, dict)
    ]
    turns = [(role, text) for role, text in turns if text]
    if not any(role in ("user", "human") for role, _ in turns):
        raise SuiteError(f"{location}: its messages hold none of a user")
    if len(turns) == 1:
        return turns[0][1]
    return "\n".join(f"{role}: {text}" for role, text in turns)


def _get_text(message: Mapping[str, Any]) -> str:
    content = message.get("content")
    if isinstance(content, list):
        return "\n".join(str(part.get("text", "")) for part in content if isinstance(part, dict)).strip()
    return "" if content is None else str(content).strip()


def _build_requirements(expected: Any, how: Reading) -> list[JsonValue]:
    if how.expect is Expect.NOTHING:
        return []
    value = _get_answer(expected, how.expected_key)
    if value in (None, "", {}, []):
        return []
    return [encode_answer(value, how.expect.value)]


def _get_answer(expected: Any, wanted: str) -> Any:
    """Return the answer within an expected output: its only value, or that under a known name."""
    if not isinstance(expected, dict):
        return expected
    if wanted and wanted in expected:
        return expected[wanted]
    key = next((name for name in _EXPECTED_KEYS if name in expected), None)
    if key is not None:
        return expected[key]
    if len(expected) == 1:
        return next(iter(expected.values()))
    return expected
