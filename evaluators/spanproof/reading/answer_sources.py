"""The sources of an answer, in the order in which they count.

Outputs come first, so that an output's index is its source's; values of the other sources are given: the
answer may repeat them, but they never contradict it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum


class SourceKind(StrEnum):
    """What a source is."""

    OUTPUT = "output"
    ERROR = "error"
    TASK = "task"
    EARLIER = "turn before"
    SYSTEM = "system prompt"
    ARGUMENTS = "arguments"


@dataclass(frozen=True, slots=True)
class Source:
    """A text that an answer may rest on; of an output, the tool that gave it and its arguments."""

    kind: SourceKind
    text: str
    tool: str = ""
    arguments: str = ""


@dataclass(frozen=True, slots=True)
class Context:
    """What is known beside the outputs.

    Attributes:
        task: the task; `earlier` has the user's words of the turns before.
        system: the system prompt.
        arguments: what the agent handed to tools, or the code it ran.
        errors: texts of calls that failed.
        code: what the agent ran before it answered. Its literals prove nothing, and are no misquotes.
    """

    task: str = ""
    system: str = ""
    arguments: Sequence[str] = ()
    errors: Sequence[str] = ()
    code: Sequence[str] = ()
    earlier: Sequence[str] = ()


def list_sources(
    outputs: Sequence[str], context: Context, calls: Mapping[int, tuple[str, str]]
) -> list[Source]:
    """Return all sources, the outputs first; `calls` has the tool and the arguments of each output."""
    found = [
        Source(SourceKind.OUTPUT, text, *calls.get(index, ("", ""))) for index, text in enumerate(outputs)
    ]
    found += [Source(SourceKind.ERROR, text) for text in context.errors if text.strip()]
    found += [Source(SourceKind.EARLIER, text) for text in context.earlier]
    if context.task.strip():
        found.append(Source(SourceKind.TASK, context.task))
    if context.system.strip():
        found.append(Source(SourceKind.SYSTEM, context.system))
    found += [Source(SourceKind.ARGUMENTS, text) for text in context.arguments if text.strip()]
    return found
