"""Documents: which row of the table a result in JSON fits, and what that says of it."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import lru_cache
from typing import Any, Final

from spanproof.reading.envelopes.forms import DocumentForm, load_document_forms, load_envelope_fields
from spanproof.reading.envelopes.model import (
    HTTP_ERRORS,
    MAX_CHARS,
    WORKED,
    Envelope,
    EnvelopeForm,
    EnvelopeStatus,
)
from spanproof.trace import JsonValue
from spanproof.trace.dialects.decode import decode_document

_KEPT_DOCUMENTS: Final = 32
_MESSAGE_FIELDS = (
    *("message", "msg", "errormessage", "errormsg", "errmsg", "errordescription", "errorsummary", "detail"),
    *("details", "reason", "failurereason", "failuremessage", "statereason", "title", "description", "why"),
    *("explanation", "error", "evalue", "help", "stderr", "body", "output", "stdout", "value"),
)
# Fields of a part of a result, as MCP and Anthropic write it.
_PART_FIELDS = frozenset(("type", "text", "annotations"))
_TYPE_FIELDS = ("errortype", "type", "exception", "ename", "name", "errorcode", "code")
_EXIT_FIELDS = ("exitcode", "exitstatus", "returncode")


@lru_cache(maxsize=_KEPT_DOCUMENTS)
def decode_result(text: str) -> dict[str, JsonValue] | list[JsonValue] | None:
    """Return the document that a text is, in JSON or as Python prints it; None where it is none."""
    whole = text.strip()
    if whole[:1] not in {"{", "["} or len(whole) > MAX_CHARS * 10:
        return None
    found = decode_document(whole)
    return found if isinstance(found, dict | list) else None


def match_document(document: Mapping[str, JsonValue], arguments: Sequence[JsonValue] = ()) -> Envelope | None:
    """Return what the first row of the table that fits a document says of it, None where none fits."""
    fields = {normalise_name(str(name)): item for name, item in document.items()}
    foreign = _find_foreign_fields(fields, arguments)
    for form in load_document_forms():
        allowed = form.anything_else or not foreign - form.fields
        if allowed and all(_has_value(fields, paths, condition) for paths, condition in form.when):
            return _build_document_envelope(form, fields)
    return None


def _find_foreign_fields(fields: Mapping[str, JsonValue], arguments: Sequence[JsonValue]) -> frozenset[str]:
    """Return the fields that hold data: neither empty, nor of envelopes, nor what the call was given."""
    known = load_envelope_fields()
    carrying = {name for name, item in fields.items() if item not in (None, "", [], {}, False, 0)}
    if "jsonrpc" in carrying:
        carrying.discard("id")
    return frozenset(
        name for name in carrying - known if fields[name] not in arguments and not _is_identity(name)
    )


def _is_identity(name: str) -> bool:
    return name in {"rayid", "eventid", "sessionid", "transactionid"}


def _has_value(fields: Mapping[str, JsonValue], paths: Sequence[Sequence[str]], condition: Any) -> bool:
    """Whether one of these fields meets a condition of the table."""
    found = [_find_field(fields, path) for path in paths]
    present = [item for is_there, item in found if is_there]
    if condition == "missing":
        return all(item in (None, "", [], {}) for item in present)
    if condition == "null":
        return any(item is None for item in present)
    return any(_has_condition(item, condition) for item in present)


def _find_field(fields: Mapping[str, JsonValue], path: Sequence[str]) -> tuple[bool, JsonValue]:
    """Return whether a field is there, and what it holds."""
    item: JsonValue = dict(fields)
    for name in path:
        if not isinstance(item, dict):
            return False, None
        inner = {normalise_name(str(key)): each for key, each in item.items()}
        if name not in inner:
            return False, None
        item = inner[name]
    return True, item


def _has_condition(item: JsonValue, condition: Any) -> bool:
    if isinstance(condition, list):
        return any(_is_listed(item, wanted) for wanted in condition)
    number = parse_whole_number(item)
    match condition:
        case "any":
            return item is not None
        case "error":
            return has_error(item)
        case "text":
            return isinstance(item, str) and bool(item.strip())
        case "list":
            return isinstance(item, list) and bool(item)
        case "http-error":
            return number is not None and number in HTTP_ERRORS
        case "non-zero":
            return number is not None and number != 0
        case "zero":
            return number == 0
        case "positive":
            return number is not None and number > 0
    raise ValueError(f"documents.toml: no such condition: {condition!r}")


def _is_listed(item: JsonValue, wanted: JsonValue) -> bool:
    """Whether a value is one of a list's: texts without case, `*` at an end for any text."""
    if not isinstance(wanted, str):
        return type(item) is type(wanted) and item == wanted
    if not isinstance(item, str):
        return False
    given = item.strip().strip(".").lower()
    head, tail = wanted.startswith("*"), wanted.endswith("*")
    bare = wanted.strip("*")
    if head and tail:
        return bare in given
    return given.endswith(bare) if head else given.startswith(bare) if tail else given == bare


