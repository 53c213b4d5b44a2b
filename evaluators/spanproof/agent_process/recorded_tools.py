"""Tools that answer from the record: installed in each framework that the agent's process imports.

Takes the recorded calls of a case. A call is a recorded one when tool and arguments are equal, as in a
replay (`spanproof.evaluators.call_matching`); equal calls are answered in the order of the record, and
the last answer is given again, since a repaired agent may call twice. Any other call is refused, or
made live.
"""

from __future__ import annotations

import builtins
import json
from collections.abc import Callable, Mapping, Sequence
from importlib import import_module
from threading import Lock
from typing import Any

from spanproof.evaluators.call_matching import RecordedCalls, list_parameters


class NotRecordedError(Exception):
    """An agent called a tool in a way that the case has no result for."""


class RecordedTools:
    """Answers tool calls from the record; thread-safe.

    Attributes:
        unknown: the calls that were not on record, in order, as `{"tool": …, "args": …, "kwargs": …}`.
    """

    def __init__(self, *, refuse: bool) -> None:
        """Begin without a record.

        Args:
            refuse: whether a call that is not on record raises; else the tool itself is called.
        """
        self.unknown: list[dict[str, Any]] = []
        self._refuse = refuse
        self._lock = Lock()
        self._calls: dict[str, list[Mapping[str, Any]]] = {}
        self._order: dict[str, RecordedCalls] = {}
        self._given: dict[tuple[str, int], int] = {}

    def update_calls(self, calls: Sequence[Mapping[str, Any]]) -> None:
        """Use these calls from now on: `tool`, `args`, `kwargs`, `result`, `error` (`type` and `message`)."""
        self._calls = {}
        for call in calls:
            self._calls.setdefault(call["tool"], []).append(call)
        self._order, self._given, self.unknown = {}, {}, []
        for tool, recorded in self._calls.items():
            arguments = [(call["args"], call["kwargs"]) for call in recorded]
            self._order[tool] = RecordedCalls(list_parameters(arguments), arguments)

    def run_call(
        self, tool: str, args: Sequence[Any], kwargs: Mapping[str, Any], live: Callable[[], Any]
    ) -> Any:
        """Return the recorded result of a call, or raise the recorded exception.

        Raises:
            NotRecordedError: the call is not on record, and such calls are refused.
        """
        with self._lock:
            recorded = self._find(tool, _as_json(list(args)), _as_json(dict(kwargs)))
        if recorded is None:
            if self._refuse:
                raise NotRecordedError(f"the case has no result of {tool} with these arguments")
            return live()
        if recorded.get("error"):
            raise _build_error(recorded["error"])
        return recorded.get("result")

    def _find(self, tool: str, args: Any, kwargs: Any) -> Mapping[str, Any] | None:
        order = self._order.get(tool)
        matching = order.list_matching(args, kwargs) if order else ()
        if not matching:
            self.unknown.append({"tool": tool, "args": args, "kwargs": kwargs})
            return None
        first = matching[0]
        count = self._given.get((tool, first), 0)
        self._given[tool, first] = count + 1
        return self._calls[tool][matching[min(count, len(matching) - 1)]]


def add_recorded_tools(tools: RecordedTools, framework: str) -> None:
    """Let the tools of a framework answer from the record.

    Must run before the agent's modules use it, and before it is instrumented: the spans of the tools are
    recorded around what is put in here.

    Raises:
        ModuleNotFoundError: the framework is not installed.
    """
    _PUT_IN[framework](tools)


def _add_to_smolagents(tools: RecordedTools) -> None:
    module = import_module("smolagents.tools")
    builtin = import_module("smolagents.default_tools").FinalAnswerTool
    original = module.Tool.__call__

    def __call__(self: Any, *args: Any, **kwargs: Any) -> Any:  # noqa: N807 - it takes the method's part
        if isinstance(self, builtin):
            return original(self, *args, **kwargs)
        arguments = {name: value for name, value in kwargs.items() if name != "sanitize_inputs_outputs"}
        if (
            len(args) == 1
            and not arguments
            and isinstance(args[0], dict)
            and set(args[0]) <= set(self.inputs)
        ):
            return tools.run_call(self.name, (), args[0], lambda: original(self, *args, **kwargs))
        return tools.run_call(self.name, args, arguments, lambda: original(self, *args, **kwargs))

    module.Tool.__call__ = __call__


def _add_to_langchain(tools: RecordedTools) -> None:
    base = import_module("langchain_core.tools.base").BaseTool
    run, arun = base.run, base.arun

    def pin(self: Any) -> None:
        """Put the recorded results in the place of the instance's own `_run`."""
        if "_run" in vars(self):
            return
        original, original_async = self._run, self._arun

        def _run(*args: Any, **kwargs: Any) -> Any:
            return tools.run_call(
                self.name, args, kwargs, lambda: original(*args, **_build_live_arguments(self, kwargs))
            )

        async def _arun(*args: Any, **kwargs: Any) -> Any:
            coroutine = tools.run_call(
                self.name, args, kwargs, lambda: original_async(*args, **_build_live_arguments(self, kwargs))
            )
            if hasattr(coroutine, "__await__"):
                return await coroutine
            return coroutine

        object.__setattr__(self, "_run", _run)
        object.__setattr__(self, "_arun", _arun)

    def recorded_run(self: Any, *args: Any, **kwargs: Any) -> Any:
        pin(self)
        return run(self, *args, **kwargs)

    async def recorded_arun(self: Any, *args: Any, **kwargs: Any) -> Any:
        pin(self)
        return await arun(self, *args, **kwargs)

    base.run, base.arun = recorded_run, recorded_arun


def _build_live_arguments(tool: Any, kwargs: dict[str, Any]) -> dict[str, Any]:
    """Return a live call's arguments; a tool made of a function also takes LangChain's configuration."""
    if hasattr(tool, "func"):
        return {**kwargs, "config": {}}
    return kwargs


def _add_to_openai_agents(tools: RecordedTools) -> None:
    tool_class = import_module("agents.tool").FunctionTool
    made = tool_class.__init__

    def __init__(self: Any, *args: Any, **kwargs: Any) -> None:  # noqa: N807 - it takes the method's part
        made(self, *args, **kwargs)
        original = self.on_invoke_tool

        async def on_invoke_tool(context: Any, text: str) -> Any:
            arguments = json.loads(text) if text else {}
            result = tools.run_call(self.name, (), arguments, lambda: original(context, text))
            if hasattr(result, "__await__"):
                return await result
            return result

        self.on_invoke_tool = on_invoke_tool

    tool_class.__init__ = __init__


_PUT_IN = {
    "smolagents": _add_to_smolagents,
    "langchain": _add_to_langchain,
    "openai-agents": _add_to_openai_agents,
}


def _build_error(error: Mapping[str, str]) -> Exception:
    """Return the recorded exception: a built-in of that name, else a new class of it."""
    short = str(error["type"]).rpartition(".")[2]
    kind: Any = getattr(builtins, short, None)
    if not (isinstance(kind, type) and issubclass(kind, Exception)):
        kind = type(short if short.isidentifier() else "RecordedError", (Exception,), {})
    try:
        rebuilt: Exception = kind(error["message"])
    except TypeError:  # UnicodeDecodeError and its like take other arguments
        return RuntimeError(f"{short}: {error['message']}")
    return rebuilt


def _as_json(value: Any) -> Any:
    return json.loads(json.dumps(value, default=str))
