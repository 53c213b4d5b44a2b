"""What of the host's content goes onto a span, and in which size.

`Content` collects the attributes of one span: text, code and JSON values go in; out comes one mapping for one
`set_attributes` call, together with the marks that tell a reader what is clipped, lossy or hidden. With
capture off nothing of the content goes in at all. Never raises for any value.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from typing import Any, Final

from opentelemetry.util.types import AttributeValue

from spanproof.instrumentors.redaction import Redaction, Redactor, redactor_of
from spanproof.instrumentors.serialise import (
    clip,
    dumps_or_none,
    encode,
    is_easy,
    redacted_text,
    text_of,
    type_name,
    well_formed,
)
from spanproof.semconv import genai, openinference
from spanproof.semconv import spanproof as ours

CAPTURE_VARIABLE: Final = "OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT"
_CAPTURING: Final = {"", "span_only", "span_and_event", "true", "1", "yes", "on"}
_NOT_CAPTURING: Final = {"no_content", "event_only", "false", "0", "no", "off"}
_LIMIT_VARIABLES: Final = ("OTEL_SPAN_ATTRIBUTE_VALUE_LENGTH_LIMIT", "OTEL_ATTRIBUTE_VALUE_LENGTH_LIMIT")
_FOREIGN: Final = {"tool_call": "arguments", "tool_call_response": "response"}
"""Where in a message's part a value of the host's stands."""
_TYPES_OF_JSON: Final = frozenset({str, int, float, bool, type(None), list, dict})
_SHOWN_CHARS: Final = 120
"""Of an input that stands whole elsewhere on its span."""
_MARK_CHARS: Final = 160
"""The SDK cuts what is over its limit and says nothing: our cut, its mark included, has to be under it."""


@dataclass(frozen=True, slots=True)
class ContentPolicy:
    """What may be recorded.

    Attributes:
        capture: inputs, outputs, messages, code and exception messages are recorded.
        max_value_chars: longer values keep head and tail.
        max_code_chars: the same for code, which is evaluated only when whole.
        redaction: what is kept back of it; several where fields differ in that.
    """

    capture: bool = True
    max_value_chars: int = 65_536
    max_code_chars: int = 1_048_576
    redaction: Redaction | Sequence[Redaction] | None = None

    def redactor(self, name: str) -> Redactor | None:
        """What keeps parts of an attribute back, None when nothing does."""
        return redactor_of(self.redaction, name)

    def said(self, text: str, max_chars: int, name: str = genai.EXCEPTION_MESSAGE) -> str | None:
        """What may be told of a message or stack trace, None when nothing may."""
        if not self.capture:
            return None
        redactor = self.redactor(name)
        return clip(text if redactor is None else redacted_text(text, redactor), max_chars)


def policy_from(environ: Mapping[str, str] = os.environ) -> ContentPolicy:
    """The policy the environment asks for.

    Capture is on unless switched off: an evaluation needs the content. `NO_CONTENT` hides it, and so does
    `EVENT_ONLY`, because nothing but spans is written. An unknown value hides as well: whoever sets the
    variable means to limit something.
    """
    wish = environ.get(CAPTURE_VARIABLE, "").strip().lower()
    limits = [int(raw) for name in _LIMIT_VARIABLES if (raw := environ.get(name, "").strip()).isdigit()]
    ceiling = max(min(limits) - _MARK_CHARS, 1) if limits else None
    return ContentPolicy(
        capture=wish in _CAPTURING,
        max_value_chars=min(_chars(environ, "SPANPROOF_MAX_VALUE_CHARS", 65_536), ceiling or 1 << 62),
        max_code_chars=min(_chars(environ, "SPANPROOF_MAX_CODE_CHARS", 1_048_576), ceiling or 1 << 62),
    )


class Content:
    """The attributes of one span in the making."""

    __slots__ = ("_json_shown", "_lossy", "_policy", "_redacted", "_truncated", "attributes")

    def __init__(self, policy: ContentPolicy) -> None:
        self.attributes: dict[str, AttributeValue] = {}
        self._policy = policy
        self._truncated: list[str] = []
        self._lossy: list[str] = []
        self._redacted: list[str] = []
        self._json_shown: set[str] = set()
        if not policy.capture:
            self.attributes[ours.CONTENT_HIDDEN] = True

    @property
    def visible(self) -> bool:
        """Whether content is recorded at all; ask before preparing much."""
        return self._policy.capture

    def fact(self, name: str, value: AttributeValue | None) -> None:
        """Something that is no content: a name, a count, a version."""
        if type(value) is str:
            self.attributes[name] = value if value.isascii() else well_formed(value)
        elif value is not None:
            self.attributes[name] = value

    def text(self, name: str, value: str) -> None:
        """A text."""
        if self._policy.capture:
            self._put(name, well_formed(value), self._policy.max_value_chars)

    def code(self, source: str, language: str | None) -> None:
        """Code that ran, with its digest."""
        self.fact(ours.CODE_LANGUAGE, language)
        if not self._policy.capture:
            return
        self._put(ours.CODE_SOURCE, well_formed(source), self._policy.max_code_chars)
        if ours.CODE_SOURCE not in self._redacted:  # a digest of what is kept back could be guessed at
            self.attributes[ours.CODE_SHA256] = sha256(source.encode("utf-8", "surrogatepass")).hexdigest()

    def json(self, name: str, value: object) -> None:
        """A value as JSON with its true type: the string `42` is `"42"`."""
        if self._policy.capture:
            self._json(name, value)

    def document(self, name: str, mime_name: str, value: object) -> None:
        """A value as its backend shows it: a string as text, everything else as JSON, and which it is."""
        if not self._policy.capture:
            return
        if issubclass(type(value), str):  # `isinstance` would ask a lazy proxy for its `__class__`
            self._put(name, text_of(value), self._policy.max_value_chars)
            self.attributes[mime_name] = openinference.MIME_TEXT
        else:
            self._json(name, value)
            self.attributes[mime_name] = openinference.MIME_JSON

    def messages(self, name: str, documents: list[dict[str, Any]]) -> None:
        """Messages as JSON; of those that `messages` made, only arguments and results are foreign values."""
        policy = self._policy
        if not policy.capture:
            return
        if policy.redaction is None:
            room = policy.max_value_chars
            for document in documents:
                for part in document["parts"]:
                    if part["type"] == "text":
                        room -= len(part["content"])
                    elif part["type"] not in _FOREIGN or not is_easy(part[_FOREIGN[part["type"]]], room):
                        room = -1
            text = dumps_or_none(documents) if room >= 0 else None
            if text is not None and len(text) <= policy.max_value_chars:
                self.attributes[name] = text
                return
        self._json(name, documents)

    def input(self, value: object) -> None:
        """What went in, in OpenInference's words."""
        self._show(openinference.INPUT_VALUE, openinference.INPUT_MIME_TYPE, value)

    def output(self, value: object) -> None:
        """What came out, in OpenInference's words."""
        self._show(openinference.OUTPUT_VALUE, openinference.OUTPUT_MIME_TYPE, value)

    def beginning(self, value: str) -> None:
        """What went in where the span's messages hold it whole: as much of it as a list shows."""
        more = f" … [{len(value)} characters]"
        # Of a secret that is cut in two a pattern would see neither half.
        cut = len(value) > _SHOWN_CHARS + len(more) and self._policy.redaction is None
        self.input(value[:_SHOWN_CHARS] + more if cut else value)

    def holds(self, name: str) -> bool:
        """Whether an attribute is there, and whole."""
        return name in self.attributes and name not in self._truncated and name not in self._redacted

    def input_json(self, name: str, value: object) -> None:
        """A JSON value under its own name and as the span's input, encoded once."""
        self._twice(name, openinference.INPUT_VALUE, openinference.INPUT_MIME_TYPE, value)

    def output_json(self, name: str, value: object) -> None:
        """A JSON value under its own name and as the span's output, encoded once."""
        self._twice(name, openinference.OUTPUT_VALUE, openinference.OUTPUT_MIME_TYPE, value)

    def result_type(self, value: object) -> None:
        """The Python type of a tool's result, where JSON does not tell it."""
        if type(value) not in _TYPES_OF_JSON:
            self.attributes[ours.TOOL_RESULT_TYPE] = type_name(value)

    def finished(self) -> dict[str, AttributeValue]:
        """The attributes gathered since the last time, with the marks of all that is not whole."""
        not_whole = [*self._truncated, *self._redacted]
        if not_whole:
            self.attributes[ours.CONTENT_TRUNCATED] = not_whole
        if self._redacted:
            self.attributes[ours.CONTENT_REDACTED] = self._redacted
        if self._lossy:
            self.attributes[ours.CONTENT_LOSSY] = self._lossy
        gathered, self.attributes = self.attributes, {}
        return gathered

    def _show(self, name: str, mime_name: str, value: object) -> None:
        """As `document`; what names no MIME type is text in OpenInference."""
        if issubclass(type(value), str) and mime_name not in self._json_shown:
            self.text(name, text_of(value))
        else:
            self._json_shown.add(mime_name)
            self.document(name, mime_name, value)

    def _twice(self, name: str, shown: str, mime_name: str, value: object) -> None:
        if not self._policy.capture:
            return
        self._json(name, value)
        if issubclass(type(value), str):
            self._show(shown, mime_name, value)
            return
        self.attributes[shown] = self.attributes[name]
        self.attributes[mime_name] = openinference.MIME_JSON
        self._json_shown.add(mime_name)
        for marked in (self._truncated, self._lossy, self._redacted):
            if name in marked:
                marked.append(shown)

    def _json(self, name: str, value: object) -> None:
        encoded = encode(value, self._policy.max_value_chars, self._policy.redactor(name))
        self.attributes[name] = encoded.text
        if encoded.truncated:
            self._truncated.append(name)
        if encoded.redacted:
            self._redacted.append(name)
        if encoded.lossy:
            self._lossy.append(name)

    def _put(self, name: str, value: str, limit: int) -> None:
        redactor = None if self._policy.redaction is None else self._policy.redactor(name)
        if redactor is not None:
            kept = redacted_text(value, redactor)
            if kept != value:
                self._redacted.append(name)
                value = kept
        if len(value) > limit:
            self._truncated.append(name)
            value = clip(value, limit)
        self.attributes[name] = value


def _chars(environ: Mapping[str, str], name: str, default: int) -> int:
    raw = environ.get(name, "").strip()
    return int(raw) if raw.isdigit() and int(raw) > 0 else default
