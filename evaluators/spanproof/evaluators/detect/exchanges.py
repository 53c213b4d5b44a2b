"""Code of agents that write it into their words, and are shown its outcome in the next message.

Where no span records the step, the conversation does: a model call says code, the next call of the same agent
holds these words, followed by an observation. In: the model calls of one agent, in order. Out: the code
that ran, with what the agent was shown.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Final

from spanproof.evaluators.detect.text import list_text_snippets
from spanproof.trace import Language, Message, Span, SpanError

_RUNNABLE: Final = frozenset({Language.PYTHON, Language.BASH})
# How frameworks open the message that shows an agent what its code did: smolagents and OpenHands; AutoGen;
# smolagents once more, of a step that failed.
_SHOWN: Final = re.compile(
    r"\s*(?:"
    r"Observation:|OBSERVATION:|Execution logs:|Last output from code snippet:|EXECUTION RESULT|"
    r"exitcode: -?\d+ \(|The script ran|"
    r"(?:Call id: \S+\s+)?Error:\s*\n?(?:Code execution failed|Code parsing failed)"
    r")"
)
_NOT_RUN: Final = re.compile(r"(?:Error in code parsing|Code parsing failed|Your code snippet is invalid)")
_FAILED: Final = re.compile(
    r"(?:Code execution failed at line .{0,400}?due to: |exitcode: [1-9-]\d*[^\n]*\n)"
    r"(?:.*\n)*?\s*(?:(?P<type>[A-Z]\w*(?:Error|Exception|Interrupt|Exit)): ?)?(?P<message>.*)",
)
_HEADER: Final = re.compile(r"\A\s*(?:Observation|OBSERVATION):\s*\n?")


@dataclass(frozen=True, slots=True)
class Exchange:
    """Code that ran: where it was said, and what the agent was shown."""

    call: Span
    path: str
    language: Language
    source: str
    observation: str
    error: SpanError | None


def iter_exchanges(calls: Sequence[Span]) -> Iterator[Exchange]:
    """Yield the code that each of these calls wrote and that the call after it shows to have run."""
    for call, following in pairwise(calls):
        replies = [message for message in call.output_messages if message.role == "assistant"]
        reply = replies[-1] if replies else None
        if reply is None or reply.tool_calls or not reply.text:
            continue
        shown = _find_shown(reply, following.input_messages)
        if shown is None or _NOT_RUN.search(shown):
            continue
        blocks = [block for block in list_text_snippets(reply.text) if block.language in _RUNNABLE]
        if not blocks:
            continue
        language = blocks[0].language
        source = "\n\n".join(block.source for block in blocks if block.language is language)
        path = f"output_messages[{call.output_messages.index(reply)}]"
        observation = _HEADER.sub("", shown)
        yield Exchange(call, path, language, source, observation, _find_error(observation))


def _find_shown(request: Message, history: Sequence[Message]) -> str | None:
    """Return the observation right after these words; None where there is none."""
    wanted = request.text.strip()
    for index in range(len(history) - 1, -1, -1):
        message = history[index]
        if message.role == "assistant" and message.text.strip() == wanted:
            later = [following.text for following in history[index + 1 :] if following.text]
            # Where a framework numbers its calls, the request is between the words and the observation.
            shown = next((text for text in later if _SHOWN.match(text)), None)
            return shown if later and shown in later[:2] else None
    return None


def _find_error(observation: str) -> SpanError | None:
    found = _FAILED.search(observation)
    if found is not None:
        return SpanError(found["type"], found["message"].strip())
    return None
