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
_ERROR_FIELDS = tuple(str.split("error errors exception err fault errormessages lastpaymenterror toolresult"))
# Of these, those whose text is a message.
_ERROR_LISTS = frozenset(("errors", "errormessages", "exception"))
_NO_ERROR = frozenset(("", "none", "null", "no error", "no errors", "ok", "success", "0", "n/a"))
_IDENTITIES = frozenset(("rayid", "eventid", "sessionid", "transactionid"))


@lru_cache(maxsize=_KEPT_DOCUMENTS)
def find_result_document(text: str) -> dict[str, JsonValue] | list[JsonValue] | None:
    """Return the document that a text is, in JSON or as Python prints it; None where it is none."""
    whole = text.strip()
    if whole[:1] not in {"{", "["} or len(whole) > MAX_CHARS * 10:
        return None
    found = decode_document(whole)
    return found if isinstance(found, dict | list) else None


def find_document_envelope(
    document: Mapping[str, JsonValue], arguments: Sequence[JsonValue] = ()
) -> Envelope | None:
    """Return what the first row of the table that fits a document says of it, None where none fits."""
    fields = _normalise_fields(document)
    foreign = _list_foreign_fields(fields, arguments)
    for form in load_document_forms():
        allowed = form.anything_else or not foreign - form.fields
        if allowed and all(_has_value(fields, paths, condition) for paths, condition in form.when):
            return _build_document_envelope(form, fields)
    return None


def _list_foreign_fields(fields: Mapping[str, JsonValue], arguments: Sequence[JsonValue]) -> frozenset[str]:
    """Return the fields that hold data: neither empty, nor of envelopes, nor what the call was given."""
    carrying = {name for name, value in fields.items() if value not in (None, "", [], {}, False, 0)}
    if "jsonrpc" in carrying:
        carrying.discard("id")
    own = carrying - load_envelope_fields() - _IDENTITIES
    return frozenset(name for name in own if fields[name] not in arguments)


def _has_value(fields: Mapping[str, JsonValue], paths: Sequence[Sequence[str]], condition: Any) -> bool:
    """Whether one of these fields meets a condition of the table."""
    found = [_get_field(fields, path) for path in paths]
    present = [item for is_there, item in found if is_there]
    if condition == "missing":
        return all(item in (None, "", [], {}) for item in present)
    if condition == "null":
        return any(item is None for item in present)
    return any(_has_condition(item, condition) for item in present)


def _get_field(fields: Mapping[str, JsonValue], path: Sequence[str]) -> tuple[bool, JsonValue]:
    """Return whether a field is there, and what it holds."""
    value: JsonValue = dict(fields)
    for name in path:
        if not isinstance(value, dict):
            return False, None
        inner = _normalise_fields(value)
        if name not in inner:
            return False, None
        value = inner[name]
    return True, value


def _has_condition(value: JsonValue, condition: Any) -> bool:
    if isinstance(condition, list):
        return any(_is_listed(value, wanted) for wanted in condition)
    number = find_whole_number(value)
    match condition:
        case "any":
            return value is not None
        case "error":
            return has_error(value)
        case "text":
            return isinstance(value, str) and bool(value.strip())
        case "list":
            return isinstance(value, list) and bool(value)
        case "http-error":
            return number in HTTP_ERRORS
        case "non-zero":
            return number not in (None, 0)
        case "zero":
            return number == 0
        case "positive":
            return (number or 0) > 0
    raise ValueError(f"documents.toml: no such condition: {condition!r}")


def _is_listed(value: JsonValue, wanted: JsonValue) -> bool:
    """Whether a value is one of a list's: texts without case, `*` at an end for any text."""
    if not isinstance(wanted, str):
        return type(value) is type(wanted) and value == wanted
    if not isinstance(value, str):
        return False
    text, bare = value.strip().strip(".").lower(), wanted.strip("*")
    if not wanted.startswith("*"):
        if wanted.endswith("*"):
            return text.startswith(bare)
        return text == bare
    if wanted.endswith("*"):
        return bare in text
    return text.endswith(bare)


