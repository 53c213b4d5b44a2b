"""Replaces what must not be kept, before a request is written anywhere.

Comes in: a decoded OTLP request of any signal, or a text. Goes out: the same without what the configured
rules match. It fails closed: fields that are not in the schema are dropped, and a document that is nested too
deeply to be walked is replaced as a whole.
"""

from __future__ import annotations

import re
from typing import Any, Final

import orjson
from google.protobuf.message import Message
from opentelemetry.proto.common.v1.common_pb2 import AnyValue, KeyValue
from opentelemetry.proto.trace.v1.trace_pb2 import Span as OtlpSpan

from spanproof.collector.receive.values import Node, Values, encode_texts, is_document
from spanproof.config.model import RedactionRules
from spanproof.evaluators.answers import parse_pattern
from spanproof.sandbox.scanners.secret_formats import MASKED_KEYWORDS, without_secrets
from spanproof.semconv import spanproof as ours

_MARKS: Final = (ours.CONTENT_TRUNCATED, ours.CONTENT_REDACTED)
_VALUE: Final = (
    # Of a document that is cut or is none: a text to its end, a nested value to the end of all, else a word.
    r"""(?:"(?:[^"\\]|\\.)*"?|'(?:[^'\\]|\\.)*'?|[\[{\\].*|[^\s,}\])]+)"""
)


# Of a pattern: what holds at the ends of a text and not at those of a line, or takes a flag back.
_ONLY_AT_ENDS: Final = re.compile(r"\\[Az]|\(\?[a-zA-Z]*-")


