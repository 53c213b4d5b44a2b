"""traceAI: OpenInference's shape under `gen_ai.*` names, kinds as `gen_ai.span.kind` or `fi.span.kind`.

`gen_ai.input.messages` is a prefix here where OTel GenAI writes one JSON attribute. Values are wrapped in
one-key objects, and messages inside them may be printed instead of serialised.
"""

from __future__ import annotations

from spanproof.semconv import genai
from spanproof.semconv import openinference as oi
from spanproof.trace import Payload
from spanproof.trace.dialects.decode import NotDecoded, as_text, parse_json, to_payload
from spanproof.trace.dialects.openinference import find_usage, parse_kind, read_content, with_facts
from spanproof.trace.dialects.raw import RawSpan
from spanproof.trace.dialects.reading import Dialect, Reading

_KIND_KEYS = ("gen_ai.span.kind", "fi.span.kind")
_WRAPPERS = frozenset({"output", "_value"})


def read_span(raw: RawSpan) -> Reading:
    """Return the content of a span written by traceAI."""
    kind = parse_kind(raw.find_text(*_KIND_KEYS))
    arguments = to_payload(
        raw.get_first(oi.INPUT_VALUE, "gen_ai.input.value"), raw.find_text(oi.INPUT_MIME_TYPE)
    )
    if arguments is not None and arguments.value == {} and not arguments.typed:
        # What its OpenAI Agents instrumentor writes where it has no input, and with content capture off.
        arguments = None
    shown = to_payload(
        raw.get_first(oi.OUTPUT_VALUE, "gen_ai.output.value"), raw.find_text(oi.OUTPUT_MIME_TYPE)
    )
    reading = read_content(
        raw, kind, _find_value(arguments), _find_value(shown), genai.INPUT_MESSAGES, genai.OUTPUT_MESSAGES
    )
    prompt, completion = (
        raw.find_integer(genai.USAGE_INPUT_TOKENS),
        raw.find_integer(genai.USAGE_OUTPUT_TOKENS),
    )
    model = raw.find_text(genai.REQUEST_MODEL, genai.RESPONSE_MODEL)
    return with_facts(raw, reading, find_usage(prompt, completion), model)


def _find_value(payload: Payload | None) -> Payload | None:
    if payload is None:
        return None
    if isinstance(payload.value, dict) and len(payload.value) == 1 and payload.value.keys() <= _WRAPPERS:
        value = next(iter(payload.value.values()))
        return Payload(as_text(value), value, typed=not isinstance(value, str))
    if isinstance(payload.value, str) and payload.text.startswith('"'):
        try:
            value = parse_json(payload.text)
        except NotDecoded:
            return payload
        if isinstance(value, str):
            return Payload(value, value, typed=True)
        return payload
    return payload


DIALECT = Dialect("traceai", ("traceai_", "traceai."), _KIND_KEYS, read_span)
