"""The run that the tests of the engine judge, and the engine over the real sandbox."""

from __future__ import annotations

import pytest

from spanproof.evaluators.engine import Engine
from spanproof.sandbox.scanners.pipeline import Pipeline
from spanproof.trace import Payload, SpanError, SpanKind, ToolCall, trace_of

from .runs import agent, span, step


@pytest.fixture
def misquote():
    """Three steps: a tool call, an error, the recovery; the answer misquotes what came out."""
    price = span(
        "c" * 16,
        f"{1:016x}",
        SpanKind.TOOL,
        110,
        120,
        name="price",
        tool=ToolCall("price", {"item": "hat"}),
        output=Payload('{"amount_cents": 4500}', {"amount_cents": 4500}, typed=True),
    )
    failed = SpanError("AgentExecutionError", "…", ("AgentExecutionError", "ZeroDivisionError"))
    answer = "Your refund is $54.00."
    return trace_of(
        [
            agent(answer),
            step(
                1,
                "r = price(item='hat')\nprint(r)",
                logs="{'amount_cents': 4500}\n",
                output=Payload("None", None),
            ),
            price,
            step(2, "r['amount_cents'] / 0", error=failed),
            step(
                3,
                "print(r['amount_cents'] / 100)\nfinal_answer('Your refund is $54.00.')",
                logs="45.0\n",
                output=Payload(answer, answer),
                is_final=True,
            ),
        ]
    )


@pytest.fixture
def engine(jail):
    return Engine(pipeline=Pipeline(), sandbox=jail)
