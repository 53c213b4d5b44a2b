"""Inputs for the receivers and dialects that no client would send, and what must hold for each.

Usage: python tests/plugins/fuzzing.py COUNT [SEED]

Each input is a well-formed request of any signal after some mutations: bytes flipped, cut, doubled, inserted;
or members of its JSON replaced. It must be decoded or refused with `Refused`; what was decoded must be
redacted, indexed and normalised without an error.
"""

from __future__ import annotations

import gzip
import random
import sys
import time
from collections.abc import Iterator
from typing import Any

import orjson

from spanproof.collector.receive import body as bodies
from spanproof.collector.receive.events import read_log_evidence, read_span_evidence
from spanproof.collector.receive.redaction import Redactor
from spanproof.collector.receive.refused import Refused
from spanproof.collector.receive.signals import SHAPES, Signal
from spanproof.collector.receive.times import clamp_times
from spanproof.collector.stages.fragments import build_index
from spanproof.collector.wal.file import Encoding
from spanproof.config.model import RedactionRules
from spanproof.trace.dialects import normalise_request
from spanproof.trace.otlp import build_any_value, encode_json

KINDS = tuple(f"{signal.value}-{form}" for signal in Signal for form in ("protobuf", "json", "gzip"))
_LIMIT = 1 << 20
_REDACTOR = Redactor(RedactionRules(patterns=(r"\d{4}",), keys=("password",)))
_INTERESTING = (b"\x00", b"\xff", b"\x0a\x00", b"\x80" * 10, b"\x7f", b"\xc3\x28", b"{", b'"', b"[" * 50)
_VALUES: tuple[Any, ...] = (None, True, -1, 2**63, 1e308, "", "18446744073709551616", [], {}, [[]], "x" * 300)
_KEYS = ("openinference.span.kind", "input.value", "output.value", "gen_ai.operation.name", "password")
_TEXTS = (
    "AGENT",
    "LLM",
    "TOOL",
    '{"a": [1',
    '[{"role": "user", "content": null}]',
    "```python\n1/0\n```",
    "\x00",
)


def inputs(kind: str, count: int, seed: int) -> Iterator[bytes]:
    """Yield inputs of a kind; the same for the same seed."""
    draw = random.Random(f"{kind}{seed}")
    name, _, form = kind.partition("-")
    for _ in range(count):
        request = _request(Signal(name), draw)
        if form == "json":
            yield _mutate(_mutate_json(encode_json(request), draw), draw)
        elif form == "gzip":
            yield _mutate(gzip.compress(_mutate(request.SerializeToString(), draw), 1), draw)
        else:
            yield _mutate(request.SerializeToString(), draw)


def check(kind: str, content: bytes) -> None:
    """Have an input received as a receiver would.

    Raises:
        Exception: it was neither taken nor refused.
    """
    name, _, form = kind.partition("-")
    signal = Signal(name)
    try:
        plain = bodies.decode_body(content, "gzip" if form == "gzip" else "", _LIMIT)
        request = bodies.decode_request(Encoding.JSON if form == "json" else Encoding.PROTOBUF, plain, signal)
    except Refused:
        return
    _REDACTOR.redact(request)
    if signal is Signal.LOGS:
        read_log_evidence(request)
    if signal is not Signal.TRACES:
        request.SerializeToString()
        return
    clamp_times(request, time.time_ns(), 3650)
    build_index(request, request.SerializeToString())
    read_span_evidence(request, request.SerializeToString(), "default")
    normalise_request(request)


def _request(signal: Signal, draw: random.Random) -> Any:
    request = SHAPES[signal].request()
    resource = getattr(request, SHAPES[signal].resources).add()
    resource.resource.attributes.add(key="service.name", value=build_any_value(draw.choice(_TEXTS)))
    if signal is Signal.METRICS:
        metric = resource.scope_metrics.add().metrics.add(name="m")
        metric.sum.data_points.add(as_int=1).exemplars.add(trace_id=draw.randbytes(16))
        return request
    for _ in range(draw.randrange(1, 4)):
        ids = {"trace_id": draw.randbytes(16), "span_id": draw.randbytes(8)}
        if signal is Signal.LOGS:
            item = resource.scope_logs.add().log_records.add(event_name="gen_ai.evaluation.result", **ids)
        else:
            times = {"start_time_unix_nano": draw.getrandbits(64), "end_time_unix_nano": draw.getrandbits(64)}
            item = resource.scope_spans.add().spans.add(name="s", **ids, **times)
            item.events.add(name=draw.choice(("exception", "gen_ai.evaluation.result")))
        for _ in range(draw.randrange(5)):
            value = draw.choice((*_TEXTS, 7, 0.5, True, b"\xff", [1, "a"], {"k": [None]}))
            item.attributes.add(key=draw.choice(_KEYS), value=build_any_value(value))
    return request


def _mutate(content: bytes, draw: random.Random) -> bytes:
    for _ in range(draw.randrange(4)):
        at = draw.randrange(len(content) + 1)
        match draw.randrange(5):
            case 0:
                content = content[:at] + bytes([draw.randrange(256)]) + content[at + 1 :]
            case 1:
                content = content[:at]
            case 2:
                content = content[:at] + draw.choice(_INTERESTING) + content[at:]
            case 3:
                content = content[:at] + content[at // 2 : at] + content[at:]
            case _:
                content = content[:at] + content[at + draw.randrange(1, 9) :]
    return content


def _mutate_json(content: bytes, draw: random.Random) -> bytes:
    document = orjson.loads(content)
    holder: Any = document
    while isinstance(holder, dict | list) and holder:
        key = draw.choice(list(holder) if isinstance(holder, dict) else range(len(holder)))
        if not isinstance(holder[key], dict | list) or draw.random() < 0.2:
            value = draw.choice(_VALUES)
            holder[key] = (
                value if value not in (2**64, "\ud800") else str(value).encode("utf-8", "replace").decode()
            )
            break
        holder = holder[key]
    return orjson.dumps(document)


def main() -> None:
    """Draw as many inputs as are wanted, over all kinds."""
    count, seed = int(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else 0
    slowest = 0.0
    began = time.monotonic()
    for kind in KINDS:
        for content in inputs(kind, count // len(KINDS), seed):
            start = time.perf_counter()
            check(kind, content)
            slowest = max(slowest, time.perf_counter() - start)
        seconds = time.monotonic() - began
        print(f"{kind}: {count // len(KINDS)} inputs, {seconds:.0f} s, slowest {slowest:.3f} s", flush=True)


if __name__ == "__main__":
    main()
