"""Models that answer from a script: no network, the same words each time.

Everything around them (prompting, parsing, executing, remembering) is the frameworks' own.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from langchain_core.callbacks import CallbackManagerForLLMRun
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, BaseMessage
from langchain_core.outputs import ChatGeneration, ChatResult
from smolagents import ChatMessage, MessageRole, Model
from smolagents.monitoring import TokenUsage

_CHARS_PER_TOKEN = 4


@dataclass(frozen=True, slots=True)
class Turn:
    """One answer of a code-writing model: what it thinks, and the code it writes (none: only words)."""

    thought: str
    code: str = ""

    @property
    def text(self) -> str:
        """The answer in the form that CodeAgent parses."""
        return f"Thought: {self.thought}\n<code>\n{self.code}\n</code>" if self.code else self.thought


class ScriptedModel(Model):  # type: ignore[misc]
    """A smolagents model that gives its turns in order, and the last one again once they are used up."""

    def __init__(self, turns: Sequence[Turn]) -> None:
        super().__init__(model_id="scripted-coder")
        self._turns = tuple(turns)
        self._given = 0

    def generate(self, messages: list[Any], **_options: Any) -> ChatMessage:
        """The next turn, with token counts as a tokenizer would roughly give them."""
        turn = self._turns[min(self._given, len(self._turns) - 1)]
        self._given += 1
        usage = TokenUsage(
            input_tokens=sum(len(str(message.content)) for message in messages) // _CHARS_PER_TOKEN,
            output_tokens=len(turn.text) // _CHARS_PER_TOKEN,
        )
        return ChatMessage(role=MessageRole.ASSISTANT, content=turn.text, token_usage=usage)


class ScriptedChatModel(BaseChatModel):
    """A LangChain chat model that gives its answers in order, as many as the conversation has."""

    answers: list[AIMessage]

    @property
    def _llm_type(self) -> str:
        return "scripted-chat"

    def _generate(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: CallbackManagerForLLMRun | None = None,
        **_options: Any,
    ) -> ChatResult:
        given = sum(isinstance(message, AIMessage) for message in messages)
        answer = self.answers[min(given, len(self.answers) - 1)]
        return ChatResult(generations=[ChatGeneration(message=answer)])
