"""The scripted agents that `instrumentors.py` measures, one per framework.

Each is a run of `STEPS` steps with one call of a tool in each but the last. Whenever its model is called, it
calls what it was made with, so that the cost of a step can be measured.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

STEPS = 12

Run = Callable[[], object]


def code_of(step: int) -> str:
    """A snippet of the length models write: it calls a tool, works on the answer and prints what it found."""
    return (
        f"# Step {step}: look at the order, add up what was refunded, and keep the figures for the report.\n"
        f"lines = order_lines(order_id='A-{step}')\n"
        "refunded = [line for line in lines if line['status'] == 'refunded']\n"
        "total = 0\nfor line in refunded:\n    total = total + line['cents']\n"
        f"print('order A-{step}:', len(refunded), 'of', len(lines), 'lines refunded, in cents', total)\n"
        "for line in lines:\n    print(line['item'], line['cents'], line['status'])\n"
    )


def lines_of(order_id: str) -> list[dict[str, Any]]:
    """Lines of an order."""
    return [
        {"item": f"lamp {number} of {order_id}", "cents": 1500 * number, "status": status}
        for number, status in enumerate(("refunded", "paid") * 4)
    ]


def smolagents_run(mark: Callable[[], object]) -> Run:
    """A CodeAgent with one tool call per step."""
    import smolagents
    from smolagents import ChatMessage, CodeAgent, MessageRole, Model, tool
    from smolagents.monitoring import LogLevel, TokenUsage

    class Scripted(Model):
        """Exported below as if it came with the framework: OpenInference sees no other models."""

        turn = 0

        def generate(self, messages: Any, **options: Any) -> ChatMessage:
            mark()
            self.turn += 1
            code = code_of(self.turn) if self.turn < STEPS else "final_answer('Refunded: $45.00.')"
            text = f"Thought: I go on with order {self.turn}.\n<code>\n{code}\n</code>"
            return ChatMessage(MessageRole.ASSISTANT, text, token_usage=TokenUsage(900, 150))

    smolagents.Scripted = Scripted

    @tool
    def order_lines(order_id: str) -> list:  # type: ignore[type-arg]
        """Lines of an order.

        Args:
            order_id: Number of the order.
        """
        return lines_of(order_id)

    def run() -> object:
        agent = CodeAgent([order_lines], Scripted(), max_steps=STEPS, verbosity_level=LogLevel.OFF)
        return agent.run("How much was refunded for the orders A-1 to A-11, in dollars?")

    return run


def langchain_run(mark: Callable[[], object]) -> Run:
    """A loop of model and tool within one runnable, through langchain-core alone."""
    from langchain_core.language_models import BaseChatModel
    from langchain_core.messages import AIMessage, HumanMessage
    from langchain_core.outputs import ChatGeneration, ChatResult
    from langchain_core.runnables import RunnableLambda
    from langchain_core.tools import tool

    class Scripted(BaseChatModel):
        @property
        def _llm_type(self) -> str:
            return "scripted"

        def _generate(
            self, messages: Any, stop: Any = None, run_manager: Any = None, **rest: Any
        ) -> ChatResult:
            mark()
            turn = len(messages) // 2 + 1
            call = {"name": "run_python", "args": {"code": code_of(turn)}, "id": f"call_{turn}"}
            answer = AIMessage(f"I go on with order {turn}.", tool_calls=[call] if turn < STEPS else [])
            return ChatResult(generations=[ChatGeneration(message=answer)])

    @tool
    def run_python(code: str) -> str:
        """Run code."""
        return json.dumps(lines_of(code[:10]))

    model = Scripted()

    def loop(task: str) -> object:
        messages: list[Any] = [HumanMessage(task)]
        while True:
            answer = model.invoke(messages)
            messages.append(answer)
            if not answer.tool_calls:
                return answer.content
            messages.extend(run_python.invoke(call) for call in answer.tool_calls)

    agent = RunnableLambda(loop, name="refunds")
    return lambda: agent.invoke("How much was refunded for the orders A-1 to A-11, in dollars?")


RUNS = {"smolagents": smolagents_run, "langchain": langchain_run}
