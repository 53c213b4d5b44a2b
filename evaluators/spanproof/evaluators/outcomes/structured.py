"""Failures in structured results: error envelopes, exit statuses, HTTP statuses, `isError`.

In: a decoded result. Out: what it says of failure, or None. A document with data of its own is data, whatever
its fields are called: only an envelope, whose other fields are empty or belong to the envelope, is a failure.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from spanproof.trace import JsonValue

_EXIT_STATUS = (
    "exit_code",
    "exitCode",
    "exit_status",
    "exitStatus",
    "returncode",
    "return_code",
    "returnCode",
)
# Fields of error envelopes, lower case.
_ENVELOPE = frozenset(
    str.split(
        "error errors error_type errortype error_code errorcode error_message errormessage err"
        " message msg detail details reason code status statuscode status_code success ok iserror"
        " is_error type title instance hint description trace stack stacktrace traceback exception"
        " path timestamp time request_id requestid trace_id traceid retryable retry_after retryafter"
        " documentation_url content help suggestion jsonrpc name kind cause tool tool_name"
        " tool_call_id query sql sqlstate position line column state statustext method url"
    )
)

_FAILED_STATUS = frozenset({"error", "failed", "failure", "fail", "exception", "timeout", "unavailable"})
_DATA = frozenset({"name", "content"})
_OK_STATUS = frozenset({"ok", "success", "succeeded", "completed", "done"})
_LEAST_HTTP_ERROR, _MOST_HTTP_ERROR = 400, 599


@dataclass(frozen=True, slots=True)
class Failing:
    """A failure in a structured result; `exit_status` where that is what says so."""

    quote: str
    error_type: str | None = None
    exit_status: int | None = None


def read_structured(value: JsonValue) -> Failing | None:
    """Return the failure a decoded result reports, None where it reports none."""
    if not isinstance(value, dict):
        return None
    fields = {str(key).lower(): item for key, item in value.items()}
    status = next((value[name] for name in _EXIT_STATUS if name in value), None)
    if isinstance(status, int) and not isinstance(status, bool):
        if status == 0:
            return None
        said = _find_first_text(fields, "stderr", "error", "output", "stdout")
        return Failing(said or f"exit status {status}", exit_status=status)
    if fields.get("iserror") is True or fields.get("is_error") is True:
        return Failing(_read_message(fields) or "isError")
    if fields.keys() <= {"status", "data", "message"} and fields.get("status") in {"fail", "error"}:
        return Failing(_read_message(fields) or str(fields.get("data") or "failure"))  # JSend
    if not _is_envelope(fields):
        return None
    for name in ("error", "errors", "exception", "err"):
        if (found := _read_error(fields.get(name))) is not None:
            return found if found.error_type else Failing(found.quote, _find_error_type(fields))
    if _declares_failure(fields):
        return Failing(
            _read_message(fields) or str(fields.get("status") or "failure"), _find_error_type(fields)
        )
    if fields.keys() == {"detail"} and isinstance(fields["detail"], str):
        return Failing(fields["detail"])
    return None


def join_text_parts(value: JsonValue) -> str | None:
    """Return the text of a result in parts, as MCP and Anthropic write it; None where it is none."""
    parts = value if isinstance(value, list) else []
    texts = [
        part.get("text")
        for part in parts
        if isinstance(part, dict) and part.keys() <= {"type", "text", "annotations"}
    ]
    found = [text for text in texts if isinstance(text, str)]
    return "\n".join(found) if found and len(found) == len(parts) else None


def find_exit_status(value: JsonValue) -> int | None:
    """Return the exit status in a decoded result, None where there is none."""
    if not isinstance(value, dict):
        return None
    status = next((value[name] for name in _EXIT_STATUS if name in value), None)
    return status if isinstance(status, int) and not isinstance(status, bool) else None


def _is_envelope(fields: Mapping[str, JsonValue]) -> bool:
    """Whether every field belongs to an error envelope, or holds nothing."""
    carries = {name for name, item in fields.items() if item not in (None, "", [], {}, False, 0)}
    if "jsonrpc" in carries:
        carries.discard("id")
    return carries <= _ENVELOPE


def _read_error(given: JsonValue) -> Failing | None:
    if isinstance(given, list):
        given = given[0] if given else None
    if isinstance(given, str) and given.strip() and given.strip().lower() not in {"none", "null", "no error"}:
        return Failing(given)
    if isinstance(given, dict):
        fields = {str(key).lower(): item for key, item in given.items()}
        message = _read_message(fields)
        return Failing(message, _find_error_type(fields)) if message else None
    return Failing("error") if given is True else None


def _declares_failure(fields: Mapping[str, JsonValue]) -> bool:
    """Whether a status, a code or a flag of an envelope says that it failed."""
    if fields.get("success") is False or fields.get("ok") is False:
        return True
    status = fields.get("status", fields.get("statuscode", fields.get("status_code", fields.get("code"))))
    said = any(
        fields.get(name) for name in ("message", "msg", "detail", "title", "reason", "details", "error")
    )
    if isinstance(status, str) and status.isdigit():
        status = int(status)
    if isinstance(status, int) and not isinstance(status, bool):
        return _LEAST_HTTP_ERROR <= status <= _MOST_HTTP_ERROR and said
    if not isinstance(status, str) or status.lower() not in _FAILED_STATUS:
        return False
    return said and not _DATA & fields.keys()


def _read_message(fields: Mapping[str, JsonValue]) -> str:
    said = _find_first_text(
        fields, "message", "msg", "detail", "details", "reason", "title", "error", "description"
    )
    if said:
        return said
    parts = fields.get("content")
    texts = (
        [part.get("text") for part in parts if isinstance(part, dict)] if isinstance(parts, list) else [parts]
    )
    return "\n".join(text for text in texts if isinstance(text, str))


def _find_first_text(fields: Mapping[str, JsonValue], *names: str) -> str:
    given = (fields.get(name) for name in names)
    return next((item.strip() for item in given if isinstance(item, str) and item.strip()), "")


def _find_error_type(fields: Mapping[str, JsonValue]) -> str | None:
    name = next(
        (fields[key] for key in ("error_type", "errortype", "type", "exception", "name") if key in fields),
        None,
    )
    return name if isinstance(name, str) and name.isidentifier() and name[:1].isupper() else None