def parse_whole_number(item: JsonValue) -> int | None:
    """Return the whole number that a member is or spells, None where it is none."""
    if isinstance(item, int) and not isinstance(item, bool):
        return item
    return int(item) if isinstance(item, str) and re.fullmatch(r"-?\d{1,9}", item) else None


def has_error(item: JsonValue) -> bool:
    """Whether the value of a field such as `error` names one: `null`, `"none"`, `0` and `{}` do not."""
    if isinstance(item, str):
        return item.strip().lower() not in {
            "",
            "none",
            "null",
            "no error",
            "no errors",
            "ok",
            "success",
            "0",
            "n/a",
        }
    if isinstance(item, dict):
        return any(has_error(each) or (each is not None and each != 0) for each in item.values())
    if isinstance(item, list):
        return any(map(has_error, item))
    return item is True


def _build_document_envelope(form: DocumentForm, fields: Mapping[str, JsonValue]) -> Envelope:
    status = next((parse_whole_number(fields[name]) for name in _EXIT_FIELDS if name in fields), None)
    if form.status is EnvelopeStatus.WORKED:
        return replace(WORKED, producer=form.producer, exit_status=status)
    if status is not None and form.status is EnvelopeStatus.FAILED:
        first = ("stderr", "error", "output", "stdout")
        quote = find_message(fields, first) or f"exit status {status}"
        return Envelope(form.status, EnvelopeForm.EXIT_STATUS, quote, None, status, form.producer)
    quote = find_message(fields) or str(fields.get("status") or fields.get("code") or form.status.value)
    return Envelope(
        form.status, EnvelopeForm.STRUCTURED, quote, _find_error_type(fields), None, form.producer
    )


def find_message(fields: Mapping[str, JsonValue], names: Sequence[str] = _MESSAGE_FIELDS) -> str:
    """Return the first text of an envelope that a person would read; empty where there is none."""
    for name in (
        "error",
        "errors",
        "exception",
        "err",
        "fault",
        "errormessages",
        "lastpaymenterror",
        "toolresult",
    ):
        inner = fields.get(name) if names is _MESSAGE_FIELDS else None
        if isinstance(inner, list):
            inner = inner[0] if inner else None
        if isinstance(inner, str) and name in {"errors", "errormessages", "exception"} and inner.strip():
            return inner.strip()
        if isinstance(inner, dict):
            said = find_message({normalise_name(str(key)): item for key, item in inner.items()})
            if said:
                return said
    for name in names:
        item = fields.get(name)
        if isinstance(item, dict):
            item = item.get("value") or item.get("message")
        if isinstance(item, list) and item and isinstance(item[0], dict):
            item = item[0].get("msg") or item[0].get("message") or item[0].get("text")
        if isinstance(item, str) and item.strip():
            return item.strip()
    parts = fields.get("content")
    return (
        (join_text_parts(parts) or "") if isinstance(parts, list) else parts if isinstance(parts, str) else ""
    )


def _find_error_type(fields: Mapping[str, JsonValue]) -> str | None:
    """Return the exception's name in an envelope, None where it has none."""
    inner = next(
        (fields[name] for name in ("error", "exception") if isinstance(fields.get(name), dict)), None
    )
    if isinstance(inner, dict):
        found = _find_error_type({normalise_name(str(key)): item for key, item in inner.items()})
        if found is not None:
            return found
    for name in _TYPE_FIELDS:
        item = fields.get(name)
        if isinstance(item, str) and item.isidentifier() and item[:1].isupper() and not item.isupper():
            return item
    return None


def join_text_parts(value: JsonValue) -> str | None:
    """Return the text of a result in parts, as MCP and Anthropic write it; None where it is none."""
    found: list[str] = []
    for part in value if isinstance(value, list) else ():
        text = part.get("text") if isinstance(part, dict) and part.keys() <= _PART_FIELDS else None
        if not isinstance(text, str):
            return None
        found.append(text)
    return "\n".join(found) if found else None


@lru_cache(maxsize=2048)
def normalise_name(name: str) -> str:
    """Return a member's name without case and separators: `error_code` and `errorCode` are one."""
    return name.replace("_", "").replace("-", "").replace("@", "").lower()
