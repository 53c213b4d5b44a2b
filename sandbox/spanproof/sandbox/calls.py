"""What a host does with what a guest requests: paths are checked, and tool calls put to the caller."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import PurePosixPath
from typing import Any

from spanproof.sandbox.backend import AnswerTool
from spanproof.sandbox.model import ToolAnswer, ToolRequest


def check_files(names: Iterable[str]) -> None:
    """Refuse a file that would lie outside the work directory.

    Raises:
        ValueError: names it.
    """
    for name in names:
        path = PurePosixPath(name)
        if path.is_absolute() or ".." in path.parts or not path.parts or "\0" in name:
            raise ValueError(f"file {name!r}: must be a relative path inside the work directory")


def handle_call(message: Mapping[str, Any], tools: frozenset[str], answer: AnswerTool) -> dict[str, Any]:
    """Put a call to the host's tool; a malformed one is the program's error, not ours."""
    tool, args, kwargs = message.get("tool"), message.get("args"), message.get("kwargs")
    if not isinstance(tool, str) or tool not in tools:
        reply = ToolAnswer(error_type="NameError", error_message=f"there is no tool {str(tool)[:200]!r}")
    elif not isinstance(args, list) or not isinstance(kwargs, dict):
        reply = ToolAnswer(error_type="TypeError", error_message=f"{tool}(): malformed call")
    else:
        reply = answer(ToolRequest(tool, tuple(args), kwargs))
    return {
        "kind": "answer",
        "call": message.get("call"),
        "result": reply.result,
        "error_type": reply.error_type,
        "error_message": reply.error_message,
    }
