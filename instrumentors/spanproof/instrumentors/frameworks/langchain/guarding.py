"""LangChain tools under guard: a refusal is a `ToolException`, which the tool answers as a message.

A tool that does not define how it handles errors gets `handle_tool_error=True`: without it LangChain would
end the run.
"""

# ruff: noqa: SLF001 - `_run` and `_arun` are what a tool defines

from __future__ import annotations

from functools import wraps
from typing import Any

from langchain_core.tools import BaseTool, ToolException

from spanproof.instrumentors.content.code_tools import bind
from spanproof.instrumentors.guard import CodeRefused, Guard, has_argument, texts_in


def apply_guard(guard: Guard, tool: BaseTool, argument: str, language: str) -> BaseTool:
    """Return a copy of the tool that scans one of its arguments before it runs."""
    has_argument(tool.args, tool.name, argument)

    def check(args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        for code in texts_in(bind(tuple(tool.args), args, kwargs).named.get(argument)):
            try:
                guard.check(code, language, tool=tool.name)
            except CodeRefused as refused:
                raise ToolException(str(refused)) from refused

    kind = type(tool)

    @wraps(kind._run)
    def _run(self: BaseTool, *args: Any, **kwargs: Any) -> Any:
        check(args, kwargs)
        return kind._run(self, *args, **kwargs)

    @wraps(kind._arun)
    async def _arun(self: BaseTool, *args: Any, **kwargs: Any) -> Any:
        check(args, kwargs)
        return await kind._arun(self, *args, **kwargs)

    copy = tool.model_copy(update={"handle_tool_error": tool.handle_tool_error or True})
    copy.__class__ = type(
        kind.__name__, (kind,), {"_run": _run, "_arun": _arun, "__module__": kind.__module__}
    )
    return copy
