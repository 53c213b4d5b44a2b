"""An agent that does what its prompt says, and nothing else: its best prompt is known."""

from __future__ import annotations

import os
from typing import Any

from smolagents import ChatMessage, CodeAgent
from support_agents import ScriptedModel, refund_lines, turn


def make_agent() -> Any:
    """Return an agent that answers in dollars only where its prompt says so."""
    model = ScriptedModel([_answer(in_dollars="in dollars" in os.environ["AGENT_PROMPT"])])
    return CodeAgent(tools=[refund_lines], model=model, verbosity_level=0)


def _answer(*, in_dollars: bool) -> str:
    answer = "f'${cents / 100:.2f}'" if in_dollars else "f'{cents} cents'"
    code = f"cents = sum(line['cents'] for line in refund_lines('A-17'))\nfinal_answer({answer})"
    return turn("Add the lines.", code)


class _Imitator(ScriptedModel):
    """A model that answers in dollars where the task says so, or an example does."""

    def generate(self, messages: list[Any], **options: Any) -> ChatMessage:
        task = str(messages[-1].content)
        in_dollars = "in dollars" in task or "$45.00" in os.environ["AGENT_PROMPT"]
        self._turns = iter([_answer(in_dollars=in_dollars)])
        return super().generate(messages, **options)


def make_imitator() -> Any:
    """Return an agent whose best prompt has an example in dollars."""
    return CodeAgent(tools=[refund_lines], model=_Imitator([]), verbosity_level=0)