class Redactor:
    """Applies rules. Thread-safe; to be made only where there are any."""

    def __init__(self, rules: RedactionRules) -> None:
        self._patterns = [parse_pattern(pattern) for pattern in rules.patterns]
        self._keys = frozenset(key.lower() for key in rules.keys)
        self._member = _build_member_pattern(sorted(self._keys)) if rules.keys else None
        self._secrets = rules.secrets
        self._replacement = rules.replacement
        self._screen = _find_screen(rules)

    def redact(self, message: Message) -> int:
        """Replace in place what the rules match; returns how many values were changed."""
        message.DiscardUnknownFields()
        if self._screen is not None and self._screen.search(encode_texts(message)) is None:
            return 0
        values = Values()
        values.add_message(message)
        suspects = range(len(values.nodes)) if self._screen is None else values.list_matches(self._screen)
        changed = 0
        for index in sorted(suspects):
            changed += self._redact_node(values.nodes[index])
        return changed

    def redact_text(self, text: str) -> str:
        """Return a text without what the rules match, also within a JSON document that it is."""
        if is_document(text) and (self._member is not None or "\\" in text):
            return self._redact_document(text)
        return self._redact_plain_text(self._redact_members(text))

    def _redact_node(self, node: Node) -> int:
        if isinstance(node.message, KeyValue):
            key = node.message.key
            changed = self._redact_pair(node.message)
            if changed and node.span is not None:
                _record_incomplete(node.span, key)
            return changed
        if node.field is None:
            return self._redact_value(node.message)
        texts = getattr(node.message, node.field)
        if isinstance(texts, str):
            redacted = self.redact_text(texts)
            if redacted == texts:
                return 0
            setattr(node.message, node.field, redacted)
            return 1
        changed_texts = [self.redact_text(text) for text in texts]
        if changed_texts == list(texts):
            return 0
        texts[:] = changed_texts
        return 1

    def _redact_pair(self, pair: KeyValue) -> int:
        if self._hides(pair.key) and pair.HasField("value"):
            if pair.value.string_value == self._replacement:
                return 0
            pair.value.Clear()
            pair.value.string_value = self._replacement
            return 1
        changed = self._redact_value(pair.value)
        key = self._redact_plain_text(pair.key)
        if key != pair.key:
            pair.key = key
            return changed + 1
        return changed

    def _redact_value(self, value: AnyValue) -> int:
        match value.WhichOneof("value"):
            case "string_value":
                text = value.string_value
                redacted = self.redact_text(text)
                if redacted == text:
                    return 0
                value.string_value = redacted
            case "int_value" | "double_value" as kind:
                number = getattr(value, kind)
                text = str(number)
                redacted = self._redact_plain_text(text)
                if redacted == text:
                    return 0
                value.string_value = redacted
            case "bytes_value":
                text = value.bytes_value.decode("latin-1")
                if self.redact_text(text) == text and self._is_clean_utf8(value.bytes_value):
                    return 0
                value.bytes_value = self._replacement.encode()
            case "array_value":
                return sum(map(self._redact_value, value.array_value.values))
            case "kvlist_value":
                return sum(map(self._redact_pair, value.kvlist_value.values))
            case _:
                return 0
        return 1

    def _is_clean_utf8(self, content: bytes) -> bool:
        text = content.decode("utf-8", "replace")
        return self.redact_text(text) == text

    def _redact_document(self, text: str) -> str:
        try:
            document = orjson.loads(text)
            redacted = self._walk(document)
            # Written anew only where it must be: its spelling is the sender's.
            return self._redact_plain_text(text) if redacted == document else orjson.dumps(redacted).decode()
        except orjson.JSONDecodeError:
            return self._redact_plain_text(self._redact_members(text))
        except RecursionError:
            return self._replacement

    def _walk(self, value: Any) -> Any:
        match value:
            case str():
                return self.redact_text(value)
            case dict():
                return {
                    self._redact_plain_text(key): self._replacement if self._hides(key) else self._walk(item)
                    for key, item in value.items()
                }
            case list():
                return [self._walk(item) for item in value]
            case int() | float() if not isinstance(value, bool):
                text = str(value)
                redacted = self._redact_plain_text(text)
                return value if redacted == text else redacted
        return value

    def _redact_members(self, text: str) -> str:
        if self._member is None or self._member.search(text) is None:
            return text
        return str(self._member.sub(lambda found: f'{found[1]}"{self._replacement}"', text))

    def _redact_plain_text(self, text: str) -> str:
        for pattern in self._patterns:
            if pattern.search(text) is not None:
                text = pattern.sub(lambda _: self._replacement, text)
        return without_secrets(text, lambda _: self._replacement) if self._secrets else text

    def _hides(self, key: str) -> bool:
        lowered = key.lower()
        return lowered in self._keys or lowered.rpartition(".")[2] in self._keys


def _find_screen(rules: RedactionRules) -> Any | None:
    """Return one pattern that matches wherever a rule does in any line of many; None where that takes more.

    One alternation and no `re2.Set`: a set whose automaton outgrows its memory reports no match.
    """
    if any(_ONLY_AT_ENDS.search(pattern) for pattern in rules.patterns):
        return None
    words = [re.escape(word) for word in (*rules.keys, *(MASKED_KEYWORDS if rules.secrets else ()))]
    alternatives = [f"(?m:{pattern})" for pattern in rules.patterns]
    if words:
        alternatives.append(f"(?i:{'|'.join(words)})")
    try:
        return parse_pattern("|".join(alternatives))
    except ValueError:  # two rules have groups of one name
        return None


def _record_incomplete(span: OtlpSpan, key: str) -> None:
    """Name an attribute among those that are not whole, which is what the evaluation goes by."""
    for mark in _MARKS:
        pair = next((attribute for attribute in span.attributes if attribute.key == mark), None)
        names = (pair or span.attributes.add(key=mark)).value.array_value.values
        if all(value.string_value != key for value in names):
            names.add(string_value=key)


def _build_member_pattern(keys: list[str]) -> Any:
    """Return the pattern of a member in a text that is no document as a whole, with its key as group 1."""
    names = "|".join(map(re.escape, keys))
    return parse_pattern(rf"""(?is)(\\*["'](?:[^"'\s]{{0,100}}\.)?(?:{names})\\*["']\s*[:=]\s*){_VALUE}""")
