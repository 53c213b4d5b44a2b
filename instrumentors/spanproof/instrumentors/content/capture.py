"""Which of the host's content is recorded on a span, and in which size.

`Content` collects the attributes of one span: text, code and JSON values go in; out comes one mapping for one
`set_attributes` call, together with the marks for what is clipped, lossy or hidden. With
capture off nothing of the content goes in at all. Never raises for any value.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from typing import Final

from opentelemetry.util.types import AttributeValue

from spanproof.instrumentors.content.redaction import Redaction, Redactor, find_redactor
from spanproof.instrumentors.content.serialise import encode_value, format_redacted_text
from spanproof.instrumentors.content.texts import format_clipped, format_encodable, get_type_name, to_text
from spanproof.instrumentors.provider.environment import write_variable_warning
from spanproof.semconv import genai, openinference
from spanproof.semconv import spanproof as ours

_CAPTURE: Final = "OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT"
_ENVIRONMENT: Final = "SPANPROOF_RECORD_ENVIRONMENT"
_YES: Final = ("", "true", "1", "yes", "on")
_NO: Final = ("false", "0", "no", "off")
_CAPTURING: Final = (*_YES, "span_only", "span_and_event")
_NOT_CAPTURING: Final = (*_NO, "no_content", "event_only")
# Of an input that is recorded whole elsewhere on its span.
_SHOWN_CHARS: Final = 120
# The SDK cuts what is over its limit and says nothing: our cut, its mark included, has to be under it.
_MARK_CHARS: Final = 160


@dataclass(frozen=True, slots=True)
class ContentPolicy:
    """What may be recorded.

    Attributes:
        capture: inputs, outputs, messages, code and exception messages are recorded.
        max_value_chars: longer values keep head and tail.
        max_code_chars: the same for code, which is evaluated only when whole.
        redaction: what is kept back of it; several where fields differ in that.
        environment: the packages that the process has imported, their versions, the interpreter's and the
            platform are recorded, also where `capture` is off.
    """

    capture: bool = True
    max_value_chars: int = 65_536
    max_code_chars: int = 1_048_576
    redaction: Redaction | Sequence[Redaction] | None = None
    environment: bool = True

    def redactor(self, name: str) -> Redactor | None:
        """Return what redacts an attribute, None when nothing does."""
        if self.redaction is None:
            return None
        return find_redactor(self.redaction, name)

    def permitted(self, text: str, max_chars: int, name: str = genai.EXCEPTION_MESSAGE) -> str | None:
        """Return what may be recorded of a message or stack trace, None when nothing may."""
        if not self.capture:
            return None
        text, redactor = format_encodable(text), self.redactor(name)
        most = min(max_chars, self.max_value_chars)
        return format_clipped(text if redactor is None else format_redacted_text(text, redactor), most)


def read_policy(environ: Mapping[str, str] = os.environ) -> ContentPolicy:
    """Return the policy of the environment.

    Capture is on unless switched off: an evaluation needs the content. `NO_CONTENT` hides it, and so does
    `EVENT_ONLY`, because nothing but spans is written. An unknown value hides it as well: the variable is set
    to limit something.
    """
    capture = environ.get(_CAPTURE, "").strip().lower()
    if capture not in (*_CAPTURING, *_NOT_CAPTURING):
        modes = "SPAN_ONLY, SPAN_AND_EVENT, EVENT_ONLY, NO_CONTENT"
        write_variable_warning(
            _CAPTURE, environ[_CAPTURE], f"is not one of {modes}, so no content is recorded"
        )
    environment = environ.get(_ENVIRONMENT, "").strip().lower()
    if environment not in (*_YES, *_NO):
        problem = "is not true or false, so the environment is not recorded"
        write_variable_warning(_ENVIRONMENT, environ[_ENVIRONMENT], problem)
    limits = (environ.get(f"OTEL_{name}ATTRIBUTE_VALUE_LENGTH_LIMIT", "").strip() for name in ("SPAN_", ""))
    limit = next((int(limit) for limit in limits if limit.isascii() and limit.isdigit()), 1 << 62)
    ceiling = max(limit - _MARK_CHARS, 1)
    return ContentPolicy(
        capture=capture in _CAPTURING,
        max_value_chars=min(_read_limit(environ, "SPANPROOF_MAX_VALUE_CHARS", 65_536), ceiling),
        max_code_chars=min(_read_limit(environ, "SPANPROOF_MAX_CODE_CHARS", 1_048_576), ceiling),
        environment=environment in _YES,
    )


class Content:
    """The attributes of one span in the making.

    Attributes:
        attributes: gathered since the last time they were written; facts may be put in as they are.
        visible: whether content is recorded at all; check it before preparing much.
        policy: what of it.
    """

    _marks: tuple[tuple[str, str], ...] = ()
    _json_shown: tuple[str, ...] = ()

    def __init__(self, policy: ContentPolicy) -> None:
        self.visible = policy.capture
        self.attributes: dict[str, AttributeValue] = {}
        self.policy = policy

    def fact(self, name: str, value: AttributeValue | None) -> None:
        """Set what is not content: a name, a count, a version."""
        if value is not None:
            self.attributes[name] = format_encodable(value) if type(value) is str else value

    def text(self, name: str, value: object) -> None:
        """Set a text, or the `repr` of another value."""
        if self.visible:
            self._put(name, value if type(value) is str else to_text(value), self.policy.max_value_chars)

    def code(self, source: str, language: str | None) -> None:
        """Set code that ran, with its digest where it is clipped."""
        if language is not None:
            self.attributes[ours.CODE_LANGUAGE] = language
        if not self.visible:
            return
        self._put(ours.CODE_SOURCE, source, self.policy.max_code_chars)
        redacted = self._is_marked(ours.CODE_SOURCE, ours.CONTENT_REDACTED)  # its digest could be guessed at
        if not redacted and self._is_marked(ours.CODE_SOURCE, ours.CONTENT_TRUNCATED):
            self.attributes[ours.CODE_SHA256] = sha256(source.encode("utf-8", "surrogatepass")).hexdigest()

    def json(self, name: str, value: object, *, plain: bool = False) -> None:
        """Set a value as JSON with its true type: the string `42` is `"42"`; `plain` as `encode` takes it."""
        if self.visible:
            self._put_json(name, value, plain=plain)

    def document(self, name: str, mime_name: str, value: object) -> None:
        """Set a string as text, everything else as JSON, and its MIME type."""
        if not self.visible:
            return
        if issubclass(type(value), str):  # `isinstance` would ask a lazy proxy for its `__class__`
            self.text(name, value)
            self.attributes[mime_name] = openinference.MIME_TEXT
        else:
            self._put_json(name, value)
            self.attributes[mime_name] = openinference.MIME_JSON

    def input(self, value: object) -> None:
        """Set the span's input."""
        self._show(openinference.INPUT_VALUE, openinference.INPUT_MIME_TYPE, value)

    def output(self, value: object) -> None:
        """Set the span's output."""
        self._show(openinference.OUTPUT_VALUE, openinference.OUTPUT_MIME_TYPE, value)

    def beginning(self, value: str) -> None:
        """Set the head of an input that the span's messages hold whole."""
        more = f" … [{len(value)} characters]"
        # Of a secret that is cut in two a pattern would see neither half.
        cut = len(value) > _SHOWN_CHARS + len(more) and self.policy.redaction is None
        self.input(value[:_SHOWN_CHARS] + more if cut else value)

    def holds(self, name: str) -> bool:
        """Return whether an attribute is set, and whole."""
        marked = self._is_marked(name, ours.CONTENT_TRUNCATED) or self._is_marked(name, ours.CONTENT_REDACTED)
        return name in self.attributes and not marked

    def input_json(self, name: str, value: object) -> None:
        """Set a JSON value under its own name and as the span's input, encoded once."""
        if self.visible:
            self._put_twice(name, openinference.INPUT_VALUE, openinference.INPUT_MIME_TYPE, value)

    def output_json(self, name: str, value: object) -> None:
        """Set a JSON value under its own name and as the span's output, encoded once."""
        if self.visible:
            self._put_twice(name, openinference.OUTPUT_VALUE, openinference.OUTPUT_MIME_TYPE, value)

    def result_type(self, value: object) -> None:
        """Record the Python type of a tool's result, where JSON does not show it."""
        kind = type(value)
        # One by one: to look for it in a set would ask its metaclass for a hash.
        is_number = kind is int or kind is float or kind is bool
        is_shown_by_json = is_number or kind is str or kind is dict or kind is list
        if value is not None and not is_shown_by_json:
            self.attributes[ours.TOOL_RESULT_TYPE] = get_type_name(value)

    def finished(self) -> dict[str, AttributeValue]:
        """Return and clear the attributes, with marks for those that are not whole."""
        gathered, self.attributes = self.attributes, {}
        if self._marks:
            gathered.update(self._collect_marks())
        return gathered

    def _collect_marks(self) -> dict[str, AttributeValue]:
        by_mark: dict[str, list[str]] = {}
        for mark, name in self._marks:
            by_mark.setdefault(mark, []).append(name)
        redacted = by_mark.get(ours.CONTENT_REDACTED, [])
        if redacted:  # what knows of nothing kept back has to see that it is not whole
            by_mark[ours.CONTENT_TRUNCATED] = [*by_mark.get(ours.CONTENT_TRUNCATED, []), *redacted]
        return {**by_mark}

    def _is_marked(self, name: str, mark: str) -> bool:
        return (mark, name) in self._marks

    def _show(self, name: str, mime_name: str, value: object) -> None:
        """Set as `document` does; without a MIME type a value is text in OpenInference."""
        if mime_name in self._json_shown or not issubclass(type(value), str):
            self._json_shown = (*self._json_shown, mime_name)
            self.document(name, mime_name, value)
        else:
            self.text(name, value)

    def _put_twice(self, name: str, shown: str, mime_name: str, value: object) -> None:
        self._put_json(name, value)
        if issubclass(type(value), str):
            self._show(shown, mime_name, value)
            return
        self.attributes[shown] = self.attributes[name]
        self.attributes[mime_name] = openinference.MIME_JSON
        self._json_shown = (*self._json_shown, mime_name)
        if self._marks:
            self._marks += tuple((mark, shown) for mark, marked in self._marks if marked == name)

    def _put_json(self, name: str, value: object, *, plain: bool = False) -> None:
        encoded = encode_value(value, self.policy.max_value_chars, self.policy.redactor(name), plain=plain)
        self.attributes[name] = encoded.text
        for mark, holds in (
            (ours.CONTENT_TRUNCATED, encoded.truncated),
            (ours.CONTENT_REDACTED, encoded.redacted),
            (ours.CONTENT_LOSSY, encoded.lossy),
        ):
            if holds:
                self._marks += ((mark, name),)

    def _put(self, name: str, value: str, limit: int) -> None:
        if not value.isascii():
            value = format_encodable(value)
        if self.policy.redaction is None and len(value) <= limit:
            self.attributes[name] = value
            return
        redactor = self.policy.redactor(name)
        if redactor is not None:
            kept = format_redacted_text(value, redactor)
            if kept != value:
                self._marks += ((ours.CONTENT_REDACTED, name),)
                value = kept
        if len(value) > limit:
            self._marks += ((ours.CONTENT_TRUNCATED, name),)
            value = format_clipped(value, limit)
        self.attributes[name] = value


def _read_limit(environ: Mapping[str, str], name: str, default: int) -> int:
    raw = environ.get(name, "").strip()
    if raw.isascii() and raw.isdigit() and int(raw) > 0:
        return int(raw)
    if raw:
        write_variable_warning(name, raw, f"is not a whole number above 0, so {default} is used")
    return default
