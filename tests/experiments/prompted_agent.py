"""An agent that does what its prompt says, and nothing else: its best prompt is known."""

from __future__ import annotations

import os
from typing import Any

from smolagents import CodeAgent
from support_agents import ScriptedModel, refund_lines, turn


def make_agent() -> Any:
    """Return an agent that answers in dollars only where its prompt says so."""
    answer = "f'${cents / 100:.2f}'" if "in dollars" in os.environ["AGENT_PROMPT"] else "f'{cents} cents'"
    code = f"cents = sum(line['cents'] for line in refund_lines('A-17'))\nfinal_answer({answer})"
    model = ScriptedModel([turn("Add the lines.", code)])
    return CodeAgent(tools=[refund_lines], model=model, verbosity_level=0)
