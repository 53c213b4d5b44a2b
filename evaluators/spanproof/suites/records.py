"""What people write of a case, as data: the keys of `case.yaml`, and a line of a JSONL file.

    {"id": "refund-a17", "task": "…", "must": [{"answer": {"contains": "45.00"}}], "tags": ["safe"]}

Reading checks every key; an unknown one is refused, as a misspelt `must` would pass everything.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import asdict, fields
from typing import Any

from spanproof.suites.case import Case, UnknownCalls
from spanproof.suites.errors import SuiteError
from spanproof.suites.requirements import check_relative, encode_requirements, read_requirements
from spanproof.trace import Cohort, Layer, Payload, RecordedCall, SpanError, digest

OF_PEOPLE = (
    "task",
    "notes",
    "must",
    "must_not",
    "requires",
    "inputs",
    "files",
    "recorded",
    "tags",
    "source",
    "unknown_calls",
)
"""The keys of `case.yaml` that people write."""

_KEYS = frozenset(("id", "agent", "cohort", *OF_PEOPLE))
_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,99}")


def encode_record(case: Case) -> dict[str, Any]:
    """Return a case as JSON data without its frozen run; what is empty is left out."""
    cohort = {k: value for k, value in asdict(case.cohort).items() if value != getattr(Cohort(), k)}
    record = {"id": case.id, "agent": case.agent, "task": case.task, "cohort": cohort, "notes": case.notes}
    return {key: value for key, value in (record | encode_people(case)).items() if value or key == "requires"}


def read_record(location: str, record: object) -> Case:
    """Return the case that a record describes; one without an `id` is named by its task.

    Raises:
        SuiteError: it is none; names the place, the key and what is expected.
    """
    if not isinstance(record, dict):
        raise SuiteError(f"{location}: expected an object, got {type(record).__name__}")
    unknown = sorted(set(record) - _KEYS)
    if unknown:
        raise SuiteError(f"{location}: no key {unknown[0]!r} is known; known are {', '.join(sorted(_KEYS))}")
    task = record.get("task")
    if not isinstance(task, str) or not task.strip():
        raise SuiteError(f"{location}: a case needs a task, a text")
    name = str(record.get("id") or build_case_name(task, json.dumps(record, sort_keys=True, default=str)))
    if not _ID.fullmatch(name):
        raise SuiteError(f"{location}: id {name!r} must be letters, digits, '.', '_' and '-', 100 at most")
    try:
        return Case(
            id=name,
            origin=None,
            agent=str(record.get("agent") or ""),
            task=task,
            cohort=read_cohort(record),
            expectations=(),
            snippets=(),
            trace=None,
            **read_people(location, record),
        )
    except (KeyError, TypeError, ValueError) as problem:
        if isinstance(problem, KeyError):
            what = f"no {problem}"
        else:
            what = str(problem)
        raise SuiteError(f"{location}: {what}") from problem


def build_case_name(task: str, identity: str) -> str:
    """Return a readable id that follows from the task and from what makes the case itself."""
    slug = re.sub(r"[^a-z0-9]+", "-", task.lower()).strip("-")[:40].strip("-") or "case"
    return f"{slug}-{digest('record', identity)[:12]}"


def encode_people(case: Case) -> dict[str, Any]:
    """Return the keys that people write beside task and notes; an empty one is left out."""
    found: dict[str, Any] = dict(encode_requirements(case.requirements))
    if case.requires is not None:
        found["requires"] = [layer.value for layer in case.requires]
    recorded = [_encode_call(call) for call in case.recorded]
    more = {
        "inputs": dict(case.inputs),
        "files": dict(case.files),
        "recorded": recorded,
        "tags": list(case.tags),
        "source": dict(case.source),
        "unknown_calls": "" if case.unknown_calls is UnknownCalls.FAIL else case.unknown_calls.value,
    }
    return found | {key: value for key, value in more.items() if value}


def read_people(location: str, head: Mapping[str, Any]) -> dict[str, Any]:
    """Return the fields of a case that people write.

    Raises:
        SuiteError: an entry of `must` or `must_not` is none.
        KeyError, TypeError, ValueError: another key is not what it must be.
    """
    tags = [str(tag) for tag in _read_list(head, "tags")]
    recorded = [_parse_call(call) for call in _read_list(head, "recorded")]
    return {
        "notes": str(head.get("notes") or ""),
        "requirements": read_requirements(location, head.get("must"), head.get("must_not")),
        "requires": _find_layers(head),
        "inputs": _read_mapping(head, "inputs"),
        "files": _read_files(head),
        "recorded": tuple(recorded),
        "tags": tuple(tags),
        "source": _read_mapping(head, "source"),
        "unknown_calls": UnknownCalls(str(head.get("unknown_calls") or UnknownCalls.FAIL)),
    }


def read_cohort(head: Mapping[str, Any]) -> Cohort:
    """Return the cohort; what this Spanproof does not know of it is left out."""
    names = {field.name for field in fields(Cohort)}
    dimensions = {key: str(value) for key, value in (head.get("cohort") or {}).items() if key in names}
    return Cohort(**dimensions)


def _encode_call(call: RecordedCall) -> dict[str, object]:
    """Return a recorded call as people write it; `error` where it raised."""
    entry: dict[str, object] = {"tool": call.tool, "args": dict(call.kwargs)}
    if call.error is not None:
        return {**entry, "error": {"type": call.error.type or "RuntimeError", "message": call.error.message}}
    return {**entry, "result": call.result.value if call.result else None}


def _find_layers(head: Mapping[str, Any]) -> tuple[Layer, ...] | None:
    if head.get("requires") is None:
        return None
    names = _read_list(head, "requires")
    for name in names:
        if name not in list(Layer):
            raise ValueError(f"requires: there is no layer {name!r}; the layers are {', '.join(Layer)}")
    return tuple(Layer(str(name)) for name in names)


def _read_mapping(head: Mapping[str, Any], key: str) -> dict[str, Any]:
    value = head.get(key) or {}
    if not isinstance(value, dict):
        raise TypeError(f"{key} must be a mapping, got {type(value).__name__}")
    return value


def _read_list(head: Mapping[str, Any], key: str) -> Sequence[Any]:
    value = head.get(key) or []
    if not isinstance(value, list | tuple):
        raise TypeError(f"{key} must be a list, got {type(value).__name__}")
    return value


def _read_files(head: Mapping[str, Any]) -> dict[str, str]:
    files = {str(name): str(content) for name, content in _read_mapping(head, "files").items()}
    for name in files:
        try:
            check_relative(name)
        except ValueError as problem:
            raise ValueError(f"files: {problem}") from problem
    return files


def _parse_call(entry: object) -> RecordedCall:
    if not isinstance(entry, dict) or not isinstance(entry.get("tool"), str):
        raise TypeError("an entry of recorded takes tool, a name, with args, and result or error")
    unknown = set(entry) - {"tool", "args", "result", "error"}
    if unknown:
        raise ValueError(f"recorded takes tool, args, and result or error; got {', '.join(sorted(unknown))}")
    error = entry.get("error")
    value = entry.get("result")
    if isinstance(value, str):
        text = value
    else:
        text = json.dumps(value, ensure_ascii=False)
    return RecordedCall(
        tool=entry["tool"],
        kwargs=_read_mapping(entry, "args"),
        result=None if error else Payload(text, value, typed=True),
        error=SpanError(str(error["type"]), str(error["message"])) if error else None,
    )
