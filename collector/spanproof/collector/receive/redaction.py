"""Replaces what must not be kept, before a request is written anywhere.

Comes in: a decoded OTLP request of any signal, or a text. Goes out: the same without what the configured
rules match. It fails closed: fields that are not in the schema are dropped, and a document that is nested too
deeply to be walked is replaced as a whole.
"""

from __future__ import annotations

import re
from typing import Any, Final

import orjson
from google.protobuf.descriptor import FieldDescriptor
from google.protobuf.message import Message
from opentelemetry.proto.common.v1.common_pb2 import AnyValue, KeyValue
from opentelemetry.proto.trace.v1.trace_pb2 import Span as OtlpSpan

from spanproof.config.model import RedactionRules
from spanproof.evaluators.answers import compile_pattern
from spanproof.sandbox.scanners.secret_formats import mask_secrets
from spanproof.semconv import spanproof as ours

_MARKS: Final = (ours.CONTENT_TRUNCATED, ours.CONTENT_REDACTED)
_VALUE: Final = (
    # Of a document that is cut or is none: a text to its end, a nested value to the end of all, else a word.
    r"""(?:"(?:[^"\\]|\\.)*"?|'(?:[^'\\]|\\.)*'?|[\[{\\].*|[^\s,}\])]+)"""
)


class Redactor:
    """Applies rules. Thread-safe; to be made only where there are any."""

    def __init__(self, rules: RedactionRules) -> None:
        self._patterns = [compile_pattern(pattern) for pattern in rules.patterns]
        self._keys = frozenset(key.lower() for key in rules.keys)
        self._member = _compile_member(sorted(self._keys)) if rules.keys else None
        self._secrets = rules.secrets
        self._replacement = rules.replacement

    def redact(self, message: Message) -> int:
        """Replace in place what the rules match; returns how many values were changed."""
        message.DiscardUnknownFields()
        return self._message(message)

    def text(self, text: str) -> str:
        """Return a text without what the rules match, also within a JSON document that it is."""
        if text.lstrip()[:1] in ("{", "[") and (self._member is not None or "\\" in text):
            return self._document(text)
        return self._plain(text)

    def _message(self, message: Message) -> int:
        match message:
            case KeyValue():
                return self._pair(message)
            case AnyValue():
                return self._value(message)
        changed = 0
        for field, value in message.ListFields():
            if field.message_type is not None:
                if field.name == "attributes" and isinstance(message, OtlpSpan):
                    changed += self._attributes(message)
                else:
                    changed += sum(map(self._message, value if field.is_repeated else (value,)))
            elif field.type == FieldDescriptor.TYPE_STRING:
                texts = list(value) if field.is_repeated else [value]
                redacted = [self.text(text) for text in texts]
                if redacted != texts:
                    changed += 1
                    message.ClearField(field.name)
                    if field.is_repeated:
                        getattr(message, field.name).extend(redacted)
                    else:
                        setattr(message, field.name, redacted[0])
        return changed

    def _attributes(self, span: OtlpSpan) -> int:
        changed = [pair.key for pair in span.attributes if self._pair(pair)]
        if changed:
            # What evaluates the span has to see that these are not whole.
            for mark in _MARKS:
                pair = next((each for each in span.attributes if each.key == mark), None)
                names = (pair or span.attributes.add(key=mark)).value.array_value.values
                known = {each.string_value for each in names}
                names.extend(AnyValue(string_value=key) for key in changed if key not in known)
        return len(changed)

    def _pair(self, pair: KeyValue) -> int:
        if self._hides(pair.key) and pair.HasField("value"):
            if pair.value.string_value == self._replacement:
                return 0
            pair.value.Clear()
            pair.value.string_value = self._replacement
            return 1
        changed = self._value(pair.value)
        key = self._plain(pair.key)
        if key != pair.key:
            pair.key = key
            return changed + 1
        return changed

    def _value(self, value: AnyValue) -> int:
        match value.WhichOneof("value"):
            case "string_value":
                text = value.string_value
                redacted = self.text(text)
                if redacted == text:
                    return 0
                value.string_value = redacted
            case "int_value" | "double_value" as kind:
                number = getattr(value, kind)
                text = str(number)
                redacted = self._plain(text)
                if redacted == text:
                    return 0
                value.string_value = redacted
            case "bytes_value":
                text = value.bytes_value.decode("latin-1")
                if self.text(text) == text and self._utf8_is_clean(value.bytes_value):
                    return 0
                value.bytes_value = self._replacement.encode()
            case "array_value":
                return sum(map(self._value, value.array_value.values))
            case "kvlist_value":
                return sum(map(self._pair, value.kvlist_value.values))
            case _:
                return 0
        return 1

    def _utf8_is_clean(self, content: bytes) -> bool:
        text = content.decode("utf-8", "replace")
        return self.text(text) == text

    def _document(self, text: str) -> str:
        try:
            document = orjson.loads(text)
            redacted = self._walk(document)
            # Written anew only where it must be: its spelling is the sender's.
            return self._plain(text) if redacted == document else orjson.dumps(redacted).decode()
        except orjson.JSONDecodeError:
            return self._plain(self._members(text))
        except RecursionError:
            return self._replacement

    def _walk(self, value: Any) -> Any:
        match value:
            case str():
                return self.text(value)
            case dict():
                return {
                    self._plain(key): self._replacement if self._hides(key) else self._walk(item)
                    for key, item in value.items()
                }
            case list():
                return [self._walk(item) for item in value]
            case int() | float() if not isinstance(value, bool):
                text = str(value)
                redacted = self._plain(text)
                return value if redacted == text else redacted
        return value

    def _members(self, text: str) -> str:
        if self._member is None or self._member.search(text) is None:
            return text
        return str(self._member.sub(lambda found: f'{found[1]}"{self._replacement}"', text))

    def _plain(self, text: str) -> str:
        for pattern in self._patterns:
            if pattern.search(text) is not None:
                text = pattern.sub(lambda _: self._replacement, text)
        return mask_secrets(text, lambda _: self._replacement) if self._secrets else text

    def _hides(self, key: str) -> bool:
        lowered = key.lower()
        return lowered in self._keys or lowered.rpartition(".")[2] in self._keys


def _compile_member(keys: list[str]) -> Any:
    """Return the pattern of a member in a text that is no document as a whole, with its key as group 1."""
    names = "|".join(map(re.escape, keys))
    return compile_pattern(rf"""(?is)(\\*["'](?:[^"'\s]{{0,100}}\.)?(?:{names})\\*["']\s*[:=]\s*){_VALUE}""")
