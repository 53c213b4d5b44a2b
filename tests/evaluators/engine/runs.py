"""A run of an agent that computes a refund and misquotes it, piece by piece."""

from __future__ import annotations

from spanproof.sandbox import Sandbox
from spanproof.trace import ExecutedCode, Payload, Span, SpanKind, StepInfo

TRACE_ID = "0af7651916cd43dd8448eb211c80319c"
ROOT = "a" * 16


def span(span_id, parent, kind, start, end, **fields):
    fields.setdefault("name", kind.value)
    fields.setdefault("scope", "spanproof.instrumentors.smolagents")
    fields.setdefault("dialect", "spanproof")
    return Span(TRACE_ID, span_id, parent, kind=kind, start_ns=start, end_ns=end, **fields)


def step(number, source, *, logs="", output=None, error=None, is_final=False):
    code = ExecutedCode(
        source=source,
        path="spanproof.code.source",
        language="python",
        logs=None if error else logs,
        output=output,
        is_final=is_final,
    )
    return span(
        f"{number:016x}",
        ROOT,
        SpanKind.CHAIN,
        number * 100,
        number * 100 + 90,
        name=f"Step {number}",
        code=code,
        step=StepInfo(number),
        error=error,
        observation=f"Execution logs:\n{logs}",
    )


def agent(answer):
    return span(
        ROOT,
        None,
        SpanKind.AGENT,
        0,
        1000,
        name="refund agent",
        input=Payload("What is the refund?", "What is the refund?"),
        output=Payload(answer, answer),
    )


def layer_of(evaluation, layer):
    (score,) = [s for s in evaluation.scores if s.layer is layer and s.name == layer.value]
    return score.outcome


class Failing(Sandbox):
    """A sandbox whose first `failures` sessions fail with `failure`, then the real one."""

    def __init__(self, real, failure, failures):
        self.real, self.failure, self.failures = real, failure, failures
        self.name, self.languages = real.name, real.languages

    def availability(self):
        return self.real.availability()

    def run(self, program):
        return self.real.run(program)

    def session(self, spec, answer):
        if self.failures:
            self.failures -= 1
            raise self.failure
        return self.real.session(spec, answer)

    def close(self):
        return None
