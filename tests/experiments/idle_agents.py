"""Agents that do not do their task, of three frameworks on scripted models; run in processes of their own."""

from __future__ import annotations

from typing import Any

from smolagents import CodeAgent
from support_agents import ScriptedModel, turn

WRONG = "def double(x):\n    return 0"
MISSING = f"import package_of_tomorrow\n{WRONG}"
RIGHT = "def double(x):\n    return 2 * x"


def _coder(*code: str) -> CodeAgent:
    turns = [turn("I write it.", each) for each in code]
    model = ScriptedModel([*turns, turn("Done.", "final_answer('It is done.')")])
    return CodeAgent(tools=[], model=model, verbosity_level=0, additional_authorized_imports=["*"])


def idle() -> CodeAgent:
    return _coder()


def wrong() -> CodeAgent:
    return _coder(WRONG)


def missing() -> CodeAgent:
    return _coder(MISSING)


def right() -> CodeAgent:
    return _coder(RIGHT)


def _graph(answer: str) -> Any:
    # Each framework takes seconds to import: an agent imports its own alone.
    from langchain_core.language_models import FakeListChatModel
    from langgraph.prebuilt import create_react_agent

    return create_react_agent(FakeListChatModel(responses=[answer]), [], name="clerk")


def graph_missing() -> Any:
    return _graph(f"```python\n{MISSING}\n```")


def handler_idle() -> Any:
    from agents import Agent, Model, ModelResponse, Usage
    from openai.types.responses import ResponseOutputMessage, ResponseOutputText

    class Scripted(Model):
        async def get_response(self, *_args: Any, **_options: Any) -> ModelResponse:
            text = ResponseOutputText(annotations=[], text="It is done.", type="output_text")
            item = ResponseOutputMessage(
                id="m", content=[text], role="assistant", status="completed", type="message"
            )
            return ModelResponse(output=[item], usage=Usage(), response_id=None)

        def stream_response(self, *_args: Any, **_options: Any) -> Any:
            raise NotImplementedError

    return Agent(name="handler", model=Scripted())
