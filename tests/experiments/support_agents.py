"""Agents of smolagents on scripted models, as a user's module would have them, in processes of their own."""

from __future__ import annotations

import random
import re
from typing import Any

from smolagents import ChatMessage, CodeAgent, MessageRole, Model, tool
from smolagents.monitoring import TokenUsage


def turn(thought: str, code: str) -> str:
    """Return what a model writes for CodeAgent: a thought, and code."""
    return f"Thought: {thought}\n<code>\n{code}\n</code>"


class ScriptedModel(Model):
    """A smolagents model that writes its turns in order."""

    def __init__(self, turns: list[str]) -> None:
        super().__init__(model_id="scripted-coder")
        self._turns = iter(turns)

    def generate(self, messages: list[Any], **_options: Any) -> ChatMessage:
        usage = TokenUsage(input_tokens=10, output_tokens=10)
        return ChatMessage(role=MessageRole.ASSISTANT, content=next(self._turns), token_usage=usage)


RAMBLING = """
total = 0
for line in lines:
    if line['item'] == 'tea':
        total += line['cents']
    elif line['item'] == 'cup':
        total += line['cents']
    else:
        total += 0
print(total, total / 100)
"""
LINES = [{"item": "tea", "cents": 3000}, {"item": "cup", "cents": 1500}]


@tool
def refund_lines(order_id: str) -> list:
    """Look up the refunds of an order.

    Args:
        order_id: the order.
    """
    raise ConnectionError("the shop is not reached from a test")


def _coder(answer: str) -> CodeAgent:
    turns = [
        turn("I look them up.", "lines = refund_lines(order_id='A-17')\nprint(lines)"),
        turn("I add them up.", "total = sum(line['cents'] for line in lines)\nprint(total, total / 100)"),
        turn("Done.", f"final_answer({answer!r})"),
    ]
    return CodeAgent(tools=[refund_lines], model=ScriptedModel(turns), verbosity_level=0)


def misquoting() -> CodeAgent:
    return _coder("The refund of order A-17 is $54.00.")


def mended() -> CodeAgent:
    return _coder("The refund of order A-17 is $45.00.")


def rambling() -> CodeAgent:
    """Do what `misquoting` does, by more code."""
    turns = [
        turn("I look them up.", "lines = refund_lines(order_id='A-17')\nprint(lines)"),
        turn("I add them up.", RAMBLING),
        turn("Done.", "final_answer('The refund of order A-17 is $54.00.')"),
    ]
    return CodeAgent(tools=[refund_lines], model=ScriptedModel(turns), verbosity_level=0)


def wavering() -> CodeAgent:
    return _coder(f"The refund of order A-17 is ${random.choice(['45', '54'])}.00.")


class Clerk(Model):
    """A model that adds up the refunds of the order of its task, and invents every third amount."""

    def __init__(self) -> None:
        super().__init__(model_id="scripted-clerk")
        self._turn = 0

    def generate(self, messages: list[Any], **_options: Any) -> ChatMessage:
        number = int(re.search(r"refund of order Q-(\d)", str(messages))[1])
        said = INVENTED if number % 3 == 0 else f"{10 * number + 5}.00"
        turns = [
            turn("I look them up.", f"lines = refund_lines(order_id='Q-{number}')\nprint(lines)"),
            turn("I add.", "total = sum(line['cents'] for line in lines)\nprint(total, total / 100)"),
            turn("Done.", f"final_answer('The refund of order Q-{number} is ${said}.')"),
        ]
        self._turn += 1
        usage = TokenUsage(input_tokens=10, output_tokens=10)
        return ChatMessage(role=MessageRole.ASSISTANT, content=turns[self._turn - 1], token_usage=usage)


INVENTED = "12.34"


def inventing() -> CodeAgent:
    return CodeAgent(tools=[refund_lines], model=Clerk(), verbosity_level=0)


def curious() -> CodeAgent:
    turns = [
        turn("I look up another one.", "lines = refund_lines(order_id='B-99')\nprint(lines)"),
        turn("Done.", "final_answer('I do not know.')"),
    ]
    return CodeAgent(tools=[refund_lines], model=ScriptedModel(turns), verbosity_level=0)