def find_whole_number(item: JsonValue) -> int | None:
    """Return the whole number that a member is or spells, None where it is none."""
    if isinstance(item, int) and not isinstance(item, bool):
        return item
    if isinstance(item, str) and re.fullmatch(r"-?\d{1,9}", item):
        return int(item)
    return None


def has_error(value: JsonValue) -> bool:
    """Whether the value of a field such as `error` names one: `null`, `"none"`, `0` and `{}` do not."""
    if isinstance(value, str):
        return value.strip().lower() not in _NO_ERROR
    if isinstance(value, dict):
        return any(has_error(inner) or inner not in (None, 0) for inner in value.values())
    if isinstance(value, list):
        return any(map(has_error, value))
    return value is True


def _build_document_envelope(form: DocumentForm, fields: Mapping[str, JsonValue]) -> Envelope:
    if form.status is EnvelopeStatus.WORKED:
        return replace(WORKED, producer=form.producer)
    status = next((find_whole_number(fields[name]) for name in _EXIT_FIELDS if name in fields), None)
    if status is not None and form.status is EnvelopeStatus.FAILED:
        first = ("stderr", "error", "output", "stdout")
        quote = get_message(fields, first) or f"exit status {status}"
        return Envelope(form.status, EnvelopeForm.EXIT_STATUS, quote, None, form.producer)
    quote = get_message(fields) or str(fields.get("status") or fields.get("code") or form.status.value)
    return Envelope(form.status, EnvelopeForm.STRUCTURED, quote, _find_error_type(fields), form.producer)


def get_message(fields: Mapping[str, JsonValue], names: Sequence[str] = _MESSAGE_FIELDS) -> str:
    """Return the first text of an envelope that a person would read; empty where there is none."""
    if names is _MESSAGE_FIELDS:
        message = _get_error_message(fields)
        if message:
            return message
    for name in names:
        value = fields.get(name)
        if isinstance(value, dict):
            value = value.get("value") or value.get("message")
        if isinstance(value, list) and value and isinstance(value[0], dict):
            value = value[0].get("msg") or value[0].get("message") or value[0].get("text")
        if isinstance(value, str) and value.strip():
            return value.strip()
    content = fields.get("content")
    if isinstance(content, str):
        return content
    return find_joined_text(content) or ""


def _get_error_message(fields: Mapping[str, JsonValue]) -> str:
    """Return the message in the first field that holds an error as an object, or as a list of errors."""
    for name in _ERROR_FIELDS:
        error = fields.get(name)
        if isinstance(error, list):
            error = error[0] if error else None
        if isinstance(error, str) and name in _ERROR_LISTS and error.strip():
            return error.strip()
        if isinstance(error, dict):
            message = get_message(_normalise_fields(error))
            if message:
                return message
    return ""


def _find_error_type(fields: Mapping[str, JsonValue]) -> str | None:
    """Return the exception's name in an envelope, None where it has none."""
    inner = next(
        (fields[name] for name in ("error", "exception") if isinstance(fields.get(name), dict)), None
    )
    if isinstance(inner, dict):
        found = _find_error_type(_normalise_fields(inner))
        if found is not None:
            return found
    for name in _TYPE_FIELDS:
        value = fields.get(name)
        if isinstance(value, str) and value.isidentifier() and value[:1].isupper() and not value.isupper():
            return value
    return None


def find_joined_text(value: JsonValue) -> str | None:
    """Return the text of a result in parts, as MCP and Anthropic write it; None where it is none."""
    found: list[str] = []
    for part in value if isinstance(value, list) else ():
        if isinstance(part, dict) and part.keys() <= _PART_FIELDS:
            text = part.get("text")
        else:
            text = None
        if not isinstance(text, str):
            return None
        found.append(text)
    return "\n".join(found) if found else None


def _normalise_fields(document: Mapping[str, JsonValue]) -> dict[str, JsonValue]:
    return {normalise_name(str(name)): value for name, value in document.items()}


@lru_cache(maxsize=2048)
def normalise_name(name: str) -> str:
    """Return a member's name without case and separators: `error_code` and `errorCode` are one."""
    return name.replace("_", "").replace("-", "").replace("@", "").lower()
