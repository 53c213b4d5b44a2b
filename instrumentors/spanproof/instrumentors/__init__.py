"""Tracing for agents that run code: one call, and every run is on a trace with the code as it ran.

    from spanproof.instrumentors import register, set_cohort

    register(service_name="refunds", endpoint="http://127.0.0.1:4318")
    with set_cohort(prompt_version="v3", task="refund"):
        agent.run("How much was refunded for order A-17?")

What goes wrong in here never reaches the host; `diagnostics()` counts it.
"""

from spanproof.instrumentors.provider import environment as _environment  # noqa: F401 - first: it imports the SDK with care

# isort: split
from spanproof.instrumentors.content.capture import ContentPolicy
from spanproof.instrumentors.content.redaction import Redaction
from spanproof.instrumentors.frameworks.diagnostics import Diagnostics, diagnostics
from spanproof.instrumentors.registration import (
    instrument_langchain,
    instrument_mcp,
    instrument_openai_agents,
    instrument_smolagents,
    instrumented,
    register,
    uninstrument,
)
from spanproof.instrumentors.spans.cohort import set_cohort
from spanproof.instrumentors.user_feedback import feedback

__all__ = [
    "ContentPolicy",
    "Diagnostics",
    "Redaction",
    "diagnostics",
    "feedback",
    "instrument_langchain",
    "instrument_mcp",
    "instrument_openai_agents",
    "instrument_smolagents",
    "instrumented",
    "register",
    "set_cohort",
    "uninstrument",
]
