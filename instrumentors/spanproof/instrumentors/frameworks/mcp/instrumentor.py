"""Tool calls of MCP clients and servers with their arguments and results, which the SDK's own spans lack.

A client's call is a TOOL span. A server's is one where its caller is not traced; else the call is recorded on
the caller's side, and what the server did for it is a CHAIN span of the same trace.
"""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable, Mapping
from contextlib import suppress
from functools import partial
from typing import Any, Final

from opentelemetry import trace as otel
from opentelemetry.context import create_key, set_value

from spanproof.instrumentors.content.code_tools import record_call
from spanproof.instrumentors.content.texts import as_text, get_attribute, get_member, list_elements, to_text
from spanproof.instrumentors.frameworks import patching
from spanproof.instrumentors.frameworks.diagnostics import shielded
from spanproof.instrumentors.frameworks.patching import Args, Kwargs, Method
from spanproof.instrumentors.spans.contexts import current, run_within_async
from spanproof.instrumentors.spans.span_start import CHAIN, build_start, build_tool_start
from spanproof.instrumentors.spans.tracing import OpenSpan, was_abandoned
from spanproof.semconv import genai

_CALL: Final = "tools/call"
_CALLERS_TRACE: Final = "traceparent"
_CALL_KEY: Final = create_key("spanproof-mcp-call")
# The field that a server puts a value into that is no object.
_ONLY_FIELD: Final = "result"


class _Call(OpenSpan):
    """A call in progress.

    Attributes:
        has_failed: its exception is recorded.
        serves: its caller's side records it as the call.
    """

    has_failed = False
    serves = False


class Instrumentor(patching.Instrumentor):
    """The SDK under instrumentation, from `instrument` to `uninstrument`."""

    def instrument(self) -> None:
        """Patch clients, and servers that are made from now on.

        Raises:
            ImportError: mcp is not installed.
        """
        from mcp.client.session import ClientSession
        from mcp.server.lowlevel import Server

        self.patches.add_patch(ClientSession, "call_tool", self._handle_call)
        self.patches.add_patch(Server, "__init__", self._handle_new_server)
        try:
            from mcp.server.mcpserver.tools.tool_manager import ToolManager
        except ImportError:
            return  # another version of the SDK: a tool's exception is what the client gets of it
        self.patches.add_patch(ToolManager, "call_tool", self._run_tool)

    def _handle_new_server(self, original: Method, server: Any, args: Args, kwargs: Kwargs) -> None:
        original(server, *args, **kwargs)
        with shielded("mcp.server"):
            server.middleware.append(self._handle_request)

    async def _handle_call(self, original: Method, session: Any, args: Args, kwargs: Kwargs) -> Any:
        named = {**dict(zip(("name", "arguments"), args, strict=False)), **kwargs}
        call = self._find_started_call(named.get("name"), named.get("arguments"))
        return await _run_recorded(call, partial(original, session, *args, **kwargs))

    async def _handle_request(self, request: Any, call_next: Callable[[Any], Awaitable[Any]]) -> Any:
        """Record a request of a client; a middleware of the SDK."""
        call = self._find_started_request(request) if self.patches.active else None
        return await _run_recorded(call, partial(call_next, request))

    async def _run_tool(self, original: Method, manager: Any, args: Args, kwargs: Kwargs) -> Any:
        """Keep the exception of a server's tool, of which the client gets at most the message."""
        try:
            return await original(manager, *args, **kwargs)
        except Exception as error:
            call = current().get(_CALL_KEY)
            if isinstance(call, _Call) and call.recording:
                call.has_failed = True
                with shielded("mcp.exception"):
                    call.fail(error.__cause__ or error)
            raise

    @shielded("mcp.call.start")
    def _find_started_call(self, name: object, arguments: object) -> _Call | None:
        tool = to_text(name)
        above = get_attribute(otel.get_current_span(), "attributes")
        if isinstance(above, Mapping) and above.get(genai.TOOL_NAME) == tool:
            return None  # a framework calls the server, and has recorded the call
        return self._open(tool, arguments)

    @shielded("mcp.serve.start")
    def _find_started_request(self, request: Any) -> _Call | None:
        if as_text(get_attribute(request, "method")) != _CALL:
            return None
        params = get_attribute(request, "params")
        serves = get_member(get_attribute(request, "meta"), _CALLERS_TRACE) is not None
        return self._open(to_text(get_member(params, "name")), get_member(params, "arguments"), serves=serves)

    def _open(self, tool: str, arguments: object, *, serves: bool = False) -> _Call:
        if serves:
            start = build_start(f"serve {tool}", CHAIN)
        else:
            start = build_tool_start(tool)
        call = self.tracing.open(_Call, start)
        call.context = set_value(_CALL_KEY, call, call.context)
        call.serves = serves
        if call.recording:
            with shielded("mcp.arguments"):
                if serves:
                    call.input(arguments)
                else:
                    record_call(call, tool, {} if arguments is None else arguments)
        return call


async def _run_recorded(call: _Call | None, work: Callable[[], Awaitable[Any]]) -> Any:
    return await (
        work() if call is None else run_within_async(work, call.context, partial(_close_call, call))
    )


def _close_call(call: _Call, result: object, error: BaseException | None) -> None:
    if call.recording:
        with shielded("mcp.end"):
            if error is None:
                _record_result(call, result)
            elif not was_abandoned(error) and not call.has_failed:
                call.fail(error)
    call.close()


def _record_result(call: _Call, result: object) -> None:
    value = get_value(result)
    if _get_field(result, "is_error", "isError") is True and not call.has_failed:
        call.fail_untyped(to_text(value))
    if call.serves:
        call.output(value)
    else:
        call.output_json(genai.TOOL_CALL_RESULT, value)


def get_value(result: Any) -> Any:
    """Return the value of a result: structured where it is, else its texts; None where it has neither."""
    parts = list_elements(_get_field(result, "content", "content"))
    texts = [text for part in parts if (text := as_text(_get_field(part, "text", "text"))) is not None]
    shown: Any = texts[0] if len(texts) == 1 else texts or None
    value = _get_field(result, "structured_content", "structuredContent")
    if value is None:
        return shown
    wrapped = get_member(value, _ONLY_FIELD)
    if len(value) == 1 and wrapped is not None and _shows(shown, wrapped):
        return wrapped
    return value


def _shows(shown: Any, value: Any) -> bool:
    """Return whether a result's text is that of a value: of what is wrapped, not of what is around it."""
    if shown == value:
        return True
    if isinstance(shown, list):
        return isinstance(value, list) and len(shown) == len(value)
    with suppress(ValueError, TypeError):
        return bool(json.loads(shown) == value)
    return False


def _get_field(fields: Any, name: str, alias: str) -> Any:
    if type(fields) is dict:
        return fields.get(alias)
    return get_attribute(fields, name)
