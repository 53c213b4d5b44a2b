"""Why a span failed: from exception events, the status, `error.type` or a dialect's own fields.

The same exception may stand on a span twice (some producers record it in two places): it is given once. What
lies behind it is read from the stack trace, where Python writes every exception of the chain.
"""

from __future__ import annotations

import re

from spanproof.semconv import genai
from spanproof.trace import Event, SpanError
from spanproof.trace.dialects.decode import NotDecoded, parse_literal
from spanproof.trace.dialects.raw import RawSpan

_EXCEPTION_EVENT = "exception"
# `_OTHER` is OTel's word for "not known"; a bare `Exception` says as little.
_UNKNOWN_TYPES = frozenset({"_OTHER", "Exception", ""})

# Exceptions by which a closed stream or a paused graph ends: no failure.
_CONTROL_FLOW = frozenset({"GeneratorExit", "GraphInterrupt", "NodeInterrupt", "GraphBubbleUp"})

_TYPED_MESSAGE = re.compile(r"(?P<type>[A-Za-z_][\w.]*(?:Error|Exception|Exit|Interrupt|Timeout|Warning)): ")
_CAUSE = re.compile(r"(?:due to:?|: )\s*(?P<type>[A-Z]\w*(?:Error|Exception|Exit|Interrupt)): ")
# What JavaScript prints of an exception: LangChain's instrumentor puts it below the message.
_JAVASCRIPT_STACK = re.compile(
    r"(?:^|\n\n)(?P<type>[A-Z]\w*): (?P<message>[^\n]*(?:\n(?! +at )[^\n]*)*)\n +at "
)
# What the OpenAI Agents SDK of JavaScript writes of a tool's failure: its message, and the JSON of its data.
_WITH_DATA = re.compile(r"(?P<message>Error running tool \(non-fatal\): )(?P<data>\{.*\})", re.DOTALL)
_RAISED_LINE = re.compile(r"^(?P<type>[A-Za-z_][\w.]*)(?::.*)?$")


def find_error(raw: RawSpan) -> SpanError | None:
    """Return the error of this span, None where it did not fail."""
    event = next((event for event in reversed(raw.events) if event.name == _EXCEPTION_EVENT), None)
    if event is not None and (raw.failed or _read_text(event, "exception.escaped") != "False"):
        return _from_event(event)
    declared = raw.find_text(genai.ERROR_TYPE)
    if raw.failed or declared is not None:
        return from_text(raw.status_message, declared)
    return None


def from_text(message: str, declared_type: str | None = None) -> SpanError | None:
    """Return the error in a status message; None where it is only control flow."""
    message = _read_message(message)
    declared_type, message = _split_javascript_stack(message, declared_type)
    typed = _TYPED_MESSAGE.match(message)
    name = declared_type if declared_type not in _UNKNOWN_TYPES else None
    if typed is not None and (name is None or _format_type(typed["type"]) == _format_type(name)):
        name, message = typed["type"], message[typed.end() :]
    return _find_error_of(_format_type(name) if name else None, message, ())


def _from_event(event: Event) -> SpanError | None:
    name = _format_type(_read_text(event, "exception.type"))
    chain = _parse_chain(_read_text(event, "exception.stacktrace"))
    message = _read_message(_read_text(event, "exception.message"))
    declared, message = _split_javascript_stack(message, name or None)
    return _find_error_of(declared, message, chain)


def _split_javascript_stack(message: str, declared_type: str | None) -> tuple[str | None, str]:
    """Return the type and the message of an exception, without the stack trace that JavaScript prints."""
    stack = _JAVASCRIPT_STACK.search(message)
    if stack is None:
        return declared_type, message
    return declared_type or stack["type"], stack["message"]


def _find_error_of(name: str | None, message: str, chain: tuple[str, ...]) -> SpanError | None:
    if name in _CONTROL_FLOW:
        return None
    cause = _CAUSE.search(message)
    if cause is not None and cause["type"] not in chain:
        # Frameworks put the cause into their own message, even where the stack trace was cut or lost.
        chain = (*(chain or ((name,) if name else ())), cause["type"])
    return SpanError(name, message, chain)


def _parse_chain(stacktrace: str) -> tuple[str, ...]:
    """Return the names of the exceptions of a printed chain, outermost first (Python prints it last)."""
    names: list[str] = []
    after_frame = False
    for line in stacktrace.splitlines():
        if line.startswith((" ", "\t")):
            after_frame = True
            continue
        raised = _RAISED_LINE.match(line) if after_frame else None
        if raised is not None:
            name = _format_type(raised["type"])
            if not names or names[-1] != name:
                names.append(name)
        after_frame = False
    return tuple(reversed(names))


def _read_message(message: str) -> str:
    """Return the message; where a producer wrote a dictionary into it, the texts in that."""
    with_data = _WITH_DATA.fullmatch(message)
    stem, data = (with_data["message"], with_data["data"]) if with_data else ("", message)
    if not data.startswith("{"):
        return message
    try:
        value = parse_literal(data)
    except NotDecoded:
        return message
    texts = list(_list_texts(value))
    return stem + ": ".join(texts) if texts else message


def _list_texts(value: object) -> list[str]:
    if isinstance(value, str):
        return [value]
    if isinstance(value, dict):
        inner = [value[key] for key in ("message", "error", "data") if key in value]
        return [text for item in inner for text in _list_texts(item)]
    return []


def _read_text(event: Event, key: str) -> str:
    value = event.attributes.get(key)
    return value if isinstance(value, str) else ""


def _format_type(name: str) -> str:
    return name.rpartition(".")[2]
